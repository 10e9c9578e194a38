public import Logging
import Synchronization
public import WebImage

/// Results in memory and on disk. What cannot be read or written costs a result, never an answer.
public final class ResultCache: Sendable {
    /// Where a result was found.
    public enum Layer: String, Sendable { case memory, disk }

    private let memory: ResultMemory
    private let disk: DiskCache?
    private let mostUnwritten: Int
    /// Bytes on their way to disk.
    private let unwritten = Mutex(0)
    private let logger: Logger

    /// - Parameters:
    ///   - memoryLimit: bytes.
    ///   - disk: nil: results are in memory only.
    ///   - mostUnwritten: bytes that may be on their way to disk; what is made meanwhile is kept in memory only. Default 64 MiB.
    public init(memoryLimit: Int, disk: DiskCache?, mostUnwritten: Int = 64 << 20, logger: Logger) {
        memory = ResultMemory(limit: memoryLimit)
        self.disk = disk
        self.mostUnwritten = mostUnwritten
        self.logger = logger
    }

    /// Bytes in memory.
    public var memoryCost: Int { memory.cost }
    /// Bytes on disk.
    public var diskCost: Int { Int(disk?.usage.bytes.bytes ?? 0) }

    /// The result when memory has it.
    public func cachedResult(_ key: String) -> StoredResult? { memory.result(key) }

    public func result(_ key: String) async -> (StoredResult, Layer)? {
        if let result = memory.result(key) { return (result, .memory) }
        do throws(WebImageError) {
            guard let disk, let entry = try await disk.read(CacheKey(key)),
                let description = entry.metadata.extendedData,
                let result = StoredResult(entry.body, description: description)
            else { return nil }
            memory.keep(result, key)
            return (result, .disk)
        } catch {
            if error.code != .cancelled { logger.warning("a result cannot be read: \(error)") }
            return nil
        }
    }

    /// Keeps a result in memory now, and on disk a little later.
    public func keep(_ result: StoredResult, _ key: String) {
        memory.keep(result, key)
        write(result, key, isOnDisk: false)
    }

    /// The same result counts as fresh for longer. Its bytes on disk stay.
    public func renew(_ result: StoredResult, _ key: String) {
        memory.keep(result, key)
        write(result, key, isOnDisk: true)
    }

    private func write(_ result: StoredResult, _ key: String, isOnDisk: Bool) {
        guard let disk, reserve(result.cost) else { return }
        var metadata = DiskMetadata()
        metadata.extendedData = result.description
        let entry = metadata
        Task { [self] in
            defer { unwritten.withLock { $0 -= result.cost } }
            do throws(WebImageError) {
                if isOnDisk, try await disk.updateMetadata(CacheKey(key), entry) { return }
                try await disk.store(CacheKey(key), result.bytes, entry)
            } catch {
                logger.warning("a result cannot be kept on disk: \(error)")
            }
        }
    }

    /// - Returns: false where the disk is too far behind.
    private func reserve(_ cost: Int) -> Bool {
        unwritten.withLock { unwritten in
            guard unwritten + cost <= mostUnwritten else { return false }
            unwritten += cost
            return true
        }
    }

    /// Writes down what is on its way to disk.
    public func flush() async { try? await disk?.flush() }
}
