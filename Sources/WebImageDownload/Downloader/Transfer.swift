package import HTTPTypes
import WebImageCore

/// One transfer of bytes from a source into a log, for all its callers.
protocol Transfer: AnyObject, Sendable {
    var id: TransferQueue.ID { get }
    var log: ByteLog { get }
    var metrics: TransferMetrics? { get }
    var exchange: DownloadExchange? { get }
    /// Sets the highest priority of its callers. Called under a lock.
    func note(_ priority: LoadPriority)
    /// Ends a pause by the ``TransferBrake`` if the priority is too high for it now. Called without locks held.
    func resumeIfUrgent()
    /// Called when there is a slot. May be called again after a redirect to another host or a failure; does nothing if
    /// it is no longer needed.
    func begin()
    /// Ends the transfer with `error`, which its readers see at once.
    func fail(_ error: WebImageError)
    /// The first deadline while it waits for a slot.
    var firstDeadline: Duration? { get }
    /// Checks the deadlines and returns the next one.
    func expire(at now: Duration) -> Duration?
}

extension Transfer {
    /// Transfers of files and `data:` URLs get their priority when they are made.
    func note(_ priority: LoadPriority) {}

    /// Transfers of files and `data:` URLs are never paused by the brake.
    func resumeIfUrgent() {}

    var firstDeadline: Duration? { nil }
}

/// The metrics of a transfer that has ended.
public struct TransferMetrics: Sendable {
    /// The wait for a slot before the first request.
    public var queued: Duration = .zero
    /// The timings of the last request, if it succeeded.
    public var timings: TransportTimings?
    /// The time from the request to the end.
    public var total: Duration = .zero
    /// The number of redirects that were followed.
    public var redirects = 0
    /// The number of failed attempts before the last one.
    public var retries = 0
    /// Bytes of the body that a retry did not have to load again.
    public var resumedBytes = 0
    /// Bytes of the body that came over the network, in all attempts.
    public var receivedBytes = 0
    /// The status of the last answer; nil when there was none.
    public var status: Int?
    /// The protocol of the last answer.
    public var version: ResponseHead.Version?
    /// The numeric address that the last answer came from.
    public var remoteAddress: String?
    /// The URL that answered in the end, without user, password and fragment.
    public var finalURL = ""

    public init() {}
}

/// The request and the answer of a body, to decide how long it may be stored (RFC 9111).
package struct DownloadExchange: Sendable {
    /// The URL of the last hop, without user, password and fragment.
    package var url: String
    /// The fields that were sent. They may hold credentials, so they must not be logged.
    package var requestFields: HTTPFields
    /// When the request was sent and when the head arrived, in seconds since 1970 by the downloader's clock.
    package var requestTime: Int64
    package var responseTime: Int64
    package var head: ResponseHead
    /// The redirects on the way.
    package var redirects: [ResponseHead]
    /// The requests that were sent on the way, to determine later who may use the answer.
    package var hops: [SentHop]

    /// When and where the head arrived, for the rules of HTTP caching.
    package var arrival: CacheExchange.Arrival {
        CacheExchange.Arrival(
            requestTime: requestTime, responseTime: responseTime, place: url.withoutQuery, redirects: redirects,
            hops: hops)
    }
}

/// Receives a transfer's events, and answers its questions.
protocol TransferOwner: AnyObject, Sendable {
    /// The transfer can no longer be joined.
    func transferWillEnd(_ id: TransferQueue.ID)
    /// The transfer has ended and gives up its slot.
    func transferDidEnd(_ id: TransferQueue.ID)
    /// The transfer needs a slot at another host; `begin` follows.
    func transfer(_ id: TransferQueue.ID, movesTo host: String)
    /// The transfer gives up its slot until `end`; ``transfer(_:movesTo:)`` follows, or the end.
    func transferWaits(_ id: TransferQueue.ID, until end: Duration)
    /// The transfer has become slow, or is no longer slow. May be called again with the same value.
    func transfer(_ id: TransferQueue.ID, isSlow: Bool)
    /// The transfer must be checked at `deadline`.
    func transferExpects(deadline: Duration?)
    /// Whether requests may be sent to the host now. After each true, an outcome must be reported.
    func admits(host: String) -> Bool
    func note(_ outcome: CircuitBreaker.Outcome, of host: String)
}
