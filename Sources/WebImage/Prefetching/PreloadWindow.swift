import WebImageCore

/// Decides which rows of a list are loaded ahead, by the direction and speed of scrolling. A pure value.
struct PreloadWindow {
    /// The rows to begin, the nearest first, and the rows to cancel.
    struct Change: Equatable {
        var begin: [Int] = []
        var cancel: [Int] = []
    }

    /// While the list moves, the rows that will be visible within this many seconds are loaded.
    private static let lead = 1.0
    /// After so many seconds without movement the list counts as standing still.
    private static let stillAfter = 0.5

    private let ahead: Int
    private let maxAhead: Int
    /// What was visible last, and what was visible before the list showed more rows or fewer.
    private var shown: Sight?
    private var steady: Sight?
    /// Rows a second, smoothed; below 0 towards the beginning.
    private(set) var speed = 0.0
    /// 1 towards the end of the list, -1 towards its beginning.
    private(set) var direction = 1
    private(set) var wanted: Set<Int> = []

    /// - Parameters:
    ///   - ahead: how many rows are loaded ahead while the list stands still.
    ///   - most: how many rows are loaded ahead at most, however fast the list moves.
    init(ahead: Int, most: Int) {
        self.ahead = max(ahead, 0)
        maxAhead = max(most, self.ahead)
    }

    /// - Parameters:
    ///   - visible: the rows that are visible.
    ///   - count: how many rows there are.
    ///   - now: the time in seconds.
    mutating func show(_ visible: Range<Int>, of count: Int, now: Double) -> Change {
        let visible = visible.clamped(to: 0..<max(count, 0))
        note(visible, now)
        let lead = (abs(speed) * Self.lead).rounded(.up)
        let reach = lead < Double(maxAhead) ? max(ahead, Int(lead)) : maxAhead
        // Some of the rows that were passed are kept, in case the list moves back.
        let behind = min(ahead / 4, reach)
        let (after, before) = direction > 0 ? (reach, behind) : (behind, reach)
        let next = Array(visible.upperBound..<visible.upperBound + min(after, max(count - visible.upperBound, 0)))
        let last = Array((max(visible.lowerBound - before, 0)..<visible.lowerBound).reversed())
        let order = direction > 0 ? next + last : last + next
        let now = Set(order)
        // Visible rows are not cancelled: whoever shows them loads them, and shares the running loads.
        let change = Change(
            begin: order.filter { !wanted.contains($0) },
            cancel: wanted.filter { !now.contains($0) && !visible.contains($0) }.sorted())
        wanted = now.union(wanted.filter { visible.contains($0) })
        return change
    }

    mutating func clear() -> [Int] {
        defer { wanted = [] }
        return wanted.sorted()
    }

    private mutating func note(_ visible: Range<Int>, _ now: Double) {
        let last = Sight(rows: visible, time: now)
        guard let shown else { return (shown, steady) = (last, last) }
        // In a grid, both ends move by a whole line, but not at the same time.
        guard let from = [shown, steady].lazy.compactMap({ $0 }).first(where: { $0.isMoved(to: last) }) else {
            // The list shows more rows or fewer, which is no movement.
            if now - shown.time >= Self.stillAfter { speed = 0 }
            self.shown = last
            return
        }
        (self.shown, steady) = (last, last)
        let moved = from.movement(to: last)
        let passed = now - from.time
        if moved == 0 {
            if passed >= Self.stillAfter { speed = 0 }
            return
        }
        direction = moved > 0 ? 1 : -1
        let measured = moved / max(passed, 0.001)
        // The speed is averaged while the direction stays the same, and measured anew when it changes.
        let isSameWay = measured * speed > 0
        speed = isSameWay && passed < Self.stillAfter ? (speed + measured) / 2 : measured
    }
}

/// The rows that were visible at a moment.
private struct Sight {
    let rows: Range<Int>
    let time: Double

    /// Whether about as many rows are visible as before.
    func isMoved(to later: Sight) -> Bool {
        let (first, last) = (later.rows.lowerBound - rows.lowerBound, later.rows.upperBound - rows.upperBound)
        return abs(first - last) <= max(max(rows.count, later.rows.count) / 4, 2)
    }

    /// How many rows the list has moved, below 0 towards its beginning.
    func movement(to later: Sight) -> Double {
        Double(later.rows.lowerBound - rows.lowerBound) / 2 + Double(later.rows.upperBound - rows.upperBound) / 2
    }
}
