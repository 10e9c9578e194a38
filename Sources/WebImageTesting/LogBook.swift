package import Logging
import Synchronization
import WebImageSystem

/// Records log messages.
package final class LogBook: Sendable {
    private let written = Guarded<[String]>([])

    /// The level, message and metadata of each message.
    package var lines: [String] { written.withLock { $0 } }

    package init() {}

    package var logger: Logger { Logger(label: "test") { _ in Handler(book: self) } }

    private struct Handler: LogHandler {
        let book: LogBook
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            book.written.withLock { $0.append("\(event.level): \(event.message) \(event.metadata ?? [:])") }
        }
    }
}
