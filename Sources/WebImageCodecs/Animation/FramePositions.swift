/// Where the players of one animation are, and in which direction each of them plays. A pure value.
///
/// Players do not say who they are. A requested frame belongs to the player for which it is the next one, or else to a new
/// player, or else to one for which it is the frame before. So each keeps its own direction.
struct FramePositions {
    private struct Position {
        var index: Int
        var goesBackwards = false
        /// Whether the frame itself is decoded ahead, too.
        var isWanted = false
        /// When the player was last heard of.
        var turn = 0
    }

    private var positions: [Position] = []
    private var turn = 0

    /// Notes that a frame is requested, or prepared.
    ///
    /// - Parameters:
    ///   - count: the number of frames.
    ///   - viewers: how many players there are.
    ///   - isWanted: whether the frame is decoded ahead; otherwise somebody waits for it, or it is kept.
    mutating func note(_ index: Int, of count: Int, viewers: Int, isWanted: Bool) {
        let players = max(viewers, 1)
        forget(beyond: players)
        func place(where isItsPlayer: (Position) -> Bool) -> Int? {
            positions.indices.filter { isItsPlayer(positions[$0]) }.max { positions[$0].turn < positions[$1].turn }
        }
        turn += 1
        // A frame is first prepared and, if it is late, requested again: that does not change the direction.
        if let same = place(where: { $0.index == index }) {
            (positions[same].isWanted, positions[same].turn) = (isWanted, turn)
        } else if let next = place(where: { ($0.index + 1) % count == index }) {
            positions[next] = Position(index: index, isWanted: isWanted, turn: turn)
        } else if positions.count == players, let before = place(where: { ($0.index + count - 1) % count == index }) {
            positions[before] = Position(index: index, goesBackwards: true, isWanted: isWanted, turn: turn)
        } else {
            forget(beyond: players - 1)
            positions.append(Position(index: index, isWanted: isWanted, turn: turn))
        }
    }

    /// Forgets the players that were not heard of for the longest time.
    private mutating func forget(beyond count: Int) {
        while positions.count > count,
            let oldest = positions.indices.min(by: { positions[$0].turn < positions[$1].turn })
        {
            positions.remove(at: oldest)
        }
    }

    /// The frames to decode ahead: the nearest ones of all players first.
    ///
    /// - Parameters:
    ///   - most: how many frames ahead of each player.
    ///   - room: how many frames may be kept.
    func wishes(of count: Int, most: Int, room: Int) -> [Int] {
        let recent = positions.sorted { $0.turn > $1.turn }
        let reach = min(most, room / max(positions.count, 1) - 1, count - 1)
        var wishes = recent.filter(\.isWanted).map(\.index)
        for step in 1..<max(reach + 1, 1) {
            wishes += recent.map { ($0.index + ($0.goesBackwards ? count - step : step)) % count }
        }
        var known: Set<Int> = []
        return wishes.filter { known.insert($0).inserted }
    }

    /// Whether the frame is about to be needed by a player that plays backwards.
    func areBackwards(at index: Int, of count: Int, most: Int) -> Bool {
        positions.contains { $0.goesBackwards && ($0.index - index + count) % count <= most }
    }
}
