import WebImageCodecs
import WebImageCore
import WebImageDownload

// What a decode session keeps, by subject.

/// How far a session has read.
struct SessionReading {
    private(set) var log: ByteLog
    var offset = 0
    /// How far the animations among the targets have read.
    var animationOffset = 0
    /// The first bytes, kept until they tell the format.
    var prefix: [UInt8] = []

    init(_ log: ByteLog) { self.log = log.latest }

    /// Goes on where the body is now: the origin may have another one than the one that began to come.
    ///
    /// - Returns: whether what was read so far is of no use.
    mutating func follow() -> Bool {
        let latest = log.latest
        if latest === log { return false }
        log = latest
        return true
    }

    mutating func restart() {
        offset = 0
        animationOffset = 0
        prefix = []
    }
}

/// Which pictures a session is to make, and by which header.
struct SessionPlan<Order: PictureOrder> {
    /// What all orders agree in.
    let recipe: PictureRecipe
    /// What this session makes: what another session's plan left to it, or its own plan.
    var group: DecodeGroup<Order>?
    /// The pictures to make when the body was replaced before it could be planned how.
    private var unplanned: [Order]?
    var header: ImageHeader?
    /// The one that the bytes told too late; nil: the header's.
    private var lateOrientation: Orientation?

    init(_ recipe: PictureRecipe, _ group: DecodeGroup<Order>?) { (self.recipe, self.group) = (recipe, group) }

    /// Those that nobody else will take on.
    var knownOrders: [Order]? { group?.orders ?? unplanned }

    var orientation: Orientation? { lateOrientation ?? header?.orientation }

    /// Takes note of an orientation that stands behind the pixels.
    ///
    /// - Returns: whether the pictures must be made once more for it.
    mutating func learn(_ late: Orientation?) -> Bool {
        guard let late, let planned = header?.orientation, lateOrientation == nil, late != planned else { return false }
        lateOrientation = late
        return true
    }

    /// The body was replaced: what was planned for the first one is of no use.
    mutating func beginAnew() {
        unplanned = knownOrders
        group = nil
        header = nil
        lateOrientation = nil
    }
}

/// What a session is making.
struct SessionWork<Order: PictureOrder> {
    var decoder: (any ImageDecoder)?
    var targets: [PictureInMaking<Order>] = []
    /// Whether the decoder has said that the picture is whole.
    var isComplete = false
}

/// What a session has taken from the budgets of its service, and what it waits for.
struct SessionHold {
    var memory: Int?
    /// What is laid down while there are no bytes to decode; see ``Admission/park(_:_:_:)``.
    var parked: Int?
    /// True once others needed its memory more, or where the coder wants all bytes: it then decodes when they are there, in one
    /// go.
    var waitsForEnd = false
    /// Whether that is for the coder's sake.
    var whole = WholeFileWait.notNeeded
    /// True when the plan found no memory: the decoder then ends, and begins anew when there is some.
    var waitsForMemory = false
    /// Where it runs.
    var place = SessionPlace.ofDecoder
    var turn = LongDecodeTurn.notNeeded
    var needsVectorTurn = false
}

/// The wait of a coder that wants all bytes at once.
enum WholeFileWait {
    case notNeeded
    /// It is about to begin.
    case asked
    case waited
}

/// The thread that a session runs on.
enum SessionPlace {
    /// One of its executor's.
    case ofDecoder
    /// The asking task's, for what is small.
    case ofCaller
    /// That was too much for it: the session begins anew on a thread for decoders.
    case tooLargeForCaller
}

/// How long a session has worked, and when it shows something.
struct SessionPace {
    var meter: DecodeMeter
    var previews = PreviewPace()
}
