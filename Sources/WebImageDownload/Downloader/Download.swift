import Synchronization
package import WebImageCore
import WebImageSystem

/// One caller's share in a transfer, which counts until ``cancel()`` or until it is released. The transfer ends with
/// its last share. Safe to use from any thread.
package final class Download: Sendable {
    /// The log of the bytes that arrive; it also says how the transfer ends.
    package let log: ByteLog
    /// True if the transfer existed already.
    package let wasJoined: Bool
    private let entry: TransferEntry?
    private let center: DownloadCenter?
    /// Nil after ``cancel()``.
    private let share: Guarded<LoadPriority?>

    init(of entry: TransferEntry, in center: DownloadCenter, priority: LoadPriority, wasJoined: Bool) {
        log = entry.log
        self.entry = entry
        self.center = center
        self.wasJoined = wasJoined
        share = Guarded(priority)
    }

    /// A download that failed before it began.
    init(failed error: WebImageError) {
        log = ByteLog(failed: error)
        entry = nil
        center = nil
        wasJoined = false
        share = Guarded(nil)
    }

    deinit { cancel() }

    /// What the transfer cost, once it has ended.
    package var metrics: TransferMetrics? { entry?.transfer.metrics }

    /// The answered request and its answer; available when the log has a head. Nil for local sources.
    package var exchange: DownloadExchange? { entry?.transfer.exchange }

    /// Ends this share. When the last share ends, the transfer is cancelled, and its log ends with `cancelled`.
    package func cancel() {
        let left = share.withLock { share in
            defer { share = nil }
            return share
        }
        if let left, let entry { center?.moveShare(of: entry, from: left, to: nil) }
    }

    /// Lets the transfer finish when the downloader is drained, like the option of the request.
    package func finishWhenDrained() { if let entry { center?.mark(entry) } }

    func resumeIfUrgent() { entry?.transfer.resumeIfUrgent() }

    /// The transfer runs at the highest priority of its callers.
    package func setPriority(_ priority: LoadPriority) {
        let old = share.withLock { share -> LoadPriority? in
            guard let old = share, old != priority else { return nil }
            share = priority
            return old
        }
        if let old, let entry { center?.moveShare(of: entry, from: old, to: priority) }
    }
}
