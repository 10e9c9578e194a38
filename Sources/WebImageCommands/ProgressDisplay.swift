import Foundation
import Synchronization
import WebImage

/// Bars on standard error: one line for each running load, and one that counts all loads. It shows nothing if standard
/// error is not a terminal.
///
/// Thread-safe. Lines of finished loads scroll up above the bars.
final class ProgressDisplay: Sendable {
    private struct State {
        var bars: [(id: Int, name: String, progress: LoadProgress?)] = []
        var drawnLines = 0
        var lastDrawn: ContinuousClock.Instant?
        var done = 0
        var failed = 0
    }

    /// Whether bars are shown.
    let isOn: Bool
    private let total: Int
    private let state = Mutex(State())

    /// The display whose bars are on the terminal.
    private static let shown = Mutex<ProgressDisplay?>(nil)

    /// Prints a line on standard error, above the bars if there are any.
    static func tellAbove(_ line: String) {
        guard let display = shown.withLock({ $0 }) else { return Console.err(line) }
        display.tell { Console.err(line) }
    }

    /// - Parameters:
    ///   - isOn: whether bars are shown; nil shows them if standard error is a terminal.
    ///   - total: the number of loads, which are counted if there are several.
    init(isOn: Bool? = nil, total: Int = 1) {
        self.isOn = isOn ?? Console.isErrorTerminal
        self.total = total
        if self.isOn { Self.shown.withLock { $0 = self } }
    }

    /// Begins a bar. Bars are ordered by their numbers, whichever begins first.
    func begin(_ id: Int, name: String) {
        guard isOn else { return }
        update { state in
            let place = state.bars.firstIndex { $0.id > id } ?? state.bars.endIndex
            state.bars.insert((id, name, nil), at: place)
        }
    }

    func show(_ progress: LoadProgress, of id: Int) {
        guard isOn else { return }
        update(isUrgent: false) { state in
            guard let index = state.bars.firstIndex(where: { $0.id == id }) else { return }
            state.bars[index].progress = progress
        }
    }

    /// Runs `report`, which prints a line, above the bars.
    func tell(report: @escaping () -> Void) {
        guard isOn else { return report() }
        update(report: report) { _ in }
    }

    /// Ends a bar, and replaces it by what `report` prints.
    func end(_ id: Int, isWell: Bool = true, report: @escaping () -> Void) {
        guard isOn else { return report() }
        update(report: report) { state in
            state.bars.removeAll { $0.id == id }
            state.done += 1
            if !isWell { state.failed += 1 }
        }
    }

    /// Ends a bar, and replaces it by `line`, if there is one, on standard output.
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
            // If there were more lines than the terminal has, they could not be erased.
            let shown = state.bars.prefix(max(min(12, rows - 4), 1))
            var lines = shown.map { Self.line($0.name, $0.progress, width: columns) }
            let more = state.bars.count - shown.count
            if more > 0 { lines.append(String("… and \(more) more".prefix(max(columns - 1, 1)))) }
            let count = state.done < total ? Self.count(state.done, of: total, failed: state.failed) : nil
            if let count { lines.append(String(count.prefix(max(columns - 1, 1)))) }
            // The last ones say the most. The cursor is in the row below them.
            lines = lines.suffix(max(rows - 1, 0))
            state.drawnLines = lines.count
            Console.write(text + lines.map { $0 + "\n" }.joined(), to: .standardError)
        }
    }

    /// The line that counts loads, such as `"37 of 20000 done, 2 failed"`; nil for a single load.
    static func count(_ done: Int, of total: Int, failed: Int) -> String? {
        guard total > 1 else { return nil }
        return "\(done) of \(total) done" + (failed > 0 ? ", \(failed) failed" : "")
    }

    /// The name, or its end, in `width` columns.
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

    /// A bar that fits in one row of a terminal with `width` columns, since a second row could not be erased.
    static func line(_ name: String, _ progress: LoadProgress?, width: Int) -> String {
        let percent = progress?.fraction.map { "\(Int($0 * 100))%" } ?? ""
        let share = String(repeating: " ", count: max(4 - percent.count, 0)) + percent
        // There is no room for a bar.
        guard width > 42 else { return String("\(share) \(fitted(name, max(width - 6, 1)))".prefix(max(width - 1, 1))) }
        let room = min(width - 1, 120)
        let barWidth = max(room / 3, 10)
        let nameWidth = room - barWidth - 20
        let padded = fitted(name, nameWidth)
        let fraction = progress?.fraction ?? 0
        let eighths = Int((fraction * Double(barWidth * 8)).rounded(.down))
        let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        let full = String(repeating: "█", count: eighths / 8) + partial
        let bar = full + String(repeating: "·", count: barWidth - full.count)
        let bytes = progress.map { $0.received.description } ?? "waiting"
        return "\(padded) \(bar) \(share) \(bytes)"
    }
}
