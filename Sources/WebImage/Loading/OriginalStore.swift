import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Writes originals to the disk cache after their callers have been answered, in the order in which they came.
///
/// What waits to be written is bounded: when the disk cannot follow, the newest copy is given up, and nothing else.
final class OriginalStore: Sendable {
    private struct State {
        var pendingBytes = 0
        var pending = 0
        var idle: [CheckedContinuation<Void, Never>] = []
    }

    /// Originals of which not a byte is written yet may hold this much memory or temporary disk.
    private static let mostPendingBytes = 256 << 20
    private static let pieceLength = 1 << 20

    private let disk: DiskCache
    private let executor: any WorkExecutor
    private let observer: LoadObserver
    private let state = Guarded(State())

    init(disk: DiskCache, executor: any WorkExecutor, observer: LoadObserver) {
        self.disk = disk
        self.executor = executor
        self.observer = observer
    }

    /// Says, before callers are answered, that `store` or `withdraw` follows: ``finish()`` waits for it.
    func announce() { state.withLock { $0.pending += 1 } }

    /// Takes an announcement back.
    func withdraw() { end(0) }

    /// Stores the complete bytes of `log`, as was announced.
    func store(_ log: ByteLog, _ key: CacheKey, _ metadata: DiskMetadata) {
        let length = log.receivedCount
        let isTaken = state.withLock { state -> Bool in
            guard state.pendingBytes == 0 || state.pendingBytes + length <= Self.mostPendingBytes else { return false }
            state.pendingBytes += length
            return true
        }
        guard isTaken else {
            observer.cacheFailed(WebImageError(.cacheIO, "the disk is too slow: an original was not stored"))
            return withdraw()
        }
        executor.run(.low) {
            self.write(log, key, metadata)
            self.end(length)
        }
    }

    private func end(_ length: Int) {
        let idle = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.pending -= 1
            state.pendingBytes -= length
            guard state.pending == 0 else { return [] }
            defer { state.idle = [] }
            return state.idle
        }
        for continuation in idle { continuation.resume() }
    }

    /// Returns when everything that was to be stored is.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state -> Bool in
                if state.pending == 0 { return true }
                state.idle.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    private func write(_ log: ByteLog, _ key: CacheKey, _ metadata: DiskMetadata) {
        do {
            let writer = try disk.makeWriter(for: key)
            var offset = 0
            while case .chunk(let chunk) = log.read(at: offset) {
                try chunk.withUnsafeBytes { bytes throws(WebImageError) in try writer.append(bytes) }
                offset = chunk.range.upperBound
            }
            guard offset == log.receivedCount else { return writer.abandon() }
            _ = try writer.commit(metadata)
        } catch {
            observer.cacheFailed(error)
        }
    }
}
