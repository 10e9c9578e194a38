import Logging
import Synchronization

/// Shows the warnings of the library as lines on standard error, above the bars. Each is shown once.
struct CommandLog: LogHandler {
    private static let told = Mutex(ToldWarnings())

    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning
    /// Whether all different warnings of one kind are shown, and not just the first ones.
    private let tellsAll: Bool

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
        let text = "\(message)\(cause)"
        let shown: String? = tellsAll ? text : Self.told.withLock { $0.line(for: text) }
        if let shown { ProgressDisplay.tellAbove("\(level): \(Console.shown(shown))") }
    }

    /// - Parameters:
    ///   - isQuiet: whether nothing is shown.
    ///   - tellsAll: whether every warning is shown, for commands whose result is these warnings.
    static func logger(isQuiet: Bool, tellsAll: Bool = false) -> Logger {
        Logger(label: "webimage") { _ in
            isQuiet ? SwiftLogNoOpLogHandler() : CommandLog(tellsAll: tellsAll) as any LogHandler
        }
    }

    private init(tellsAll: Bool) { self.tellsAll = tellsAll }
}

/// The warnings that were shown. A kind is a warning without its cause; many of one kind do not keep another kind from
/// being shown.
struct ToldWarnings {
    private var kinds: [Substring: Set<String>] = [:]
    static let mostOfAKind = 100
    private static let mostKinds = 1000

    /// The line to show for a warning; nil if nothing is to be shown.
    mutating func line(for text: String) -> String? {
        let kind = text.firstRange(of: ": ").map { text[..<$0.lowerBound] } ?? text[...]
        guard kinds[kind] != nil || kinds.count < Self.mostKinds else { return nil }
        var told = kinds[kind, default: []]
        kinds[kind] = []
        defer { kinds[kind] = told }
        guard told.count <= Self.mostOfAKind, told.insert(text).inserted else { return nil }
        return told.count <= Self.mostOfAKind ? text : "\(kind): there are more, which are not shown"
    }
}
