import WebImageCore

/// One run of bytes from a source into a log, whoever wants them.
protocol Transfer: AnyObject, Sendable {
    var id: TransferQueue.ID { get }
    var log: ByteLog { get }
    var metrics: TransferMetrics? { get }
    /// A slot is there. May be called again after a redirect to another host; does nothing when it is no longer needed.
    func begin()
    /// Ends it with `error`, at once for its readers.
    func fail(_ error: WebImageError)
    /// Looks at the deadlines and returns the next one.
    func expire(at now: Duration) -> Duration?
}

/// What a transfer cost; there once it has ended.
public struct TransferMetrics: Sendable {
    /// Waiting for a slot before the first request.
    public var queued: Duration = .zero
    /// Of the last request, when it went well.
    public var timings: TransportTimings?
    public var redirects = 0
    /// The URL that answered in the end, without user, password and fragment.
    public var finalURL = ""

    public init() {}
}

/// What a transfer tells of itself.
protocol TransferOwner: AnyObject, Sendable {
    /// Nobody may join it any longer.
    func transferWillEnd(_ id: TransferQueue.ID)
    /// It is over and gives up its slot.
    func transferDidEnd(_ id: TransferQueue.ID)
    /// It needs a slot at another host; `begin` follows.
    func transfer(_ id: TransferQueue.ID, movesTo host: String)
    /// Something may be due then.
    func transferExpects(deadline: Duration?)
}
