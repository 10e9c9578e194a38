/// What happened to a load on its way, as a tree of stages: where it was looked for and found, what it waited for, who shared
/// the work, and why something was not shared or not kept.
///
/// Each response has one (``ImageResponse/trace``). Loads take notes all the time, which costs less than a microsecond each;
/// the tree is made when it is asked for.
///
///     print(response.trace)
public struct LoadTrace: Sendable, Hashable {
    /// Something that took time, and what it consisted of.
    public struct Stage: Sendable, Hashable {
        /// What was done: `load`, `look in disk`, `download`, `decode`, ...
        public var name: String
        /// Since the caller asked. Below 0 for work that had begun before, for others.
        public var start: Duration
        /// Stages of one parent may overlap: decoding overlaps the download.
        public var duration: Duration
        /// How many bytes went through it; nil where that says nothing.
        public var bytes: Int?
        /// What else is known of it, in sentences for people.
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

    /// The whole load; what it consisted of is below it.
    public var root: Stage
    /// What was asked for, without user and password.
    public var place: String
    /// The names under which the original and the finished picture are cached; nil where no cache was asked.
    public var originalKey: String?
    public var variantKey: String?

    /// The first stage of that name, wherever it is.
    public subscript(_ name: String) -> Stage? { root.first { $0.name == name } }

    /// Every sentence of every stage.
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

    /// Itself and all below it, each before those below it.
    var all: [Self] { [self] + stages.flatMap(\.all) }
}

extension LoadTrace: CustomStringConvertible {
    /// The tree, a line a stage, with its place in time as a bar.
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
