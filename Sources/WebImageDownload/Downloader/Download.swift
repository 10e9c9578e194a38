import Synchronization
package import WebImageCore
import WebImageSystem

/// One caller's share in a transfer. It counts until ``cancel()`` or until it is let go of; the transfer ends with its
/// last share. Safe to use from any thread.
package final class Download: Sendable {
    /// Everything that arrives, and how it ends.
    package let log: ByteLog
    /// True when the transfer was there before.
    package let wasJoined: Bool
    private let transfer: (any Transfer)?
    private let center: DownloadCenter?
    /// Nil after leaving.
    private let share: Guarded<LoadPriority?>

    init(
        of transfer: any Transfer, log: ByteLog, in center: DownloadCenter, priority: LoadPriority, wasJoined: Bool
    ) {
        self.log = log
        self.transfer = transfer
        self.center = center
        self.wasJoined = wasJoined
        share = Guarded(priority)
    }

    /// One that failed before it began.
    init(failed error: WebImageError) {
        log = ByteLog(failed: error)
        transfer = nil
        center = nil
        wasJoined = false
        share = Guarded(nil)
    }

    deinit { cancel() }

    /// What the transfer cost, once it has ended.
    package var metrics: TransferMetrics? { transfer?.metrics }

    /// The request that was answered and its answer; there from when the log has a head on. Nil for local sources.
    package var exchange: DownloadExchange? { transfer?.exchange }

    /// Leaves. The last one to leave cancels the transfer, whose log then ends with `cancelled`; for others it goes on.
    package func cancel() {
        let left = share.withLock { share in
            defer { share = nil }
            return share
        }
        if let left, let transfer { center?.moveShare(of: transfer.id, from: left, to: nil) }
    }

    /// The transfer runs at the highest priority of its callers.
    package func setPriority(_ priority: LoadPriority) {
        let old = share.withLock { share -> LoadPriority? in
            guard let old = share, old != priority else { return nil }
            share = priority
            return old
        }
        if let old, let transfer { center?.moveShare(of: transfer.id, from: old, to: priority) }
    }
}
