/// What happened during a load, as a tree of stages: where the picture was looked up and found, what the load waited
/// for, who shared the work, and why something was not shared or not stored.
///
/// Each response has a trace (``ImageResponse/trace``). Loads record notes all the time, which costs less than a
/// microsecond for each load; the tree is built when it is read.
///
///     print(response.trace)
public struct LoadTrace: Sendable, Hashable {
    /// A stage of a load, with the stages that it consists of.
    public struct Stage: Sendable, Hashable {
        /// The name of the stage: `load`, `look in disk`, `download`, `decode`, ...
        public var name: String
        /// The time since the caller's request; below 0 for work that had already begun for other callers.
        public var start: Duration
        /// Stages of one parent may overlap: decoding overlaps the download.
        public var duration: Duration
        /// How many bytes the stage processed; nil if that has no meaning.
        public var bytes: Int?
        /// Further information, as sentences for people.
        public var notes: [String]
        public var stages: [Stage]

        init(
            _ name: String, start: Duration, duration: Duration, bytes: Int? = nil, notes: [String] = [],
            stages: [Stage] = []
        ) {
            (self.name, self.start, self.duration) = (name, start, duration)
            (self.bytes, self.notes, self.stages) = (bytes, notes, stages)
        }

        public var end: Duration { start + duration }
    }

    /// The whole load, with its stages below it.
    public var root: Stage
    /// The URL or file that was requested, without user, password and query values that grant access.
    public var place: String
    /// The cache keys of the original and the finished picture, also without query values that grant access; nil if no
    /// cache was asked.
    public var originalKey: String?
    public var variantKey: String?

    /// The first stage with that name, at any depth.
    public subscript(_ name: String) -> Stage? { root.first { $0.name == name } }

    /// The notes of all stages.
    public var notes: [String] { root.all.flatMap(\.notes) }
}

extension LoadTrace.Stage {
    func first(where isWanted: (Self) -> Bool) -> Self? {
        if isWanted(self) { return self }
        for stage in stages {
            if let found = stage.first(where: isWanted) { return found }
        }
        return nil
    }

    /// This stage and all stages below it, parents before children.
    var all: [Self] { [self] + stages.flatMap(\.all) }
}

extension LoadTrace: CustomStringConvertible {
    /// The tree as text, one line for each stage, with a bar that shows when it ran.
    public var description: String {
        var lines = [place]
        let first = min(root.all.map(\.start).min() ?? .zero, .zero)
        let last = root.all.map(\.end).max() ?? .zero
        let names = root.rows(indent: "", isLast: nil)
        let width = names.map(\.name.count).max() ?? 0
        for (name, stage, indent) in names {
            let bar = Self.bar(from: stage.start - first, to: stage.end - first, of: last - first)
            let time = Self.text(stage.duration)
            var line = name + String(repeating: " ", count: width - name.count + 2) + bar
            line += "  " + String(repeating: " ", count: max(9 - time.count, 0)) + time
            if let bytes = stage.bytes { line += "  \(bytes) B" }
            lines.append(line)
            lines += stage.notes.map { indent + "  · " + $0 }
        }
        return lines.joined(separator: "\n")
    }

    private static let barWidth = 32

    private static func bar(from start: Duration, to end: Duration, of total: Duration) -> String {
        guard total > .zero else { return String(repeating: "·", count: barWidth) }
        let first = min(Int(start / total * Double(barWidth)), barWidth - 1)
        let last = min(max(Int((end / total * Double(barWidth)).rounded(.up)), first + 1), barWidth)
        return String(repeating: "·", count: first) + String(repeating: "█", count: last - first)
            + String(repeating: "·", count: barWidth - last)
    }

    /// `0.03 ms`, `12.4 ms`, `3.21 s`.
    private static func text(_ duration: Duration) -> String {
        let microseconds = Int(duration / .microseconds(1))
        func fixed(_ value: Int, _ unit: Int, _ digits: Int, _ name: String) -> String {
            let scale = digits == 2 ? 100 : 10
            let scaled = (value * scale + unit / 2) / unit
            let rest = String(scaled % scale)
            return "\(scaled / scale)." + String(repeating: "0", count: digits - rest.count) + rest + " " + name
        }
        if microseconds < 10_000 { return fixed(microseconds, 1000, 2, "ms") }
        if microseconds < 1_000_000 { return fixed(microseconds, 1000, 1, "ms") }
        return fixed(microseconds, 1_000_000, 2, "s")
    }
}

extension LoadTrace.Stage {
    /// - Parameter isLast: whether it is the last one of its parent; nil for the root.
    fileprivate func rows(indent: String, isLast: Bool?) -> [(name: String, stage: Self, indent: String)] {
        let branch = isLast.map { $0 ? "└ " : "├ " } ?? ""
        let below = indent + (isLast.map { $0 ? "  " : "│ " } ?? "")
        var rows = [(indent + branch + name, self, below)]
        for (place, stage) in stages.enumerated() {
            rows += stage.rows(indent: below, isLast: place == stages.count - 1)
        }
        return rows
    }
}
