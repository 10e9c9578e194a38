import FleetCoordination
import NIOCore
import NIOPosix
import RedisClient
import ServerConfiguration
import ServerGrammar
import ServiceLifecycle
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Joins this server to the others of its fleet, as the settings say.
struct FleetMaking {
    let settings: ServerSettings
    let logger: Logger

    /// - Returns: nil where the settings name no Redis.
    func fleet(_ group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton) throws(RedisError) -> Fleet? {
        guard let url = settings.redisURL else { return nil }
        var redis = try RedisConfiguration(url: url)
        redis.certificateAuthorities = settings.redisAuthorities
        let client = try RedisClient(redis, group: group) { [logger] isAvailable in
            if isAvailable {
                logger.notice("Redis answers again")
            } else {
                logger.warning("Redis does not answer: every server works for itself")
            }
        }
        var configuration = FleetConfiguration(server: Self.name)
        configuration.keys = FleetKeys(prefix: settings.redisPrefix)
        configuration.mostWaits = settings.maxClients
        return Fleet(configuration, client) {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
        }
    }

    /// Of this machine and this run.
    private static var name: String {
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        let text = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(text)-\(getpid())-\(String(UInt32.random(in: 0 ... .max), radix: 16))"
    }
}

/// Keeps this server in step with its fleet for as long as it runs.
struct FleetService: Service {
    let fleet: Fleet

    func run() async throws {
        await cancelWhenGracefulShutdown { await fleet.run() }
        await fleet.leave()
    }
}
