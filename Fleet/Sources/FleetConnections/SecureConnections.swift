public import NIOCore

/// Why connections cannot be made secure.
public struct SecureConnectionError: Error, CustomStringConvertible {
    public let description: String
}

#if TLS
    import NIOSSL

    /// Makes TLS connections: the server's certificate is verified, including its name.
    public final class SecureConnections: Sendable {
        private let context: NIOSSLContext
        private let host: String?

        /// - Parameters:
        ///   - host: the name, or the address, that the certificate is for.
        ///   - certificateAuthorities: the path of a PEM file with the certificates of the trusted authorities; nil:
        ///     the system's authorities.
        public init(to host: String, certificateAuthorities: String?) throws(SecureConnectionError) {
            var settings = TLSConfiguration.makeClientConfiguration()
            settings.minimumTLSVersion = .tlsv12
            if let certificateAuthorities { settings.trustRoots = .file(certificateAuthorities) }
            do {
                context = try NIOSSLContext(configuration: settings)
            } catch {
                throw SecureConnectionError(description: "the certificates cannot be read: \(error)")
            }
            // An address is not sent as a server name, but it is verified against the certificate.
            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
            self.host = isAddress ? nil : host
        }

        /// The handler that must be the first in each connection's pipeline.
        public func handler() throws -> any ChannelHandler {
            try NIOSSLClientHandler(context: context, serverHostname: host)
        }

        /// Whether an error of a connection means that the handshake failed, or that the certificate is not trusted.
        public static func isHandshakeFailure(_ error: any Error) -> Bool {
            if case .handshakeFailed? = error as? NIOSSLError { return true }
            return error is NIOSSLExtraError
        }
    }
#else
    /// The substitute if TLS is not built in.
    public final class SecureConnections: Sendable {
        public init(to host: String, certificateAuthorities: String?) throws(SecureConnectionError) {
            throw SecureConnectionError(description: "this program was built without TLS (the package's trait TLS)")
        }

        public func handler() throws -> any ChannelHandler {
            throw SecureConnectionError(description: "TLS is not built in")
        }

        public static func isHandshakeFailure(_ error: any Error) -> Bool { false }
    }
#endif
