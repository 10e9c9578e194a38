import Logging
import S3Tier
import ServerImages
import ServiceLifecycle
import WebImage

/// Cancels loads and writes the caches; it is the last service to stop.
struct PicturesService: Service {
    let manager: ImageManager
    let cache: ResultCache
    let storage: SharedResults?
    let originals: S3Tier?
    let state: ServerState
    /// From the beginning of the stop.
    let limit: Duration
    let logger: Logger

    /// How long uploads may take when nothing else runs any more.
    private static let uploadTime = Duration.seconds(5)

    func run() async throws {
        try? await gracefulShutdown()
        await cache.flush()
        // Beside the originals: if the storage hangs, both wait for it at the same time.
        async let results: Void? = storage?.flush(within: timeForUploads)
        let timer = Task { [timeForUploads] in
            // The timer is cancelled when everything is written.
            if (try? await Task.sleep(for: timeForUploads)) != nil { await abandonOriginals() }
        }
        await manager.drain(within: state.timeLeft(of: limit))
        timer.cancel()
        await results
    }

    private var timeForUploads: Duration { min(state.timeLeft(of: limit), Self.uploadTime) }

    private func abandonOriginals() async {
        guard let originals else { return }
        let count = originals.statistics.storing
        if count > 0 {
            logger.warning(
                "originals were not written to S3, because the server stops", metadata: ["count": "\(count)"])
        }
        await originals.close()
    }
}
