/// The order in which the frames of an animation are shown.
public enum PlaybackMode: String, Hashable, Sendable, CaseIterable {
    /// From the first frame to the last, and again.
    case forward
    /// From the last frame to the first, and again.
    case reverse
    /// From the first to the last and back to the first, and again; the frames at the ends are shown once.
    case bounce
    /// From the last to the first and back to the last, and again.
    case reversedBounce

    var startsAtEnd: Bool { self == .reverse || self == .reversedBounce }
    var turns: Bool { self == .bounce || self == .reversedBounce }
}

/// The position in an animation, as a value: which frame comes next, and when a round is complete.
struct Playback {
    enum Step: Hashable {
        /// Another frame follows. It may complete a round.
        case frame(Int, completesRound: Bool)
        /// The next frame is not known yet, because the file is still arriving.
        case notThereYet
        /// The current frame was the last.
        case end
    }

    var mode: PlaybackMode {
        didSet { isGoingBack = mode.startsAtEnd }
    }
    /// How many frames are known.
    var count: Int
    /// Whether all frames are known.
    var isComplete: Bool
    /// How many rounds are shown; 0: without end.
    var roundLimit: Int
    private(set) var index: Int
    /// How many rounds were completed.
    private(set) var round = 0
    private var isGoingBack: Bool
    /// Whether the round that ends with the current frame is already counted, because it was the last one when it
    /// ended.
    private var hasCountedRound = false

    init(mode: PlaybackMode = .forward, count: Int, isComplete: Bool, roundLimit: Int) {
        self.mode = mode
        self.count = count
        self.isComplete = isComplete
        self.roundLimit = roundLimit
        index = 0
        isGoingBack = mode.startsAtEnd
    }

    /// The index of the frame with which the mode begins.
    var start: Int { mode.startsAtEnd ? max(count - 1, 0) : 0 }

    mutating func seek(to index: Int, round: Int? = nil) {
        self.index = min(max(index, 0), max(count - 1, 0))
        if let round { self.round = max(round, 0) }
        hasCountedRound = false
        isGoingBack = mode.startsAtEnd
    }

    /// Goes back to an earlier position. The mode stays, and what has become known of the animation since.
    mutating func goBack(to earlier: Playback) {
        index = earlier.index
        round = earlier.round
        hasCountedRound = earlier.hasCountedRound
        if mode == earlier.mode { isGoingBack = earlier.isGoingBack }
    }

    /// What follows the current frame.
    var next: Step {
        guard count > 1 else { return isComplete ? .end : .notThereYet }
        let goesBack = mode.turns ? turned : isGoingBack
        let neighbour = goesBack ? index - 1 : index + 1
        if neighbour == count, !isComplete { return .notThereYet }
        if mode.turns {
            return .frame(neighbour, completesRound: neighbour == start)
        }
        if (0..<count).contains(neighbour) { return .frame(neighbour, completesRound: false) }
        return isLastRound ? .end : .frame(start, completesRound: true)
    }

    /// Moves to the next frame. Returns false if there is none, or if it is not known yet.
    mutating func advance() -> Bool {
        guard case .frame(let index, let completesRound) = next else { return false }
        if mode.turns { isGoingBack = turned }
        self.index = index
        if completesRound, !hasCountedRound { round += 1 }
        hasCountedRound = false
        return true
    }

    /// Counts the last round, after its last frame was shown. Returns false if there is no round to count.
    mutating func completeRound() -> Bool {
        guard count > 1, !mode.turns, !hasCountedRound, roundLimit == 0 || round < roundLimit else { return false }
        round += 1
        hasCountedRound = true
        return true
    }

    /// Whether a bounce has ended: its current frame is the last to be shown.
    var isOver: Bool { mode.turns && roundLimit > 0 && round >= roundLimit && index == start }

    private var isLastRound: Bool { roundLimit > 0 && round + (hasCountedRound ? 0 : 1) >= roundLimit }

    /// Whether a bounce continues backwards: it turns at the ends.
    private var turned: Bool {
        if index == 0 { return false }
        if index == count - 1, isComplete || isGoingBack { return true }
        return isGoingBack
    }
}
