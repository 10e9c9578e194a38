import WebImage

/// A trace as text for the panel, as narrow as possible.
struct TraceText {
    private static let barWidth = 12
    private static let nameWidth = 16

    private let start: Duration
    private let length: Duration
    private var lines: [String] = []

    /// The tree of a trace: each stage on a line, with a bar for its time.
    static func text(_ trace: LoadTrace) -> String {
        var text = TraceText(trace.root)
        text.add(trace.root, indent: "", isLast: nil)
        return text.lines.joined(separator: "\n")
    }

    private init(_ root: LoadTrace.Stage) {
        let (first, last) = Self.span(of: root)
        start = min(first, .zero)
        length = last - start
    }

    private static func span(of stage: LoadTrace.Stage) -> (Duration, Duration) {
        stage.stages.map(span).reduce((stage.start, stage.end)) { (min($0.0, $1.0), max($0.1, $1.1)) }
    }

    /// - Parameter isLast: whether the stage is the last one of its parent; nil for the root.
    private mutating func add(_ stage: LoadTrace.Stage, indent: String, isLast: Bool?) {
        let branch = isLast.map { $0 ? "└ " : "├ " } ?? ""
        let below = indent + (isLast.map { $0 ? "  " : "│ " } ?? "")
        let name = Self.padded(indent + branch + stage.name, Self.nameWidth)
        let time = FactText.milliseconds(stage.duration)
        let space = String(repeating: " ", count: max(9 - time.count, 1))
        lines.append(name + " " + bar(of: stage) + space + time + (stage.bytes.map { "  \(ByteCount($0))" } ?? ""))
        lines += stage.notes.map { below + "· " + $0 }
        for (place, inner) in stage.stages.enumerated() {
            add(inner, indent: below, isLast: place == stage.stages.count - 1)
        }
    }

    private func bar(of stage: LoadTrace.Stage) -> String {
        guard length > .zero else { return String(repeating: "·", count: Self.barWidth) }
        let width = Double(Self.barWidth)
        let first = min(max(Int((stage.start - start) / length * width), 0), Self.barWidth - 1)
        let end = Int(((stage.end - start) / length * width).rounded(.up))
        let last = min(max(end, first + 1), Self.barWidth)
        return String(repeating: "·", count: first) + String(repeating: "█", count: last - first)
            + String(repeating: "·", count: Self.barWidth - last)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }
}
