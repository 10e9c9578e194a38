import WebImageCache
import WebImageCore
import WebImageDownload

/// The disk cache as the first tier. It also finds originals that are still being written, whose bytes need not be
/// collected first.
struct DiskTier: OriginalTier {
    let disk: DiskCache
    /// Reads and writes files.
    let executor: any WorkExecutor
    /// The memory of originals that were read and wait for a decoder.
    let inputMemory: Admission
    let clock: any LoadClock
    let observer: LoadObserver

    var source: ImageSource { .disk }

    /// Reading and checking this much takes some 20 us.
    private static let longestAtOnce = 128 << 10

    func findAtOnce(_ key: CacheKey, for reader: any TierReader) -> FoundOriginal? {
        var lease: AdmissionLease?
        let entry = disk.readAtOnce(key) { count in
            guard count <= Self.longestAtOnce, inputMemory.take(count, reader.priority) else { return false }
            lease = AdmissionLease(inputMemory, count)
            return true
        }
        return entry.map { found($0, lease, for: reader) }
    }

    func find(
        _ key: CacheKey, _ part: OriginalPart, for reader: any TierReader,
        _ then: @escaping @Sendable (FoundOriginal?) -> Void
    ) {
        executor.run(reader.priority, for: reader.owner) {
            if reader.isAbandoned { return }
            if let coming = coming(key) { return then(coming) }
            switch part {
            case .metadata: then(readMetadata(key))
            case .all:
                let length = disk.fileLength(of: key)
                if length == 0 { return then(read(key, nil, for: reader)) }
                inputMemory.lease(length, for: reader, on: executor) { lease in then(read(key, lease, for: reader)) }
            }
        }
    }

    /// An original that this process is about to write.
    private func coming(_ key: CacheKey) -> FoundOriginal? {
        guard let write = disk.expectedEntry(for: key) as? DiskTierWrite, let log = write.log else { return nil }
        return FoundOriginal(log: log, metadata: write.metadata)
    }

    private func readMetadata(_ key: CacheKey) -> FoundOriginal? {
        do throws(WebImageError) {
            return try disk.readMetadata(key).map { FoundOriginal(log: nil, metadata: $0) }
        } catch {
            observer.cacheFailed(error)
            return nil
        }
    }

    /// - Parameter lease: the memory that was reserved for the bytes; nil if their length was not known before.
    private func read(_ key: CacheKey, _ lease: AdmissionLease?, for reader: any TierReader) -> FoundOriginal? {
        do throws(WebImageError) {
            guard let entry = try disk.read(key) else { return nil }
            let lease = lease ?? AdmissionLease(inputMemory, 0)
            lease.grow(to: entry.body.count)
            return found(entry, lease, for: reader)
        } catch {
            observer.cacheFailed(error)
            return nil
        }
    }

    private func found(_ entry: DiskEntry, _ lease: AdmissionLease?, for reader: any TierReader) -> FoundOriginal {
        FoundOriginal(
            log: ByteLog(bytes: entry.body, lease: reader.makesPicture ? lease : nil), metadata: entry.metadata)
    }

    func reserve(_ key: CacheKey, _ log: ByteLog?, _ metadata: DiskMetadata) -> any TierWrite {
        DiskTierWrite(key, log, metadata, to: self)
    }

    func renew(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?,
        _ then: @escaping @Sendable () -> Void
    ) {
        run(then) { () throws(WebImageError) in _ = try disk.changeMetadata(key, change) }
    }

    func remove(_ key: CacheKey, _ then: @escaping @Sendable () -> Void) {
        // Originals that are stored from now on stay, however late the removal runs.
        let order = disk.orderRemoval(of: key)
        run(then) { () throws(WebImageError) in _ = try disk.remove(key, as: order) }
    }

    private func run(
        _ then: @escaping @Sendable () -> Void, _ change: @escaping @Sendable () throws(WebImageError) -> Void
    ) {
        executor.run(.low) {
            do throws(WebImageError) { try change() } catch { observer.cacheFailed(error) }
            then()
        }
    }
}

/// An original that is being written to disk.
final class DiskTierWrite: ExpectedEntry, TierWrite {
    /// Its bytes; nil if a serializer will make other bytes.
    let log: ByteLog?
    let metadata: DiskMetadata
    let key: CacheKey
    let order: DiskWriteOrder
    private let tier: DiskTier

    init(_ key: CacheKey, _ log: ByteLog?, _ metadata: DiskMetadata, to tier: DiskTier) {
        self.key = key
        self.log = log
        self.metadata = metadata
        self.tier = tier
        order = tier.disk.orderWrite(of: key)
    }

    var isComplete: Bool {
        if case .complete? = log?.end { true } else { false }
    }

    func allBytes() throws(WebImageError) -> [UInt8] { try log?.collect() ?? [] }

    func announce() { if log != nil { tier.disk.expect(self) } }

    func end() { tier.disk.endExpecting(self) }

    var limitsItself: Bool { false }

    func write(
        _ log: ByteLog, _ metadata: DiskMetadata, _ priority: LoadPriority, progress: @escaping @Sendable () -> Void,
        then: @escaping @Sendable (Result<Duration, WebImageError>) -> Void
    ) {
        tier.disk.whenOpen { [self] in
            tier.executor.run(priority) {
                let begin = self.tier.clock.now
                let failure = self.write(log, metadata, progress)
                then(failure.map { .failure($0) } ?? .success(self.tier.clock.now - begin))
            }
        }
    }

    /// - Returns: why nothing was written; nil if it was written, or if a newer write or a removal has made the write
    ///   unnecessary.
    private func write(_ log: ByteLog, _ metadata: DiskMetadata, _ progress: () -> Void) -> WebImageError? {
        guard order.isWanted else { return nil }
        do throws(WebImageError) {
            let writer = try tier.disk.makeWriter(for: key, as: order)
            var offset = 0
            while case .chunk(let chunk) = log.read(at: offset) {
                try chunk.withUnsafeBytes { bytes throws(WebImageError) in try writer.append(bytes) }
                offset = chunk.range.upperBound
                progress()
            }
            guard offset == log.receivedCount else {
                writer.abandon()
                return WebImageError(.cacheIO, "the bytes to store could not be read")
            }
            if try writer.commit(metadata) || !order.isWanted { return nil }
            if writer.wasSkipped { tier.observer.cacheSkipped() }
            return WebImageError(
                .noSpace, "the disk cache has no room for it: its limit or the disk's free space is too small",
                location: tier.disk.configuration.directory)
        } catch {
            tier.observer.cacheFailed(error)
            return error
        }
    }
}
