public import WebImageCore

/// An HTTP client that moves one request's answer to a receiver, piece by piece as it arrives.
///
/// It follows no redirects, knows no deadlines, retries nothing and caches nothing: those are the downloader's. Every
/// implementation passes the conformance suite of the tests. Safe to use from any thread.
public protocol HTTPTransport: Sendable {
    /// Begins a transfer. The receiver is held until its `didFinish`, which comes exactly once, also after a cancel or
    /// when the transport has been shut down (then perhaps before this call returns).
    func start(_ request: TransportRequest, receiver: any TransportReceiver) -> any TransportTransfer

    /// Ends every transfer, running or yet to start, with ``/WebImageCore/WebImageError/Code-swift.struct/shutDown``.
    func shutDown()
}

/// A transfer that was started. All of it may be called from any thread, also from the receiver's callbacks, and does
/// nothing once the transfer has finished.
public protocol TransportTransfer: AnyObject, Sendable {
    /// Ends the transfer; `didFinish` follows with ``/WebImageCore/WebImageError/Code-swift.struct/cancelled``.
    func cancel()
    /// Asks for no more bytes until ``resume()``. A piece that is on its way may still come.
    func pause()
    /// Takes back ``pause()``, or the `.pause` that a callback returned.
    func resume()
}

/// Whether a receiver wants more.
public enum TransportFlow: Sendable {
    case proceed
    /// The bytes were taken, but no more are wanted until ``TransportTransfer/resume()``.
    case pause
}

/// Where an answer goes. Called on a thread of the transport, never twice at once for one transfer, in this order:
/// `didConnect`, `didReceive(head:)`, `didReceive(_:)` any number of times, `didFinish`. It must not block.
public protocol TransportReceiver: AnyObject, Sendable {
    /// The connection stands (a new one, or one that is used again) and the request is about to be sent.
    func didConnect()
    /// The final answer's head; interim (1xx) answers are not told. Comes also when there is no body.
    func didReceive(head: ResponseHead)
    /// Some bytes of the body. They are only valid during the call.
    func didReceive(_ bytes: UnsafeRawBufferPointer) -> TransportFlow
    /// The transport has delivered what there is and is about to wait: the moment to wake other threads, so that a
    /// burst of pieces costs one wake-up. Comes after every run of `didReceive` calls that `didFinish` does not follow.
    func didEndBatch()
    /// The last call. Bytes that came before a failure were good.
    func didFinish(_ result: Result<TransportTimings, WebImageError>)
}

/// How long each part of a transfer took, from its start; zero for parts that a re-used connection did not need.
public struct TransportTimings: Hashable, Sendable {
    /// Until the host's name was resolved.
    public var nameLookup: Duration = .zero
    /// Until the connection stood.
    public var connect: Duration = .zero
    /// Until the TLS handshake was done.
    public var secure: Duration = .zero
    /// Until the first byte of the answer.
    public var firstByte: Duration = .zero
    public var total: Duration = .zero
    /// True when the connection was there already.
    public var isReused = false
    /// Bytes of the body, as delivered.
    public var bodyBytes = 0

    public init() {}
}
