import NIOCore
import ServerConfiguration

/// Decides when a client has taken too long. It is told what happens on a connection, and says when it must be asked again.
struct ConnectionDeadlines {
    struct Limits: Sendable {
        /// For a whole request, from its first byte; of a new connection from its start.
        var request = TimeAmount.seconds(10)
        /// Between an answer and the first byte of the next request.
        var idle = TimeAmount.seconds(10)
        /// For how long a client may read nothing while an answer waits for it.
        var reading = TimeAmount.seconds(10)
        /// Bytes a second that a client must read in the long run.
        var readingRate = 16 << 10
    }

    enum Verdict: Equatable {
        case open, slowRequest, idle, slowReader, broken
    }

    private let limits: Limits
    /// Since when the client is expected to send a request, or the rest of one.
    private var turnBegan: NIODeadline
    private var isRequestPartial = true
    private(set) var requestsInProgress = 0
    private var reader: Reader?
    /// Parts of answers that wait until the client takes them, and since when it has taken none.
    private var parts = (waiting: 0, since: NIODeadline.distantFuture)
    private var isMultiplexed = false
    private var end: NIODeadline?

    init(_ limits: Limits, now: NIODeadline) {
        self.limits = limits
        turnBegan = now
    }

    /// Bytes of a request have come.
    mutating func receivedBytes(now: NIODeadline) {
        guard !isRequestPartial, !isMultiplexed else { return }
        isRequestPartial = true
        if requestsInProgress == 0 { turnBegan = now }
    }

    mutating func requestBegan() { requestsInProgress += 1 }

    mutating func requestEnded() { isRequestPartial = false }

    /// From here on bytes do not begin a request, nor is a client idle that asks for nothing: only a first request is waited for.
    mutating func becomesMultiplexed() { isMultiplexed = true }

    /// The connection is of no more use: what runs has the time of a reader to come to its end.
    mutating func breaks(now: NIODeadline) { end = min(end ?? .distantFuture, now + limits.reading) }

    /// How many parts of answers wait.
    var waitingParts: Int { parts.waiting }

    /// A part of an answer waits until the client has room for it.
    mutating func partWaits(now: NIODeadline) {
        if parts.waiting == 0 { parts.since = now }
        parts.waiting += 1
    }

    /// The client has taken a part, or wants it no more.
    mutating func partWent(now: NIODeadline) {
        parts.waiting -= 1
        parts.since = now
    }

    /// The end of an answer has been written. One answer, to what is no request at all, has no beginning.
    mutating func answered(now: NIODeadline) {
        requestsInProgress = max(requestsInProgress - 1, 0)
        if requestsInProgress == 0 { turnBegan = now }
    }

    /// Whether the client is known to keep bytes of an answer waiting.
    var isReaderAwaited: Bool { reader != nil }

    /// Bytes of an answer wait until the client has read others.
    ///
    /// - Parameter progress: how many bytes the client has ever taken.
    mutating func readerIsAwaited(progress: UInt64, now: NIODeadline) {
        reader = Reader(deadline: now + limits.reading, progress: progress)
    }

    mutating func readerCaughtUp() { reader = nil }

    /// When a verdict is wanted; nil: not before something else happens.
    var nextCheck: NIODeadline? {
        guard let end else { return nextTurn }
        return min(end, nextTurn ?? end)
    }

    private var nextTurn: NIODeadline? {
        if let reader { return reader.deadline }
        if let partDeadline { return partDeadline }
        guard requestsInProgress == 0 else { return nil }
        if isRequestPartial { return turnBegan + limits.request }
        return isMultiplexed ? nil : turnBegan + limits.idle
    }

    private var partDeadline: NIODeadline? { parts.waiting > 0 ? parts.since + limits.reading : nil }

    /// - Parameter progress: how many bytes the client has ever taken. It counts only while a reader is awaited.
    mutating func verdict(progress: UInt64, now: NIODeadline) -> Verdict {
        if let end, end <= now { return .broken }
        if let reader {
            self.reader = reader.after(progress, now: now, limits)
            return self.reader == nil ? .slowReader : .open
        }
        guard let nextTurn, nextTurn <= now else { return .open }
        if partDeadline != nil { return .slowReader }
        return isRequestPartial ? .slowRequest : .idle
    }

    /// A client that an answer waits for. What it reads earns it time, so that reading in spurts is not taken for reading slowly.
    private struct Reader {
        var deadline: NIODeadline
        var progress: UInt64

        /// - Returns: nil when its time is over.
        func after(_ newProgress: UInt64, now: NIODeadline, _ limits: Limits) -> Reader? {
            guard deadline <= now else { return self }
            guard newProgress > progress else { return nil }
            let seconds = Double(newProgress - progress) / Double(limits.readingRate)
            // An hour is longer than any limit.
            let earned = TimeAmount.nanoseconds(Int64(min(seconds, 3600) * 1_000_000_000))
            let extended = min(deadline + earned, now + limits.reading)
            return extended > now ? Reader(deadline: extended, progress: newProgress) : nil
        }
    }
}

extension ConnectionDeadlines.Limits {
    init(_ settings: ServerSettings) {
        request = TimeAmount(settings.readRequestTimeout)
        // The first request is waited for also where there is no second one.
        idle = TimeAmount(settings.keepAliveTimeout > .zero ? settings.keepAliveTimeout : settings.readRequestTimeout)
        reading = TimeAmount(settings.writeResponseTimeout)
    }
}
