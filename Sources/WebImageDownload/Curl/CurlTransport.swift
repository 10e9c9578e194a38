/// HTTP/1.1 and HTTP/2 over libcurl: one multi handle on a thread of its own, which sleeps when there is nothing to do.
///
/// Connections are kept and reused. Like curl, it obeys `http_proxy` and the similar environment variables. Bodies are
/// requested without compression (`identity`): pictures would hardly shrink, and a compressed body could be a
/// decompression bomb.
public final class CurlTransport: HTTPTransport {
    /// The settings of a transport.
    public struct Settings: Sendable {
        /// How many unused connections are kept open. Default 64.
        public var maxIdleConnections = 64
        /// A file with the certificate authorities to trust, in PEM; nil (the default) for the system's.
        public var certificateBundle: String?

        public init() {}
    }

    private let loop: CurlLoop

    /// Makes a transport, with a thread that ends when the transport is released or shut down.
    public init(settings: Settings = Settings()) { loop = CurlLoop(settings: settings) }

    deinit { loop.post(.stop) }

    public func start(_ request: TransportRequest, receiver: any TransportReceiver) -> any TransportTransfer {
        let transfer = CurlTransfer(request, receiver: receiver, loop: loop)
        loop.post(.add(transfer))
        return transfer
    }

    public func shutDown() { loop.post(.stop) }
}
