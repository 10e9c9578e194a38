public import Logging
import Synchronization
public import WebImage

/// Results in memory and on disk. If a result cannot be read or written, it is made anew; requests do not fail.
public final class ResultCache: Sendable {
    /// Where a result was found.
    public enum Layer: String, Sendable { case memory, disk }

    /// The results that are being written to disk. Results of the same key are written one after the other; only the
    /// newest of the waiting ones is written.
    private struct Writes {
        var bytes = 0
        var waiting: [String: (result: StoredResult, isOnDisk: Bool)] = [:]
        var tasks: [String: Task<Void, Never>] = [:]

        /// - Returns: false if more than `most` bytes would wait or be written. An older waiting result of the key,
        ///   which this one replaces, does not count.
        mutating func wait(_ key: String, _ result: StoredResult, isOnDisk: Bool, most: Int) -> Bool {
            let older = waiting[key]
            let sum = bytes + result.cost - (older?.result.cost ?? 0)
            guard sum <= most else { return false }
            bytes = sum
            waiting[key] = (result, isOnDisk && older?.isOnDisk != false)
            return true
        }
    }

    private let memory: ResultMemory
    private let sent: SentResults
    private let disk: DiskCache?
    private let reads = Flights<StoredResult?>()
    private let maxUnwritten: Int
    private let writes = Mutex(Writes())
    private let warnings: RepeatedWarnings

    /// - Parameters:
    ///   - memoryLimit: bytes.
    ///   - disk: nil: results are kept in memory only.
    ///   - maxUnwritten: how many bytes may wait to be written; further results are kept in memory only. Default 64
    ///   MiB.
    ///   - sent: counts the results on their way to clients.
    public init(
        memoryLimit: Int, disk: DiskCache?, maxUnwritten: Int = 64 << 20, sent: SentResults = SentResults(),
        logger: Logger
    ) {
        memory = ResultMemory(limit: memoryLimit)
        self.sent = sent
        self.disk = disk
        self.maxUnwritten = maxUnwritten
        warnings = RepeatedWarnings(logger)
    }

    /// The bytes in memory.
    public var memoryCost: Int { memory.cost }
    /// The bytes of results that clients have not read yet.
    public var unsentBytes: Int { sent.bytes }
    /// The bytes on disk.
    public var diskCost: Int { Int(disk?.usage.bytes.bytes ?? 0) }

    /// The result, if it is in memory.
    public func cachedResult(_ key: String) -> StoredResult? { memory.result(key) }

    /// Returns the bytes of a result that is about to be sent. They count as unsent until the share is released.
    ///
    /// - Parameter client: its address; nil: it is not known.
    /// - Returns: nil if too many bytes of other results are still unread by this client or by all.
    public func share(_ result: StoredResult, _ key: String, for client: String? = nil) -> SentResults.Share? {
        sent.share(result, key, for: client)
    }

    public func result(_ key: String) async -> (StoredResult, Layer)? {
        if let result = memory.result(key) ?? sent.result(key) { return (result, .memory) }
        guard let disk else { return nil }
        // Each read makes a copy, so that requests for the same result share one.
        let result = await reads.value(key) { [self] in await read(key, disk) }.value ?? nil
        return result.map { ($0, .disk) }
    }

    private func read(_ key: String, _ disk: DiskCache) async -> StoredResult? {
        do throws(WebImageError) {
            guard let entry = try await disk.read(CacheKey(key)), let description = entry.metadata.extendedData,
                let result = StoredResult(entry.body, description: description)
            else { return nil }
            memory.keep(result, key)
            return result
        } catch {
            if error.code != .cancelled {
                warnings.warn("read \(error.code.name)", "a result cannot be read: \(error)")
            }
            return nil
        }
    }

    /// Stores a result in memory now, and on disk a little later.
    public func keep(_ result: StoredResult, _ key: String) {
        memory.keep(result, key)
        sent.replace(result, key)
        write(result, key, isOnDisk: false)
    }

    /// Extends the freshness of a result. Its bytes on disk are not written again.
    public func renew(_ result: StoredResult, _ key: String) {
        memory.keep(result, key)
        sent.replace(result, key)
        write(result, key, isOnDisk: true)
    }

    private func write(_ result: StoredResult, _ key: String, isOnDisk: Bool) {
        guard let disk else { return }
        writes.withLock { writes in
            // If the disk is too far behind, the result is not written.
            guard writes.wait(key, result, isOnDisk: isOnDisk, most: maxUnwritten) else { return }
            if writes.tasks[key] == nil { writes.tasks[key] = Task { [self] in await writeAll(of: key, to: disk) } }
        }
    }

    private func writeAll(of key: String, to disk: DiskCache) async {
        var written = 0
        while let (result, isOnDisk) = next(of: key, after: written) {
            await Self.write(result, key, isOnDisk: isOnDisk, to: disk, warnings)
            written = result.cost
        }
    }

    /// - Parameter written: the cost of what was written last.
    private func next(of key: String, after written: Int) -> (result: StoredResult, isOnDisk: Bool)? {
        writes.withLock { writes in
            writes.bytes -= written
            let next = writes.waiting.removeValue(forKey: key)
            if next == nil { writes.tasks[key] = nil }
            return next
        }
    }

    private static func write(
        _ result: StoredResult, _ key: String, isOnDisk: Bool, to disk: DiskCache, _ warnings: RepeatedWarnings
    ) async {
        var metadata = DiskMetadata()
        metadata.extendedData = result.description
        do throws(WebImageError) {
            if isOnDisk, try await disk.updateMetadata(CacheKey(key), metadata) { return }
            try await disk.store(CacheKey(key), result.bytes, metadata)
        } catch {
            warnings.warn("write \(error.code.name)", "a result cannot be kept on disk: \(error)")
        }
    }

    /// Returns when everything that was stored before is on disk, or could not be written.
    public func flush() async {
        for task in writes.withLock({ Array($0.tasks.values) }) { await task.value }
        try? await disk?.flush()
    }
}
