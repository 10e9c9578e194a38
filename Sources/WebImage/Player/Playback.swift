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

/// Where in an animation one is, as a value: which frame comes next, and when a round is complete.
struct Playback {
    enum Step: Hashable {
        /// Another frame follows. With the second a round is complete, with the third also the last one.
        case frame(Int, completesRound: Bool, isLast: Bool)
        /// It is not known yet what follows: the file still arrives.
        case notThereYet
        /// The present frame was the last.
        case end
    }

    var mode: PlaybackMode {
        didSet { isGoingBack = mode.startsAtEnd }
    }
    /// How many frames are known.
    var count: Int
    /// Whether more may come.
    var isComplete: Bool
    /// How many rounds are shown; 0: without end.
    var roundLimit: Int
    private(set) var index: Int
    /// How many rounds were completed.
    private(set) var round = 0
    private var isGoingBack: Bool
    /// Whether the round that ends with the present frame was counted, since it was the last one then.
    private var hasCountedRound = false

    init(mode: PlaybackMode = .forward, count: Int, isComplete: Bool, roundLimit: Int) {
        self.mode = mode
        self.count = count
        self.isComplete = isComplete
        self.roundLimit = roundLimit
        index = 0
        isGoingBack = mode.startsAtEnd
    }

    /// Where the mode begins.
    var start: Int { mode.startsAtEnd ? max(count - 1, 0) : 0 }

    mutating func seek(to index: Int, round: Int? = nil) {
        self.index = min(max(index, 0), max(count - 1, 0))
        if let round { self.round = max(round, 0) }
        hasCountedRound = false
        isGoingBack = mode.startsAtEnd
    }

    /// What follows the present frame.
    var next: Step {
        guard count > 1 else { return isComplete ? .end : .notThereYet }
        let goesBack = mode.turns ? turned : isGoingBack
        let neighbour = goesBack ? index - 1 : index + 1
        if neighbour == count, !isComplete { return .notThereYet }
        if mode.turns {
            let completes = neighbour == start
            return .frame(neighbour, completesRound: completes, isLast: completes && isLastRound)
        }
        if (0..<count).contains(neighbour) { return .frame(neighbour, completesRound: false, isLast: false) }
        return isLastRound ? .end : .frame(start, completesRound: true, isLast: false)
    }

    /// Goes to what follows; false: nothing does, or not yet.
    mutating func advance() -> Bool {
        guard case .frame(let index, let completesRound, _) = next else { return false }
        if mode.turns { isGoingBack = turned }
        self.index = index
        if completesRound, !hasCountedRound { round += 1 }
        hasCountedRound = false
        return true
    }

    /// The last frame of the last round was shown; false where there are no rounds.
    mutating func completeRound() -> Bool {
        guard count > 1, !mode.turns, !hasCountedRound, roundLimit == 0 || round < roundLimit else { return false }
        round += 1
        hasCountedRound = true
        return true
    }

    /// Whether the frame that was reached is the last to be shown, as it is where a bounce ends.
    var isOver: Bool { mode.turns && roundLimit > 0 && round >= roundLimit && index == start }

    private var isLastRound: Bool { roundLimit > 0 && round + (hasCountedRound ? 0 : 1) >= roundLimit }

    /// Which way a bounce goes on: it turns at the ends.
    private var turned: Bool {
        if index == 0 { return false }
        if index == count - 1, isComplete || isGoingBack { return true }
        return isGoingBack
    }
}
