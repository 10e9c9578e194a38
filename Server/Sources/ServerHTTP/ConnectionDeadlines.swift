import NIOCore
import ServerConfiguration

/// Decides when a client has taken too long. It is told the events of a connection, and returns when to check again.
struct ConnectionDeadlines {
    struct Limits: Sendable {
        /// The time for a whole request from its first byte, or on a new connection from the connection's start.
        var request = TimeAmount.seconds(10)
        /// The time between an answer and the first byte of the next request.
        var idle = TimeAmount.seconds(10)
        /// How long a client may read nothing while an answer is waiting for it.
        var reading = TimeAmount.seconds(10)
        /// The number of bytes that a client must read per second on average.
        var readingRate = 16 << 10
    }

    enum Verdict: Equatable {
        case open, slowRequest, idle, slowReader, broken
    }

    private let limits: Limits
    /// When the client was first expected to send a request, or the rest of one.
    private var turnBegan: NIODeadline
    private var isRequestPartial = true
    private(set) var requestsInProgress = 0
    private var reader: Reader?
    /// How many parts of answers wait for the client, and when it last took one.
    private var parts = (waiting: 0, since: NIODeadline.distantFuture)
    private var isMultiplexed = false
    private var isLeaving = false
    private var end: NIODeadline?

    init(_ limits: Limits, now: NIODeadline) {
        self.limits = limits
        turnBegan = now
    }

    /// Called when bytes of a request arrive.
    mutating func receivedBytes(now: NIODeadline) {
        guard !isRequestPartial, !isMultiplexed else { return }
        isRequestPartial = true
        if requestsInProgress == 0 { turnBegan = now }
    }

    mutating func requestBegan() { requestsInProgress += 1 }

    mutating func requestEnded() { isRequestPartial = false }

    /// From now on, incoming bytes do not mean that a request begins: only the first request has a deadline. Another
    /// handler asks idle clients to leave, and those that do not are closed here.
    mutating func becomesMultiplexed() { isMultiplexed = true }

    /// Called when the server stops and has told the client so.
    mutating func leaves(now: NIODeadline) {
        isLeaving = true
        if requestsInProgress == 0 { turnBegan = now }
    }

    /// Called when the connection is no longer usable. Answers in progress may take until ``Limits/reading`` has
    /// passed.
    mutating func breaks(now: NIODeadline) { end = min(end ?? .distantFuture, now + limits.reading) }

    /// How many parts of answers are waiting.
    var waitingParts: Int { parts.waiting }

    /// Called when a part of an answer waits for room at the client.
    mutating func partWaits(now: NIODeadline) {
        if parts.waiting == 0 { parts.since = now }
        parts.waiting += 1
    }

    /// Called when the client has taken a part, or no longer wants it.
    mutating func partWent(now: NIODeadline) {
        parts.waiting -= 1
        parts.since = now
        if requestsInProgress == 0 { turnBegan = now }
    }

    /// Called when the end of an answer has been written. An answer to an unparsable request has no matching beginning.
    mutating func answered(now: NIODeadline) {
        requestsInProgress = max(requestsInProgress - 1, 0)
        if requestsInProgress == 0 { turnBegan = now }
    }

    /// Whether bytes of an answer are known to wait for the client.
    var isReaderAwaited: Bool { reader != nil }

    /// Called when bytes of an answer wait until the client has read earlier ones.
    ///
    /// - Parameter progress: how many bytes the client has taken in all.
    mutating func readerIsAwaited(progress: UInt64, now: NIODeadline) {
        reader = Reader(deadline: now + limits.reading, progress: progress)
    }

    mutating func readerCaughtUp() { reader = nil }

    /// When to ask for the next verdict; nil: not before another event.
    var nextCheck: NIODeadline? {
        guard let end else { return nextTurn }
        return min(end, nextTurn ?? end)
    }

    private var nextTurn: NIODeadline? {
        if let reader { return reader.deadline }
        if let partDeadline { return partDeadline }
        guard requestsInProgress == 0 else { return nil }
        if isRequestPartial { return turnBegan + limits.request }
        guard isMultiplexed else { return turnBegan + limits.idle }
        // The client gets the reading time to confirm that it knows that the server leaves: a client that has vanished
        // would never confirm it.
        return turnBegan + (isLeaving ? .zero : limits.idle) + limits.reading
    }

    private var partDeadline: NIODeadline? { parts.waiting > 0 ? parts.since + limits.reading : nil }

    /// - Parameter progress: how many bytes the client has taken in all. Used only while a reader is awaited.
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

    /// A client for which an answer waits. Reading earns it time, so that a client that reads in bursts does not count
    /// as slow.
    private struct Reader {
        var deadline: NIODeadline
        var progress: UInt64

        /// - Returns: nil if its time is over.
        func after(_ newProgress: UInt64, now: NIODeadline, _ limits: Limits) -> Reader? {
            guard deadline <= now else { return self }
            guard newProgress > progress else { return nil }
            let seconds = Double(newProgress - progress) / Double(limits.readingRate)
            // One hour is longer than any limit.
            let earned = TimeAmount.nanoseconds(Int64(min(seconds, 3600) * 1_000_000_000))
            let extended = min(deadline + earned, now + limits.reading)
            return extended > now ? Reader(deadline: extended, progress: newProgress) : nil
        }
    }
}

extension ConnectionDeadlines.Limits {
    init(_ settings: ServerSettings) {
        request = TimeAmount(settings.readRequestTimeout)
        // The first request has a deadline also if connections are not kept alive.
        idle = TimeAmount(settings.keepAliveTimeout > .zero ? settings.keepAliveTimeout : settings.readRequestTimeout)
        reading = TimeAmount(settings.writeResponseTimeout)
    }
}
