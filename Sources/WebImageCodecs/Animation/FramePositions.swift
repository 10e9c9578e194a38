import WebImageCore

/// The viewers of one animation: where each of them is, and in which direction it plays. A pure value.
///
/// Requests of others count only while there is no viewer, and then as those of one viewer.
struct FramePositions {
    private struct Position {
        var index: Int
        var goesBackwards = false
        /// Whether the frame itself is decoded ahead, too.
        var isWanted = false
        /// When the viewer was last heard of.
        var turn = 0
    }

    private var viewers: Set<AnimationViewer> = []
    private var positions: [AnimationViewer?: Position] = [:]
    private var turn = 0

    var hasViewers: Bool { !viewers.isEmpty }

    mutating func add(_ viewer: AnimationViewer) {
        viewers.insert(viewer)
        positions[nil] = nil
    }

    mutating func remove(_ viewer: AnimationViewer) {
        viewers.remove(viewer)
        positions[viewer] = nil
    }

    /// Notes that a frame is requested, or prepared.
    ///
    /// - Parameters:
    ///   - count: the number of frames.
    ///   - viewer: who asks; nil if it is nobody who shows the animation.
    ///   - isWanted: whether the frame is decoded ahead; otherwise somebody waits for it, or it is kept.
    mutating func note(_ index: Int, of count: Int, for viewer: AnimationViewer?, isWanted: Bool) {
        let viewer = viewer.flatMap { viewers.contains($0) ? $0 : nil }
        guard viewer != nil || viewers.isEmpty else { return }
        turn += 1
        var position = positions[viewer] ?? Position(index: index)
        // The same frame again (prepared, and then awaited because it is late) and a jump do not change the direction.
        if index == (position.index + 1) % count {
            position.goesBackwards = false
        } else if position.index == (index + 1) % count {
            position.goesBackwards = true
        }
        (position.index, position.isWanted, position.turn) = (index, isWanted, turn)
        positions[viewer] = position
    }

    /// The frames to decode ahead: the nearest ones of all viewers first.
    ///
    /// - Parameters:
    ///   - most: how many frames ahead of each viewer.
    ///   - room: how many frames may be kept.
    func wishes(of count: Int, most: Int, room: Int) -> [Int] {
        let recent = positions.values.sorted { $0.turn > $1.turn }
        let reach = min(most, room / max(positions.count, 1) - 1, count - 1)
        var wishes = recent.filter(\.isWanted).map(\.index)
        for step in 1..<max(reach + 1, 1) {
            wishes += recent.map { ($0.index + ($0.goesBackwards ? count - step : step)) % count }
        }
        var known: Set<Int> = []
        return wishes.filter { known.insert($0).inserted }
    }

    /// Whether the frame is about to be needed by a viewer that plays backwards.
    func areBackwards(at index: Int, of count: Int, most: Int) -> Bool {
        positions.values.contains { $0.goesBackwards && ($0.index - index + count) % count <= most }
    }
}
