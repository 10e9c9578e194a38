import FleetCoordination
import RedisClient
import ServerConfiguration
import ServerImages
import WebImage

extension ImageEndpoint {
    /// What Prometheus is told.
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
        return metrics.text(
            namespace: settings.metricsNamespace,
            gauges: gauges + [
                ("webimage_queue_length", service.gate.waiting),
                ("webimage_pictures_in_progress", service.gate.count - service.gate.waiting),
                ("webimage_cache_bytes_memory", service.cache.memoryCost),
                ("webimage_cache_bytes_disk", service.cache.diskCost),
                ("webimage_draining", state.current == .draining ? 1 : 0),
                ("webimage_decoders_running", isolation.running),
            ],
            counters: counters)
    }
}
