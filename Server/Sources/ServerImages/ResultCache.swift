public import Logging
public import WebImage

/// Results in memory and on disk. What cannot be read or written costs a result, never an answer.
public final class ResultCache: Sendable {
    /// Where a result was found.
    public enum Layer: String, Sendable { case memory, disk }

    private let memory: ResultMemory
    private let disk: DiskCache?
    private let logger: Logger

    /// - Parameters:
    ///   - memoryLimit: bytes.
    ///   - disk: nil: results are in memory only.
    public init(memoryLimit: Int, disk: DiskCache?, logger: Logger) {
        memory = ResultMemory(limit: memoryLimit)
        self.disk = disk
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
        write(result, key)
    }

    /// The same result counts as fresh for longer.
    public func renew(_ result: StoredResult, _ key: String) { keep(result, key) }

    private func write(_ result: StoredResult, _ key: String) {
        guard let disk else { return }
        var metadata = DiskMetadata()
        metadata.extendedData = result.description
        let entry = metadata
        Task { [logger] in
            do throws(WebImageError) {
                try await disk.store(CacheKey(key), result.bytes, entry)
            } catch {
                logger.warning("a result cannot be kept on disk: \(error)")
            }
        }
    }

    /// Writes down what is on its way to disk.
    public func flush() async { try? await disk?.flush() }
}
