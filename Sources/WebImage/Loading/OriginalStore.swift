import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// An original that is to be stored.
final class PendingOriginal: ExpectedEntry {
    /// Its bytes; nil where others will be written, which nobody knows yet.
    let log: ByteLog?
    let metadata: DiskMetadata
    let disk: DiskCache
    let key: CacheKey
    let order: DiskWriteOrder

    init(log: ByteLog?, metadata: DiskMetadata, disk: DiskCache, key: CacheKey) {
        self.log = log
        self.metadata = metadata
        self.disk = disk
        self.key = key
        order = disk.orderWrite(of: key)
    }

    var isComplete: Bool {
        if case .complete? = log?.end { true } else { false }
    }

    func allBytes() throws(WebImageError) -> [UInt8] { try log?.collect() ?? [] }
}

/// Writes originals to disk caches after their callers have been answered, in the order in which they came. The disk cache
/// has them found until then.
///
/// What waits to be written is bounded: when the disk cannot follow, the newest copy is given up, and nothing else.
final class OriginalStore: Sendable {
    /// A promise to store something, or to say that it is not to be: whoever waits for the stores waits for it.
    struct Announcement {
        fileprivate let owner: OriginalStore
        fileprivate let number: Int
        fileprivate let original: PendingOriginal?

        /// Takes it back, or says that it was kept by other means.
        func withdraw() { owner.end(number, 0, original) }

        /// Stores the complete bytes of `log` in the background.
        ///
        /// - Parameters:
        ///   - format: of the bytes; nil: as was announced.
        ///   - told: how long the writing took, or why there is no entry; off every lock, before whoever waits for the
        ///     stores goes on.
        func store(
            _ log: ByteLog, format: ImageFormat? = nil,
            told: @escaping @Sendable (Result<Duration, WebImageError>) -> Void
        ) {
            guard let original else { return withdraw() }
            owner.store(log, original, format, number, told)
        }
    }

    private struct State {
        var pendingBytes = 0
        /// Announcements that have not been kept or taken back.
        var pending: Set<Int> = []
        var lastNumber = 0
        /// Who waits for all up to a number.
        var waiting: [(last: Int, run: @Sendable () -> Void)] = []

        mutating func takeReady() -> [@Sendable () -> Void] {
            if waiting.isEmpty { return [] }
            let first = pending.min() ?? .max
            defer { waiting.removeAll { $0.last < first } }
            return waiting.filter { $0.last < first }.map(\.run)
        }
    }

    /// Originals of which not a byte is written yet may hold this much memory or temporary disk.
    private static let mostPendingBytes = 256 << 20
    private static let pieceLength = 1 << 20

    private let executor: any WorkExecutor
    private let clock: any LoadClock
    private let observer: LoadObserver
    private let state = Guarded(State())

    init(executor: any WorkExecutor, clock: any LoadClock, observer: LoadObserver) {
        self.executor = executor
        self.clock = clock
        self.observer = observer
    }

    /// To be called before callers are answered: ``finish()`` waits for it.
    ///
    /// - Parameter original: what is found from now on; nil where it is not one.
    func announce(_ original: PendingOriginal? = nil) -> Announcement {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.pending.insert(state.lastNumber)
            return state.lastNumber
        }
        if let original, original.log != nil { original.disk.expect(original) }
        return Announcement(owner: self, number: number, original: original)
    }

    private func store(
        _ log: ByteLog, _ original: PendingOriginal, _ format: ImageFormat?, _ number: Int,
        _ told: @escaping @Sendable (Result<Duration, WebImageError>) -> Void
    ) {
        let length = log.receivedCount
        let priority = state.withLock { state -> LoadPriority? in
            guard state.pendingBytes == 0 || state.pendingBytes + length <= Self.mostPendingBytes else { return nil }
            state.pendingBytes += length
            return Self.priority(withPending: state.pendingBytes)
        }
        guard let priority else {
            let error = WebImageError(.cacheIO, "the disk is too slow: an original was not stored")
            observer.cacheFailed(error)
            told(.failure(error))
            return end(number, 0, original)
        }
        original.disk.whenOpen { [executor] in
            executor.run(priority) {
                let begin = self.clock.now
                let failure = self.write(log, original, format)
                told(failure.map { .failure($0) } ?? .success(self.clock.now - begin))
                self.end(number, length, original)
            }
        }
    }

    /// Nobody waits for a store, until so many wait that some would have to be given up.
    private static func priority(withPending bytes: Int) -> LoadPriority {
        switch bytes {
        case ..<(mostPendingBytes / 4): .low
        case ..<(mostPendingBytes / 2): .normal
        default: .high
        }
    }

    private func end(_ number: Int, _ length: Int, _ original: PendingOriginal?) {
        if let original { original.disk.endExpecting(original) }
        let ready = state.withLock { state in
            state.pending.remove(number)
            state.pendingBytes -= length
            return state.takeReady()
        }
        for run in ready { run() }
    }

    /// Returns when everything that was announced so far is stored or given up.
    func finish() async {
        await withCheckedContinuation { continuation in whenStored { continuation.resume() } }
    }

    /// Calls `run` once, off every lock, when everything that was announced so far is stored or given up. `run` must not
    /// block.
    func whenStored(_ run: @escaping @Sendable () -> Void) {
        let isDone = state.withLock { state -> Bool in
            if !state.pending.isEmpty { state.waiting.append((state.lastNumber, run)) }
            return state.pending.isEmpty
        }
        if isDone { run() }
    }

    /// - Returns: why nothing was stored; nil when it was, or when a newer write or a removal has made it needless.
    private func write(_ log: ByteLog, _ original: PendingOriginal, _ format: ImageFormat?) -> WebImageError? {
        guard original.order.isWanted else { return nil }
        do throws(WebImageError) {
            let writer = try original.disk.makeWriter(for: original.key, as: original.order)
            var offset = 0
            while case .chunk(let chunk) = log.read(at: offset) {
                try chunk.withUnsafeBytes { bytes throws(WebImageError) in try writer.append(bytes) }
                offset = chunk.range.upperBound
            }
            guard offset == log.receivedCount else {
                writer.abandon()
                return WebImageError(.cacheIO, "the bytes to store could not be read")
            }
            var metadata = original.metadata
            metadata.format = format ?? metadata.format
            if try writer.commit(metadata) || !original.order.isWanted { return nil }
            if writer.wasSkipped { observer.cacheSkipped() }
            return WebImageError(
                .noSpace, "the disk cache has no room for it: its limit or the disk's free space is too small",
                location: original.disk.configuration.directory)
        } catch {
            observer.cacheFailed(error)
            return error
        }
    }
}
