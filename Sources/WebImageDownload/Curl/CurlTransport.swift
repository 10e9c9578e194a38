/// HTTP/1.1 and HTTP/2 over libcurl: one multi handle on one thread of its own, which sleeps when nothing moves.
///
/// Connections are kept and used again. `http_proxy` and its relatives in the environment are honoured, as curl does.
/// Bytes come as the origin sent them (`identity`): pictures do not shrink, and a compressed one could explode.
public final class CurlTransport: HTTPTransport {
    public struct Settings: Sendable {
        /// Connections kept open while nobody uses them. Default 64.
        public var maxIdleConnections = 64
        /// A file with the certificate authorities to trust, in PEM; nil (the default) for the system's.
        public var certificateBundle: String?

        public init() {}
    }

    private let loop: CurlLoop

    public init(settings: Settings = Settings()) { loop = CurlLoop(settings: settings) }

    deinit { loop.post(.stop) }

    public func start(_ request: TransportRequest, receiver: any TransportReceiver) -> any TransportTransfer {
        let transfer = CurlTransfer(request, receiver: receiver, loop: loop)
        loop.post(.add(transfer))
        return transfer
    }

    public func shutDown() { loop.post(.stop) }
}
