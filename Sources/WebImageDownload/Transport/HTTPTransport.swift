public import WebImageCore

/// An HTTP client that delivers the answer to a request to a receiver, piece by piece as it arrives.
///
/// It follows no redirects, has no deadlines, retries nothing and caches nothing: the downloader does all this. Every
/// implementation must pass the conformance suite of the tests, and must be safe to use from any thread.
public protocol HTTPTransport: Sendable {
    /// Begins a transfer. The receiver is retained until its `didFinish`, which is called exactly once, also after a
    /// cancellation or when the transport has been shut down (then possibly before this call returns).
    func start(_ request: TransportRequest, receiver: any TransportReceiver) -> any TransportTransfer

    /// Ends every transfer, running or yet to start, with ``/WebImageCore/WebImageError/Code-swift.struct/shutDown``.
    func shutDown()
}

/// A transfer that was started. Its methods may be called from any thread, also from the receiver's callbacks, and do
/// nothing once the transfer has finished.
public protocol TransportTransfer: AnyObject, Sendable {
    /// Ends the transfer; `didFinish` follows with ``/WebImageCore/WebImageError/Code-swift.struct/cancelled``.
    func cancel()
    /// Pauses the delivery of bytes until ``resume()``. A piece that is already on its way may still arrive.
    func pause()
    /// Continues after ``pause()``, or after a callback returned `.pause`.
    func resume()
}

/// Whether a receiver wants more bytes.
public enum TransportFlow: Sendable {
    case proceed
    /// The bytes were received, but no more are wanted until ``TransportTransfer/resume()``.
    case pause
}

/// Receives an answer. Its methods are called on a thread of the transport, never at the same time for one transfer, in
/// this order: `didConnect`, `didReceive(head:)`, `didReceive(_:)` any number of times, `didFinish`. It must not block.
public protocol TransportReceiver: AnyObject, Sendable {
    /// Called when the connection is established (a new or a reused one), before the request is sent.
    func didConnect()
    /// Called with the head of the final answer, also if there is no body. Interim (1xx) answers are not reported.
    func didReceive(head: ResponseHead)
    /// Called with some bytes of the body, which are only valid during the call.
    func didReceive(_ bytes: UnsafeRawBufferPointer) -> TransportFlow
    /// Called when the transport has delivered all available bytes and is about to wait. Wake other threads here, so
    /// that a burst of pieces costs one wake-up. It follows every run of `didReceive` calls, unless `didFinish` does.
    func didEndBatch()
    /// Called last. Bytes that arrived before a failure are valid.
    func didFinish(_ result: Result<TransportTimings, WebImageError>)
}

/// How long each part of a transfer took, from its start; zero for parts that a reused connection did not need.
public struct TransportTimings: Hashable, Sendable {
    /// Until the host's name was resolved.
    public var nameLookup: Duration = .zero
    /// Until the connection was established.
    public var connect: Duration = .zero
    /// Until the TLS handshake was done.
    public var secure: Duration = .zero
    /// Until the first byte of the answer.
    public var firstByte: Duration = .zero
    /// Until the end of the transfer.
    public var total: Duration = .zero
    /// True if the connection was reused.
    public var isReused = false
    /// Bytes of the body, as delivered.
    public var bodyBytes = 0

    public init() {}
}
