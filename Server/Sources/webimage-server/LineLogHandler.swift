import Dispatch
import Foundation
import Logging
import ServerConfiguration
import Synchronization

/// Writes one line for each log entry to standard output, in one of the formats of ``ServerSettings/LogFormat``. Lines
/// are written on a separate queue, so that a slow reader of the log delays no request. If too many lines wait, further
/// ones are left out and counted.
struct LineLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let format: ServerSettings.LogFormat
    private let label: String

    private static let maxWaiting = 10_000
    private static let queue = DispatchQueue(label: "webimage-server.log")
    private static let waiting = Atomic(0)
    private static let dropped = Atomic(0)

    static func bootstrap(_ settings: ServerSettings) {
        let levels: [String: Logger.Level] = ["error": .error, "warn": .warning, "info": .info, "debug": .debug]
        let level = levels[settings.logLevel] ?? .info
        let format = settings.logFormat
        LoggingSystem.bootstrap { label in
            // Other libraries log details at `info` that only their developers need, so they are limited to warnings.
            let own = label.hasPrefix("webimage") ? level : max(level, .warning)
            return LineLogHandler(logLevel: own, format: format, label: label)
        }
    }

    /// Returns when all entries are written, or after two seconds, because the reader of the output may be stuck.
    static func flush() {
        let written = DispatchSemaphore(value: 0)
        queue.async { written.signal() }
        _ = written.wait(timeout: .now() + 2)
    }

    private init(logLevel: Logger.Level, format: ServerSettings.LogFormat, label: String) {
        self.logLevel = logLevel
        self.format = format
        self.label = label
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        for (key, value) in event.metadata ?? [:] { all[key] = value }
        let (level, message) = (event.level, event.message)
        guard Self.waiting.load(ordering: .relaxed) < Self.maxWaiting else {
            Self.dropped.add(1, ordering: .relaxed)
            return
        }
        Self.waiting.add(1, ordering: .relaxed)
        let time = Date()
        Self.queue.async { [format, all] in
            Self.waiting.subtract(1, ordering: .relaxed)
            var line = Self.line(format, time, level, message, all)
            let dropped = Self.dropped.exchange(0, ordering: .relaxed)
            if dropped > 0 {
                line += "\n" + Self.line(format, time, .warning, "\(dropped) lines were left out", [:])
            }
            // A full disk or a closed pipe loses lines, but does not end the server.
            do {
                try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
            } catch {
                Self.dropped.add(dropped + 1, ordering: .relaxed)
            }
        }
    }

    private static func stamp(_ time: Date) -> String {
        time.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted))
    }

    private static func line(
        _ format: ServerSettings.LogFormat, _ time: Date, _ level: Logger.Level, _ message: Logger.Message,
        _ metadata: Logger.Metadata
    ) -> String {
        if format == .pretty { return text(time, level, message, metadata) }
        var members = [("time", stamp(time)), ("level", level.rawValue), ("message", message.description)]
        if format == .gcp { members[1] = ("severity", level.rawValue.uppercased()) }
        members += metadata.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
        let numbers: Set = [
            "status", "duration_ms", "queue_ms", "fetch_ms", "decode_ms", "encode_ms", "bytes_in", "bytes_out",
        ]
        let values = members.map { name, value in
            (name, numbers.contains(name) && Int(value) != nil ? value : quoted(value))
        }
        if format == .structured { return values.map { $0 + "=" + $1 }.joined(separator: " ") }
        return "{" + values.map { quoted($0) + ":" + $1 }.joined(separator: ",") + "}"
    }

    private static func text(
        _ time: Date, _ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata
    ) -> String {
        let rest = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let line = "\(stamp(time)) \(level.rawValue) \(message)\(rest)"
        return String(line.unicodeScalars.map { $0.value < 32 ? "?" : Character($0) })
    }

    private static func quoted(_ text: String) -> String {
        let data = (try? JSONEncoder().encode(text)) ?? Data("\"\"".utf8)
        return String(decoding: data, as: UTF8.self)
    }
}
