import Logging
import Synchronization

/// Shows the warnings of the library as lines on standard error, above the bars. Each is shown once.
struct CommandLog: LogHandler {
    private static let told = Mutex(Set<String>())
    private static let mostTold = 100

    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(
        level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String,
        function: String, line: UInt
    ) {
        // The cause is what the user can do something about.
        let cause = ["error", "path"].compactMap { metadata?[$0] }.map { ": \($0)" }.joined()
        let text = Console.shown("\(message)\(cause)")
        let isNew = Self.told.withLock { $0.count < Self.mostTold && $0.insert(text).inserted }
        if isNew { ProgressDisplay.tellAbove("\(level): \(text)") }
    }

    /// - Parameter isQuiet: whether nothing is shown.
    static func logger(isQuiet: Bool) -> Logger {
        Logger(label: "webimage") { _ in isQuiet ? SwiftLogNoOpLogHandler() : CommandLog() as any LogHandler }
    }
}
