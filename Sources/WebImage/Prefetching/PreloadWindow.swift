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
    private var shown: Range<Int>?
    private var time = 0.0
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
        defer { (shown, time) = (visible, now) }
        guard let shown else { return }
        let moved =
            Double(visible.lowerBound - shown.lowerBound) / 2 + Double(visible.upperBound - shown.upperBound) / 2
        let passed = now - time
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
