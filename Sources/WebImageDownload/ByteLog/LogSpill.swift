import WebImageCore
import Synchronization
import WebImageSystem

/// A file with a log's bytes, which is closed when the log and the last reader have released it.
final class LogFile: Sendable {
    let descriptor: Int32
    let files: any FileSystem
    /// nil for a log's own temporary file, which has no name and is removed when it is closed.
    let path: String?

    init(descriptor: Int32, files: any FileSystem, path: String? = nil) {
        self.descriptor = descriptor
        self.files = files
        self.path = path
    }

    deinit { files.close(descriptor) }

    /// Reads `count` bytes from `offset` on, as the chunk that begins at `logOffset` in the log.
    ///
    /// - Throws: `truncatedBody` if the file has been shortened, `cacheIO` if it cannot be read.
    func read(at offset: Int, count: Int, logOffset: Int) throws(WebImageError) -> ByteChunk {
        let storage = ByteStorage(capacity: count)
        let found = try read(at: offset, into: UnsafeMutableRawBufferPointer(start: storage.base, count: count))
        return ByteChunk(storage: storage, start: 0, range: logOffset..<logOffset + found)
    }

    /// Fills `buffer` from `offset` on. Returns fewer bytes if the file has been shortened, but at least one.
    ///
    /// - Throws: as ``read(at:count:logOffset:)``.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(WebImageError) -> Int {
        let found: Int
        do throws(FileFault) {
            found = try files.readAll(descriptor, into: buffer, at: Int64(offset))
        } catch {
            let what = path == nil ? "the temporary file of a transfer" : "the file"
            throw WebImageError(.cacheIO, "\(what) could not be read", cause: error, location: path)
        }
        guard found > 0 else { throw Self.becameShorter(path) }
        return found
    }

    static func becameShorter(_ path: String?) -> WebImageError {
        WebImageError(.truncatedBody, "the file became shorter while it was read", location: path)
    }
}

/// Moves a log's bytes from memory to its file, in order, on the I/O executor.
struct LogSpill: Sendable {
    let files: any FileSystem
    let executor: any WorkExecutor
    let directory: String

    /// Writes until no bytes are left. The caller has claimed the spill.
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
            "the body is too large for memory, and the temporary file for it could not be written: \(SystemErrorText.of(fault.errorNumber))",
            cause: fault, location: fault.path.isEmpty ? nil : fault.path)
    }
}
