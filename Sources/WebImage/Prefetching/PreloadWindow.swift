import WebImageCore

/// Which rows of a list are worth loading ahead, by which way and how fast it is scrolled. A pure value.
struct PreloadWindow {
    /// What is to be loaded besides, the nearest first, and what is not wanted any more.
    struct Change: Equatable {
        var begin: [Int] = []
        var cancel: [Int] = []
    }

    /// How long ahead of the eye rows are loaded where the list moves.
    private static let lead = 1.0
    /// After such a pause the list has stood still.
    private static let stillAfter = 0.5

    private let ahead: Int
    private let mostAhead: Int
    private var shown: Range<Int>?
    private var time = 0.0
    /// Rows a second, smoothed; below 0 towards the beginning.
    private(set) var speed = 0.0
    /// 1 towards the end of the list, -1 towards its beginning.
    private(set) var direction = 1
    private(set) var wanted: Set<Int> = []

    /// - Parameters:
    ///   - ahead: how many rows a list has loaded that stands still.
    ///   - most: how many at most, however fast it moves.
    init(ahead: Int, most: Int) {
        self.ahead = max(ahead, 0)
        mostAhead = max(most, self.ahead)
    }

    /// - Parameters:
    ///   - visible: the rows that are seen.
    ///   - count: how many rows there are.
    ///   - now: in seconds.
    mutating func show(_ visible: Range<Int>, of count: Int, now: Double) -> Change {
        let visible = visible.clamped(to: 0..<max(count, 0))
        note(visible, now)
        let reach = min(max(ahead, Int((abs(speed) * Self.lead).rounded(.up))), mostAhead)
        // A little of what was passed, for the way back.
        let behind = min(ahead / 4, reach)
        let (after, before) = direction > 0 ? (reach, behind) : (behind, reach)
        let next = Array(visible.upperBound..<visible.upperBound + min(after, max(count - visible.upperBound, 0)))
        let last = Array((max(visible.lowerBound - before, 0)..<visible.lowerBound).reversed())
        let order = direction > 0 ? next + last : last + next
        let now = Set(order)
        // What is seen now is loaded by whoever shows it, and that load shares what runs.
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
        let moved = Double(visible.lowerBound + visible.upperBound - shown.lowerBound - shown.upperBound) / 2
        let passed = now - time
        if moved == 0 {
            if passed >= Self.stillAfter { speed = 0 }
            return
        }
        direction = moved > 0 ? 1 : -1
        let measured = moved / max(passed, 0.001)
        // The way back is another movement; the same way evens out.
        let isSameWay = measured * speed > 0
        speed = isSameWay && passed < Self.stillAfter ? (speed + measured) / 2 : measured
    }
}
