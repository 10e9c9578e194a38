import WebImageCore
import Synchronization
import WebImageSystem

/// A log's temporary file; closed, and with that gone, when the log and the last reader have let go of it.
final class LogFile: Sendable {
    let descriptor: Int32
    let files: any FileSystem

    init(descriptor: Int32, files: any FileSystem) {
        self.descriptor = descriptor
        self.files = files
    }

    deinit { files.close(descriptor) }

    /// Up to `count` bytes from `offset` on, as the piece of the log that begins at `logOffset`.
    func read(at offset: Int, count: Int, logOffset: Int) throws(FileFault) -> ByteChunk {
        let storage = ByteStorage(capacity: min(count, 4 * ByteLog.pieceSize))
        let buffer = UnsafeMutableRawBufferPointer(start: storage.base, count: storage.capacity)
        let found = try files.readAll(descriptor, into: buffer, at: Int64(offset))
        // The file has no name: nobody else can have cut it.
        guard found > 0 else { throw FileFault("read", "", 0) }
        return ByteChunk(storage: storage, start: 0, range: logOffset..<logOffset + found)
    }
}

/// Moves a log's bytes from memory to its file, in order, on the I/O executor.
struct LogSpill: Sendable {
    let files: any FileSystem
    let executor: any WorkExecutor
    let directory: String

    /// Writes until nothing is left to write. The caller has claimed the spill.
    func start(_ log: ByteLog, budget: TransferMemoryBudget?) {
        executor.run(.normal) {
            while let (piece, offset) = log.state.withLock({ $0.pieceToWrite() }) {
                let freed: Int
                do throws(FileFault) {
                    let file = try open(for: log)
                    let bytes = UnsafeRawBufferPointer(start: piece.storage.base, count: piece.count)
                    try files.writeAll(file.descriptor, bytes, at: Int64(offset))
                    freed = log.state.withLock { $0.didWrite(piece, to: file) }
                } catch {
                    let fault = error
                    budget?.give(log.state.withLock { $0.didFail(fault) })
                    return
                }
                budget?.give(freed)
            }
        }
    }

    private func open(for log: ByteLog) throws(FileFault) -> LogFile {
        if let file = log.state.withLock({ $0.file }) { return file }
        return LogFile(descriptor: try files.openTemporary(in: directory), files: files)
    }

    static func error(for fault: FileFault?) -> WebImageError {
        guard let fault else { return WebImageError(.cacheIO, "the temporary file of a transfer failed") }
        // ENOSPC and EDQUOT on Linux.
        let isFull = fault.errorNumber == 28 || fault.errorNumber == 122
        return WebImageError(
            isFull ? .noSpace : .cacheIO,
            "the body is too large for memory, and the temporary file for it could not be written", cause: fault)
    }
}
