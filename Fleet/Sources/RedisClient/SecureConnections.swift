import NIOCore

#if TLS
    import NIOSSL

    /// Makes connections secure: the server's certificate is checked, also its name.
    final class SecureConnections: Sendable {
        private let context: NIOSSLContext
        private let host: String?

        /// - Returns: nil where the configuration asks for no TLS.
        init?(_ configuration: RedisConfiguration) throws(RedisError) {
            guard configuration.usesTLS, case .tcp(let host, _) = configuration.address else { return nil }
            var settings = TLSConfiguration.makeClientConfiguration()
            settings.minimumTLSVersion = .tlsv12
            if let file = configuration.certificateAuthorities { settings.trustRoots = .file(file) }
            do {
                context = try NIOSSLContext(configuration: settings)
            } catch {
                throw .configuration("the certificates for Redis cannot be read: \(error)")
            }
            // An address has no name to send; it is checked against the certificate all the same.
            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
            self.host = isAddress ? nil : host
        }

        func handler() throws -> NIOSSLClientHandler {
            try NIOSSLClientHandler(context: context, serverHostname: host)
        }
    }
#else
    /// What stands where TLS is not built in.
    final class SecureConnections: Sendable {
        init?(_ configuration: RedisConfiguration) throws(RedisError) {
            guard configuration.usesTLS else { return nil }
            throw .configuration("rediss:// needs the trait TLS, which is not built in")
        }

        func handler() throws -> any ChannelHandler { throw RedisError.closed }
    }
#endif
