#if TLS
    import Logging
    import NIOPosix
    import NIOSSL
    import ServerConfiguration
    import ServiceLifecycle
    import Synchronization

    /// The certificate by which the server is known, and its key, read from files; anew when these have changed. Any thread may use it.
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
                        "\(files.chain) and \(files.key) are not a certificate and its key, as PEM: \(error)"
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

        /// Of a new connection, where it stands first.
        func handler() -> NIOSSLServerHandler { NIOSSLServerHandler(context: loaded.withLock { $0.context }) }

        /// Reads the files again. Connections that there are keep what they were made with.
        ///
        /// - Returns: whether they have changed.
        /// - Throws: when they are no certificate and its key. What was read before stays.
        func renew() async throws -> Bool {
            let new = try await NIOThreadPool.singleton.runIfActive { [files] in try Loaded(files) }
            return loaded.withLock { loaded in
                guard new.chain != loaded.chain || new.key != loaded.key else { return false }
                loaded = new
                return true
            }
        }
    }

    /// Takes a certificate over that was put in the place of the old one.
    struct CertificateService: Service {
        /// Certificates are renewed days before they run out.
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
