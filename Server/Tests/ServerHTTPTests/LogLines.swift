import FleetTesting
import Logging

/// Records what is logged at `notice` and above, one line for each message. Tests can wait for lines.
struct LogLines: Sendable {
    let lines = EventLog<String>()

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: lines) } }

    private struct Handler: LogHandler {
        let lines: EventLog<String>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let words = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
            lines.append("\(event.level) \(event.message)\(words.joined())")
        }
    }
}
