#if TLS
    import Logging
    import NIOPosix
    import NIOSSL
    import ServerConfiguration
    import ServiceLifecycle
    import Synchronization

    /// The server's certificate and its key, read from files, and again when these have changed. Any thread may use it.
    final class ServerCertificate: Sendable {
        private struct Loaded {
            let chain: [NIOSSLCertificate]
            let key: NIOSSLPrivateKey
            let context: NIOSSLContext

            init(_ files: ServerSettings.Certificate) throws(SettingsError) {
                do {
                    chain = try NIOSSLCertificate.fromPEMFile(files.chain)
                    key = try NIOSSLPrivateKey(file: files.key, format: .pem)
                    var settings = TLSConfiguration.makeServerConfiguration(
                        certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
                    settings.minimumTLSVersion = .tlsv12
                    settings.applicationProtocols = ["h2", "http/1.1"]
                    context = try NIOSSLContext(configuration: settings)
                } catch {
                    throw SettingsError(problems: [
                        "WEBIMAGE_TLS_CERTIFICATE (\(files.chain)) and WEBIMAGE_TLS_KEY (\(files.key)) are not a certificate and its "
                            + "key, as PEM: \(error)"
                    ])
                }
            }
        }

        private let files: ServerSettings.Certificate
        private let loaded: Mutex<Loaded>

        init(_ files: ServerSettings.Certificate) throws(SettingsError) {
            self.files = files
            loaded = Mutex(try Loaded(files))
        }

        /// Makes the TLS handler of a new connection, which must be the first one.
        func handler() -> NIOSSLServerHandler { NIOSSLServerHandler(context: loaded.withLock { $0.context }) }

        /// Reads the files again. Existing connections keep the certificate that they began with.
        ///
        /// - Returns: whether the files have changed.
        /// - Throws: if they are not a certificate and its key. The previous certificate stays.
        func renew() async throws -> Bool {
            let new = try await NIOThreadPool.singleton.runIfActive { [files] in try Loaded(files) }
            return loaded.withLock { loaded in
                guard new.chain != loaded.chain || new.key != loaded.key else { return false }
                loaded = new
                return true
            }
        }
    }

    /// Loads a certificate that has replaced the old one.
    struct CertificateService: Service {
        /// Certificates are renewed days before they expire.
        private static let pause = Duration.seconds(60)

        let certificate: ServerCertificate
        let logger: Logger

        func run() async throws {
            await cancelWhenGracefulShutdown {
                // Sleeping fails when the server stops.
                while (try? await Task.sleep(for: Self.pause)) != nil {
                    do {
                        if try await certificate.renew() { logger.notice("the certificate was renewed") }
                    } catch {
                        logger.warning("the certificate cannot be read anew", metadata: ["error": "\(error)"])
                    }
                }
            }
        }
    }
#endif
