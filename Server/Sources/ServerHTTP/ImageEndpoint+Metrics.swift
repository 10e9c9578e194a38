import FleetCoordination
import RedisClient
import S3Client
import ServerConfiguration
import ServerImages
import WebImage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ImageEndpoint {
    /// The metrics for Prometheus.
    var metricsText: String {
        let isolation = service.maker.isolationReport
        var counters = [
            ("webimage_decoders_started_total", isolation.started),
            ("webimage_decoders_crashed_total", isolation.crashed),
            ("webimage_decoders_ended_total", isolation.ended),
            ("webimage_purges_total", service.purging.purgeCount),
        ]
        var gauges: [(String, Int)] = []
        if let fleet = service.purging.fleet {
            let (work, redis) = (fleet.statistics, fleet.redis)
            counters += [
                ("webimage_fleet_locks_total{result=\"led\"}", work.led),
                ("webimage_fleet_locks_total{result=\"took_over\"}", work.tookOver),
                ("webimage_fleet_locks_total{result=\"waited\"}", work.followed),
                ("webimage_fleet_locks_total{result=\"skipped\"}", work.alone),
                ("webimage_redis_commands_total{result=\"sent\"}", redis.commands),
                ("webimage_redis_commands_total{result=\"failed\"}", redis.failures),
                ("webimage_redis_commands_total{result=\"spared\"}", redis.spared),
            ]
            gauges = [
                ("webimage_fleet_servers", fleet.servers), ("webimage_purges_known", fleet.purges.latest),
                ("webimage_redis_circuit_open", fleet.isAvailable ? 0 : 1),
                ("webimage_fleet_in_touch", fleet.isInTouch ? 1 : 0),
            ]
        }
        if let storage = service.storage {
            let (results, requests) = (storage.statistics, storage.client.statistics)
            counters += [
                ("webimage_s3_results_total{result=\"hit\"}", results.hits),
                ("webimage_s3_results_total{result=\"miss\"}", results.misses),
                ("webimage_s3_results_total{result=\"written\"}", results.writes),
                ("webimage_s3_results_total{result=\"skipped\"}", results.skips),
                ("webimage_s3_requests_total{result=\"sent\"}", requests.requests),
                ("webimage_s3_requests_total{result=\"failed\"}", requests.failures),
                ("webimage_s3_requests_total{result=\"spared\"}", requests.spared),
                ("webimage_s3_bytes_total{way=\"read\"}", requests.bytesRead),
                ("webimage_s3_bytes_total{way=\"written\"}", requests.bytesWritten),
            ]
            gauges.append(("webimage_s3_circuit_open", storage.client.isAvailable ? 0 : 1))
        }
        let inProgress = service.gate.count - service.gate.waiting
        return metrics.text(
            namespace: settings.metricsNamespace,
            compatible: [
                ("workers", service.gate.threads), ("images_in_progress", inProgress),
                ("workers_utilization", min(100 * inProgress / service.gate.threads, 100)),
            ],
            gauges: gauges + [
                ("webimage_queue_length", service.gate.waiting),
                ("webimage_pictures_in_progress", inProgress),
                ("webimage_cache_bytes_memory", service.cache.memoryCost),
                ("webimage_cache_bytes_disk", service.cache.diskCost),
                ("webimage_connections", metrics.connectionCount),
                ("webimage_resident_bytes", Self.residentBytes ?? 0),
                ("webimage_draining", state.current == .draining ? 1 : 0),
                ("webimage_decoders_running", isolation.running),
            ],
            counters: counters)
    }

    /// The resident memory of the process (proc(5), `VmRSS`); nil if the system does not report it.
    private static var residentBytes: Int? {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
    }
}
