import WebImageCodecs
import WebImageCore
import WebImageDownload

// The state of a decode session, by subject.

/// How far a session has read.
struct SessionReading {
    private(set) var log: ByteLog
    var offset = 0
    /// How far the animations among the targets have read.
    var animationOffset = 0
    /// The first bytes, kept until they identify the format.
    var prefix: [UInt8] = []

    init(_ log: ByteLog) { self.log = log.latest }

    /// Switches to the current body: the origin may have replaced the body that began to arrive.
    ///
    /// - Returns: whether the bytes that were read so far must be discarded.
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

/// The pictures that a session makes, and the header by which they are planned. Used by the session's thread only.
final class SessionPlan<Order: PictureOrder> {
    /// The common recipe of all orders.
    let recipe: PictureRecipe
    /// The group of this session, from its own plan or from another session's.
    var group: DecodeGroup<Order>?
    /// The pictures to make if the body was replaced before the plan.
    private var unplanned: [Order]?
    var header: ImageHeader?
    /// Whether the decoder gives 16 bits a channel if the file has more than 8.
    var isDeep: Bool { recipe.decoding.keepsBitDepth || group?.isDeep == true }
    /// An orientation that came after the pixels; nil: the header's.
    private var lateOrientation: Orientation?

    init(_ recipe: PictureRecipe, _ group: DecodeGroup<Order>?) { (self.recipe, self.group) = (recipe, group) }

    /// The orders that no other session will take on.
    var knownOrders: [Order]? { group?.orders ?? unplanned }

    var orientation: Orientation? { lateOrientation ?? header?.orientation }

    /// Records an orientation that came after the pixels.
    ///
    /// - Returns: whether the pictures must be made again.
    func learn(_ late: Orientation?) -> Bool {
        guard let late, let planned = header?.orientation, lateOrientation == nil, late != planned else { return false }
        lateOrientation = late
        return true
    }

    /// Discards the plan, because the body was replaced.
    func beginAnew() {
        unplanned = knownOrders
        group = nil
        header = nil
        lateOrientation = nil
    }
}

/// The decoder and the pictures of a session.
struct SessionWork<Order: PictureOrder> {
    var decoder: (any ImageDecoder)?
    var targets: [PictureInMaking<Order>] = []
    /// Whether the decoder has reported that the picture is complete.
    var isComplete = false
}

/// The shares of budgets that a session holds, and the resources that it waits for.
struct SessionHold {
    var memory: Int?
    /// The parked share while there are no bytes to decode; see ``Admission/park(_:_:_:)``.
    var parked: Int?
    /// True if other decodes took its memory, or if the coder needs all bytes: the session then decodes all at once
    /// when they have arrived.
    var waitsForEnd = false
    /// Whether the session waits because the coder needs all bytes.
    var whole = WholeFileWait.notNeeded
    /// True if there was no memory for the plan: the decoder then ends, and starts again when there is.
    var waitsForMemory = false
    /// True if the plan needs a decoder that gives 16 bits a channel: the decoder then ends, and another one starts.
    var needsDeepDecoder = false
    /// The thread on which the session runs.
    var place = SessionPlace.ofDecoder
    var turn = LongDecodeTurn.notNeeded
    var needsVectorTurn = false
}

/// The wait of a coder that needs all bytes at once.
enum WholeFileWait {
    case notNeeded
    /// The wait is about to begin.
    case asked
    case waited
}

/// The thread that a session runs on.
enum SessionPlace {
    /// A thread of its executor.
    case ofDecoder
    /// The thread of the calling task, for small pictures.
    case ofCaller
    /// The picture was too much for the calling task: the session starts again on a decoding thread.
    case tooLargeForCaller
}

/// How long a session has worked, and when it shows previews.
struct SessionPace {
    var meter: DecodeMeter
    var previews = PreviewPace()
}
