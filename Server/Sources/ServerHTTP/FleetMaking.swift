import FleetCoordination
import NIOCore
import NIOPosix
import RedisClient
import S3Client
import S3Tier
import ServerConfiguration
import ServerGrammar
import ServerImages
import ServiceLifecycle
import Logging
import WebImage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Connects this server to the others of its fleet, as configured.
struct FleetMaking {
    let settings: ServerSettings
    let logger: Logger

    /// - Returns: nil if no Redis is configured.
    func fleet(_ group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton) throws(RedisError) -> Fleet? {
        guard let url = settings.redisURL else { return nil }
        var redis = try RedisConfiguration(url: url)
        redis.certificateAuthorities = settings.redisAuthorities
        let refusals = RepeatedWarnings(logger)
        let client = try RedisClient(redis, group: group) { [logger] notice in
            switch notice {
            case .failing(let error):
                logger.warning(
                    "Redis cannot be used: every server works for itself", metadata: ["error": "\(error)"])
            case .refused(let error): refusals.warn("", "Redis refuses some commands", metadata: ["error": "\(error)"])
            case .recovered: logger.notice("Redis works again")
            }
        }
        var configuration = FleetConfiguration(server: Self.name)
        configuration.keys = FleetKeys(prefix: settings.redisPrefix)
        configuration.maxWaits = settings.maxClients
        return Fleet(configuration, client) {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
        }
    }

    /// The storage in which all servers keep their results; nil if none is configured.
    func storage(_ group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton) throws(S3Error) -> SharedResults?
    {
        guard let place = settings.s3.results else { return nil }
        return SharedResults(try client(of: place, "results", group), logger: logger)
    }

    /// The storage in which all servers keep originals, after their disk caches.
    func originals(
        _ group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws(S3Error) -> S3Tier? {
        guard let place = settings.s3.originals else { return nil }
        return S3Tier(try client(of: place, "originals", group))
    }

    private func client(
        of place: ServerSettings.S3.Place, _ what: String, _ group: any EventLoopGroup
    ) throws(S3Error) -> S3Client {
        try S3Client(settings.s3.configuration(place), group: group) { [logger] notice in
            switch notice {
            case .failing(let error):
                logger.warning(
                    "S3 keeps failing and is not used for a while", metadata: ["for": "\(what)", "error": "\(error)"])
            case .recovered: logger.notice("S3 works again", metadata: ["for": "\(what)"])
            }
        }
    }

    /// A name that is unique to this machine and this run.
    private static var name: String {
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        let text = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(text)-\(getpid())-\(String(UInt32.random(in: 0 ... .max), radix: 16))"
    }
}

/// Keeps this server in touch with its fleet while it runs.
struct FleetService: Service {
    let purging: Purging

    func run() async throws {
        await cancelWhenGracefulShutdown { await purging.followFleet() }
        await purging.fleet?.leave()
    }
}
