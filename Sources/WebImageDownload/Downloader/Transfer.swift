package import HTTPTypes
import WebImageCore

/// One transfer of bytes from a source into a log, for all its callers.
protocol Transfer: AnyObject, Sendable {
    var id: TransferQueue.ID { get }
    var log: ByteLog { get }
    var metrics: TransferMetrics? { get }
    var exchange: DownloadExchange? { get }
    /// How urgent it now is to the most urgent of its callers. Called under a lock.
    func note(_ priority: LoadPriority)
    /// A slot is there. May be called again after a redirect to another host or a failure; does nothing when it is no
    /// longer needed.
    func begin()
    /// Ends it with `error`, at once for its readers.
    func fail(_ error: WebImageError)
    /// What may be due while it waits for a slot.
    var firstDeadline: Duration? { get }
    /// Looks at the deadlines and returns the next one.
    func expire(at now: Duration) -> Duration?
}

extension Transfer {
    /// Nobody but we looks at the priority.
    func note(_ priority: LoadPriority) {}

    var firstDeadline: Duration? { nil }
}

/// The metrics of a transfer that has ended.
public struct TransferMetrics: Sendable {
    /// Waiting for a slot before the first request.
    public var queued: Duration = .zero
    /// The timings of the last request, if it succeeded.
    public var timings: TransportTimings?
    /// The time from the request to the end.
    public var total: Duration = .zero
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

/// The request and the answer that a body came by, for those who must judge how long it may be kept (RFC 9111).
package struct DownloadExchange: Sendable {
    /// Of the last hop, without user, password and fragment.
    package var url: String
    /// The fields that were sent. May hold credentials: not for logs.
    package var requestFields: HTTPFields
    /// When the request was sent and when the head came, in seconds since 1970 by the downloader's clock.
    package var requestTime: Int64
    package var responseTime: Int64
    package var head: ResponseHead
    /// The answers that redirected on the way.
    package var redirects: [ResponseHead]
    /// What was sent on the way, so that it can be told later who may have the answer.
    package var hops: [SentHop]

    /// When and where the head came, as the rules of HTTP caching want it.
    package var arrival: CacheExchange.Arrival {
        CacheExchange.Arrival(
            requestTime: requestTime, responseTime: responseTime, place: String(url.prefix { $0 != "?" }),
            redirects: redirects, hops: hops)
    }
}

/// What a transfer tells of itself, and asks.
protocol TransferOwner: AnyObject, Sendable {
    /// Nobody may join it any longer.
    func transferWillEnd(_ id: TransferQueue.ID)
    /// It is over and gives up its slot.
    func transferDidEnd(_ id: TransferQueue.ID)
    /// It needs a slot at another host; `begin` follows.
    func transfer(_ id: TransferQueue.ID, movesTo host: String)
    /// It gives up its slot until then; ``transfer(_:movesTo:)`` follows, or the end.
    func transferRests(_ id: TransferQueue.ID, until end: Duration)
    /// It crawls, or does so no longer; may be told again and again.
    func transfer(_ id: TransferQueue.ID, isSlow: Bool)
    /// Something may be due then.
    func transferExpects(deadline: Duration?)
    /// Whether the host may be asked now. An outcome must be told for each time that it was.
    func admits(host: String) -> Bool
    func note(_ outcome: CircuitBreaker.Outcome, of host: String)
}
