import UnixSignals
import HummingbirdCore
import Hummingbird
public import Logging
import NIOCore
import NIOPosix
public import ServerConfiguration
import ServerGrammar
import ServerImages
public import ServerTracing
import S3Tier
import ServiceLifecycle
public import WebImage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The whole server: it is made from its settings, and runs until it is stopped.
public struct ImageServer: Sendable {
    private let settings: ServerSettings
    let endpoint: ImageEndpoint
    private let manager: ImageManager
    private let cache: ResultCache
    private let storage: SharedResults?
    private let originals: S3Tier?
    private let purging: Purging
    private let state: ServerState
    private let logger: Logger
    private let spans: SpanExporter?
    #if TLS
        private let certificate: ServerCertificate?
    #endif

    /// The tracer of the process, which passes spans to the server; nil if the settings enable no tracing. Install it
    /// with `InstrumentationSystem.bootstrap` before the server runs.
    public var tracer: OTLPTracer? {
        guard let spans, let tracing = settings.tracing else { return nil }
        return OTLPTracer(tracing) { spans.take($0) }
    }

    /// Looks at the files that the settings name, without creating any.
    ///
    /// - Returns: the directories that the server could not use, as sentences. It works without them.
    /// - Throws: if the certificate cannot be loaded.
    public static func warnings(of settings: ServerSettings) throws(SettingsError) -> [String] {
        #if TLS
            if let files = settings.certificate { _ = try ServerCertificate(files) }
        #endif
        try ConfiguredPictures.check(settings)
        return ManagerMaking.directoryProblems(settings)
    }

    /// - Parameters:
    ///   - settings: the checked settings.
    ///   - now: returns seconds since 1970.
    /// - Throws: if a configured picture, or the certificate, cannot be loaded.
    public init(
        settings: ServerSettings, coders: CoderRegistry = .standard, now: @escaping @Sendable () -> Int, logger: Logger
    ) async throws {
        self.settings = settings
        self.logger = logger
        spans = settings.tracing.map { SpanExporting.exporter($0, logger) }
        #if TLS
            certificate = try settings.certificate.map(ServerCertificate.init)
        #endif
        ManagerMaking.checkDirectories(settings, logger)
        let threads = settings.workers > 0 ? settings.workers : ManagerMaking.cores * (settings.isCompatible ? 2 : 1)
        let fleetMaking = FleetMaking(settings: settings, logger: logger)
        originals = try fleetMaking.originals()
        manager = ManagerMaking(settings, threads: threads, logger: logger)
            .manager(coders, tiers: originals.map { [$0] } ?? [])
        storage = try fleetMaking.storage()
        let isolation = await manager.prewarmDecoders()
        if isolation.state == .unavailable, !settings.decodesWithoutSandbox {
            throw WebImageError(
                .decoderUnavailable,
                "there is no sandbox for decoders (\(isolation.reason ?? "")); WEBIMAGE_WITHOUT_SANDBOX=decode decodes pictures "
                    + "in the server's own process")
        }
        purging = Purging(
            fleet: try fleetMaking.fleet(),
            file: ManagerMaking.purgeFile(settings, logger), sharesOriginals: originals != nil, now: now,
            onPurge: { [failedURLs = manager.failedURLs] in failedURLs.removeAll() }, logger: logger)
        await purging.restore()
        let pictures = ConfiguredPictures(manager: manager, settings: settings)
        let maker = PictureMaker(
            manager: manager, purging: purging, settings: settings, watermark: try await pictures.watermark(),
            fallback: try await pictures.fallback(), now: now)
        cache = ResultCache(
            memoryLimit: settings.memoryCacheBytes, disk: ManagerMaking.resultDisk(settings, logger), logger: logger)
        let metrics = ServerMetrics()
        let service = ImageService(
            settings: settings, maker: maker, cache: cache, storage: storage, threads: threads, now: now,
            logger: logger,
            onRenewal: { metrics.add(renewed: $0) })
        state = ServerState()
        endpoint = ImageEndpoint(
            settings: settings, service: service, state: state, metrics: metrics, now: now, logger: logger)
    }

    /// Serves until SIGTERM, SIGINT or SIGHUP, or until the task is cancelled, then finishes the running requests.
    ///
    /// - Parameter onListening: called with the port when the server listens.
    public func run(onListening: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
        try await checkSockets()
        let anyHost = await Self.anyHost
        let date = DateField(endpoint.now)
        let memoryAnswers: MemoryAnswers.Make = { [endpoint] hasRoom in
            MemoryAnswers({ endpoint.answerFromMemory($0, from: $1) }, date, hasRoom: hasRoom)
        }
        let images = application(
            ImageResponder(endpoint: endpoint), settings.address.with(host: anyHost), memoryAnswers, secured: secured
        ) { [state] port in
            state.become(.ready)
            onListening(port)
        }
        var services: [any Service] = [
            PicturesService(
                manager: manager, cache: cache, storage: storage, originals: originals, state: state,
                limit: settings.drainDelay + settings.gracefulTimeout, logger: logger)
        ]
        if let spans { services.insert(spans, at: 0) }
        if let address = settings.prometheus {
            services.append(application(MetricsResponder(endpoint: endpoint), address.with(host: anyHost)) { _ in })
        }
        if let address = settings.adminAddress {
            services.append(
                application(AdminResponder(endpoint: AdminEndpoint(endpoint: endpoint)), address.with(host: anyHost)) {
                    _ in
                })
        }
        services.append(TransferCounting(metrics: endpoint.metrics, events: manager.downloader.events))
        if purging.fleet != nil { services.append(FleetService(purging: purging)) }
        #if TLS
            if let certificate { services.append(CertificateService(certificate: certificate, logger: logger)) }
        #endif
        services += [images, ReadinessService(state: state, delay: settings.drainDelay)]
        // Services stop in reverse order: first balancers send no more requests, then connections are refused, then
        // caches are written.
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: Self.endingSignals, logger: logger)
        group.maximumGracefulShutdownDuration = settings.drainDelay + settings.gracefulTimeout + .seconds(1)
        do { try await ServiceGroup(configuration: group).run() } catch {
            let reason: String
            switch error {
            case let error as IOError: reason = String(cString: strerror(error.errnoCode))
            case SocketAddressError.unknown(let host, _): reason = "the host \(host) is not known"
            case SocketAddressError.unixDomainSocketPathTooLong: reason = "the path of the socket is too long"
            case is UnixDomainSocketPathWrongType: reason = "its path is that of a file which is no socket"
            default: throw error
            }
            throw ListenError(
                description: "the server cannot listen at one of \(addresses.joined(separator: ", ")): \(reason)")
        }
    }

    /// The signals that stop the server. SIGHUP, which is sent when a terminal is closed, is one of them unless the
    /// process was started with that signal ignored (`nohup`).
    private static var endingSignals: [UnixSignal] {
        var action = sigaction()
        let isKnown = sigaction(SIGHUP, nil, &action) == 0
        let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return isKnown && handler == unsafeBitCast(SIG_IGN, to: Int.self)
            ? [.sigterm, .sigint] : [.sigterm, .sigint, .sighup]
    }

    /// The addresses that the server listens at, each with its setting.
    private var bindings: [(name: String, address: ServerSettings.Address)] {
        [
            ("IMGPROXY_BIND", settings.address), ("IMGPROXY_PROMETHEUS_BIND", settings.prometheus),
            ("WEBIMAGE_ADMIN_BIND", settings.adminAddress),
        ].compactMap { name, address in address.map { (name, $0) } }
    }

    private var addresses: [String] {
        bindings.map { name, address in
            switch address {
            case .tcp(let host, let port): "\(name) (\(host):\(port))"
            case .unix(let path): "\(name) (\(path))"
            }
        }
    }

    /// Checks that no running server listens at a unix socket. A socket that an earlier process left behind is
    /// replaced, but replacing that of a running server would redirect its clients to this one.
    private func checkSockets() async throws {
        for case (let name, .unix(let path)) in bindings {
            let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            guard let other = try? await bootstrap.connect(unixDomainSocketPath: path).get() else { continue }
            try? await other.close()
            throw ListenError(description: "the server cannot listen at \(name) (\(path)): another server does")
        }
    }

    /// The host of an address without one: `::`, whose sockets accept IPv4, too, or `0.0.0.0` if the system has no IPv6.
    private static var anyHost: String {
        get async {
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            guard let channel = try? await bootstrap.bind(host: "::", port: 0).get() else { return "0.0.0.0" }
            try? await channel.close()
            return "::"
        }
    }

    /// How many connections beyond the wanted number are accepted. When they come, the oldest idle connection is
    /// closed. If all are busy, new ones wait to be accepted.
    private static let connectionsToSpare = 64
    static let name = "webimage"

    /// Adds TLS to a connection if there is a certificate.
    private func secured(_ channel: ImageChannel) -> any ServerChildChannel {
        #if TLS
            if let certificate { return SecureChannel(images: channel, certificate: certificate) }
        #endif
        return channel
    }

    private func application<Responder: HTTPResponder>(
        _ responder: Responder, _ address: ServerSettings.Address,
        _ memoryAnswers: MemoryAnswers.Make? = nil,
        secured: @escaping @Sendable (ImageChannel) -> any ServerChildChannel = { $0 },
        _ onListening: @escaping @Sendable (Int) -> Void
    ) -> Application<Responder> where Responder.Context == ImageContext {
        let bind: BindAddress =
            switch address {
            case .tcp(let host, let port): .hostname(host, port: port)
            case .unix(let path): .unixDomainSocket(path: path)
            }
        let limits = ConnectionDeadlines.Limits(settings)
        let metrics = endpoint.metrics
        let connections = OpenConnections(most: settings.maxClients)
        if memoryAnswers != nil { metrics.tell { connections.count } }
        return Application(
            responder: responder,
            server: HTTPServerBuilder {
                secured(
                    ImageChannel(
                        responder: $0, limits: limits, connections: connections,
                        onSlowReader: { metrics.countSlowReader() }, memoryAnswers: memoryAnswers,
                        takesBodies: memoryAnswers == nil,
                        isLast: { [state, settings] in
                            state.current == .draining || settings.keepAliveTimeout == .zero
                        }))
            },
            configuration: ApplicationConfiguration(
                address: bind, serverName: Self.name, backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(settings.maxClients + Self.connectionsToSpare)
            ),
            onServerRunning: { channel in
                // Only processes of the same group, such as a proxy, may connect.
                if case .unix(let path) = address { chmod(path, 0o660) }
                onListening(channel.localAddress?.port ?? 0)
            }, logger: logger)
    }
}

extension ServerSettings.Address {
    fileprivate func with(host any: String) -> Self {
        if case .tcp("", let port) = self { .tcp(host: any, port: port) } else { self }
    }
}

/// Serves metrics only.
private struct MetricsResponder: HTTPResponder {
    let endpoint: ImageEndpoint

    func respond(to request: Request, context: ImageContext) async throws -> Response {
        let path = (request.head.path ?? "").prefix { $0 != "?" }
        guard path == "/metrics" || path == "/" else { return Response(status: .notFound) }
        let text = endpoint.metricsText
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

/// The reason why a server with valid settings does not start.
struct ListenError: Error, CustomStringConvertible {
    let description: String
}

/// Connects the operators' endpoint to Hummingbird.
private struct AdminResponder: HTTPResponder {
    let endpoint: AdminEndpoint

    func respond(to request: Request, context: ImageContext) async throws -> Response {
        let answer = await endpoint.answer(request.head) { await body(of: request) }
        var bytes = ByteBuffer()
        if case .bytes(let own) = answer.body { bytes.writeBytes(own) }
        return Response(
            status: .init(code: answer.status), headers: answer.fields, body: ResponseBody(byteBuffer: bytes))
    }

    /// Reads the body in the time that clients have for a request.
    private func body(of request: Request) async -> AdminEndpoint.Body {
        await withTaskGroup(of: AdminEndpoint.Body.self) { group in
            group.addTask {
                guard let bytes = try? await request.body.collect(upTo: AdminEndpoint.longestBody) else {
                    return .unusable
                }
                return .bytes(Array(bytes.readableBytesView))
            }
            group.addTask { [limit = endpoint.endpoint.settings.readRequestTimeout] in
                try? await Task.sleep(for: limit)
                return .late
            }
            defer { group.cancelAll() }
            return await group.next() ?? .unusable
        }
    }
}

/// On shutdown, reports the server as not ready, and waits until balancers have noticed.
private struct ReadinessService: Service {
    let state: ServerState
    let delay: Duration

    func run() async throws {
        try? await gracefulShutdown()
        state.become(.draining)
        // The shutdown must not cancel this wait, which is a part of it.
        try? await Task.sleep(for: delay)
    }
}
