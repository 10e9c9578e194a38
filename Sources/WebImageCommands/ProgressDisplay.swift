import Foundation
import Synchronization
import WebImage

/// Bars on standard error, one line a running load, when that is a terminal; else nothing.
///
/// Thread-safe. Lines of finished loads scroll up above the bars.
final class ProgressDisplay: Sendable {
    private struct State {
        var bars: [(id: Int, name: String, progress: LoadProgress?)] = []
        var drawnLines = 0
        var lastDrawn: ContinuousClock.Instant?
    }

    private let isOn: Bool
    private let state = Mutex(State())

    /// - Parameter isOn: nil shows bars when standard error is a terminal.
    init(isOn: Bool? = nil) { self.isOn = isOn ?? Console.isErrorTerminal }

    func begin(_ id: Int, name: String) {
        guard isOn else { return }
        update { $0.bars.append((id, name, nil)) }
    }

    func show(_ progress: LoadProgress, of id: Int) {
        guard isOn else { return }
        update(isUrgent: false) { state in
            guard let index = state.bars.firstIndex(where: { $0.id == id }) else { return }
            state.bars[index].progress = progress
        }
    }

    /// Ends a bar; what `report` prints takes its place for good.
    func end(_ id: Int, report: @escaping () -> Void) {
        guard isOn else { return report() }
        update(report: report) { $0.bars.removeAll { $0.id == id } }
    }

    /// Ends a bar; `line`, if there is one, takes its place for good, on standard output.
    func end(_ id: Int, line: String?) {
        end(id) { if let line { Console.out(line) } }
    }

    private func update(isUrgent: Bool = true, report: (() -> Void)? = nil, _ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            let now = ContinuousClock.now
            if !isUrgent, let last = state.lastDrawn, now - last < .milliseconds(50) { return }
            state.lastDrawn = now
            var text = state.drawnLines > 0 ? "\u{1B}[\(state.drawnLines)A\r\u{1B}[J" : "\r\u{1B}[J"
            if let report {
                Console.write(text, to: .standardError)
                text = ""
                report()
            }
            let (columns, rows) = Console.terminalSize
            // More lines than the terminal has could not be taken back.
            let shown = state.bars.prefix(max(min(12, rows - 3), 1))
            for bar in shown { text += Self.line(bar.name, bar.progress, width: columns) + "\n" }
            let more = state.bars.count - shown.count
            if more > 0 { text += "… and \(more) more\n" }
            state.drawnLines = shown.count + (more > 0 ? 1 : 0)
            Console.write(text, to: .standardError)
        }
    }

    /// The name, or its end, in so many columns.
    private static func fitted(_ name: String, _ width: Int) -> String {
        let total = name.reduce(0) { $0 + Console.columns(of: $1) }
        if total <= width { return name + String(repeating: " ", count: width - total) }
        var (left, short) = (width - 1, "")
        for character in name.reversed() {
            left -= Console.columns(of: character)
            if left < 0 { break }
            short = String(character) + short
        }
        let used = short.reduce(1) { $0 + Console.columns(of: $1) }
        return "…" + short + String(repeating: " ", count: width - used)
    }

    static func line(_ name: String, _ progress: LoadProgress?, width: Int) -> String {
        let room = max(min(width - 1, 120), 40)
        let barWidth = max(room / 3, 10)
        let nameWidth = room - barWidth - 20
        let padded = fitted(name, nameWidth)
        let fraction = progress?.fraction ?? 0
        let eighths = Int((fraction * Double(barWidth * 8)).rounded(.down))
        let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        let full = String(repeating: "█", count: eighths / 8) + partial
        let bar = full + String(repeating: "·", count: barWidth - full.count)
        let percent = progress?.fraction.map { "\(Int($0 * 100))%" } ?? ""
        let bytes = progress.map { $0.received.description } ?? "waiting"
        return "\(padded) \(bar) \(String(repeating: " ", count: max(4 - percent.count, 0)))\(percent) \(bytes)"
    }
}
