import Synchronization
import WebImageCore
import WebImageSystem

// What expires while nobody uses the cache goes all the same (SDWebImage's row CC-04).
extension DiskCache {
    /// Has expired entries removed once in a while, for as long as the cache lives.
    func scheduleMaintenance() {
        guard let interval = configuration.maintenanceInterval else { return }
        let action = folder.clock.schedule(at: folder.clock.now + max(interval, .seconds(1))) { [weak self] in
            guard let self else { return }
            executor.run(.low) { [weak self] in
                // What went wrong is logged and counted; the next time it may go better.
                _ = try? self?.removeExpired()
                self?.scheduleMaintenance()
            }
        }
        maintenance.withLock { $0 = action }
    }
}
