import HTTPTypes
import Synchronization
import WebImageCore

/// A transfer from a file or a `data:` URL: read on the I/O executor, without slot and deadline. A small file in the
/// system's cache is read where the transfer begins, because waking another thread takes longer.
final class LocalTransfer: Transfer {
    private static let pieceSize = 256 << 10
    private static let maxAtOnce = 32 << 10

    let id: TransferQueue.ID
    let log: ByteLog
    private let source: DownloadSource
    private let limit: Int
    private let priority: LoadPriority
    private let files: any FileSystem
    private let executor: any WorkExecutor
    private let surroundings: TransferSurroundings
    private let owner: any TransferOwner
    private let createdAt: Duration
    private let isStopped = Atomic(false)
    private let hasEnded = Atomic(false)

    init(
        id: TransferQueue.ID, source: DownloadSource, limit: Int, priority: LoadPriority, log: ByteLog,
        files: any FileSystem, executor: any WorkExecutor, surroundings: TransferSurroundings,
        owner: any TransferOwner
    ) {
        self.id = id
        self.log = log
        self.source = source
        self.limit = limit
        self.priority = priority
        self.files = files
        self.executor = executor
        self.surroundings = surroundings
        self.owner = owner
        createdAt = surroundings.clock.now
    }

    var metrics: TransferMetrics? {
        guard log.end != nil else { return nil }
        var metrics = TransferMetrics()
        metrics.finalURL = source.text
        return metrics
    }

    var exchange: DownloadExchange? { nil }

    func expire(at now: Duration) -> Duration? { nil }

    func begin() {
        surroundings.events.emit(id, source.shown, .started)
        if case .file(let path) = source, readAtOnce(path) { return }
        executor.run(priority) {
            switch self.source {
            case .data(let text): self.decode(text)
            case .file(let path): self.open(path)
            case .web, .loader: preconditionFailure("neither a file nor a data: URL")
            }
        }
    }

    func fail(_ error: WebImageError) {
        isStopped.store(true, ordering: .relaxed)
        let error = error.at(source.shown)
        noteEnd(error, received: 0)
        owner.transferDidEnd(id)
        log.abort(error)
    }

    /// - Parameter received: the length of the whole body, if it was read.
    private func end(_ error: WebImageError?, received: Int = 0) {
        noteEnd(error, received: received)
        owner.transferDidEnd(id)
        log.finish(error.map { .failed($0) } ?? .complete)
    }

    /// Emits the event of the transfer's end, once.
    private func noteEnd(_ error: WebImageError?, received: Int) {
        guard !hasEnded.exchange(true, ordering: .relaxed), surroundings.events.isWanted else { return }
        var metrics = TransferMetrics()
        metrics.finalURL = source.text
        metrics.total = surroundings.clock.now - createdAt
        surroundings.events.emitEnd(id, source.shown, error, received, metrics)
    }

    private func decode(_ text: String) {
        do throws(WebImageError) {
            let data = try DataURL(text, limit: limit)
            let head = ResponseHead(status: 200, headers: [.contentType: data.mediaType])
            log.setHead(head, expectedLength: data.bytes.count)
            // The result is ignored: it concerns memory, which the text uses already.
            _ = data.bytes.withUnsafeBytes { log.append($0) }
            end(nil, received: data.bytes.count)
        } catch {
            end(error)
        }
    }

    // MARK: Files

    /// - Returns: false if reading would wait, the file is not small, or there is an error.
    private func readAtOnce(_ path: String) -> Bool {
        guard let file = files.openAtOnce(FilePath(path)) else { return false }
        defer { files.close(file) }
        return withUnsafeTemporaryAllocation(byteCount: Self.maxAtOnce + 1, alignment: 16) { buffer in
            guard let count = files.readAtOnce(file, into: buffer, at: 0), count > 0,
                count <= min(Self.maxAtOnce, limit)
            else { return false }
            // The bytes so far may be only those in the cache, and not the whole file.
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            guard files.readAtOnce(file, into: rest, at: Int64(count)) == 0 else { return false }
            log.setHead(nil, expectedLength: count)
            _ = log.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            end(nil, received: count)
            return true
        }
    }

    private func open(_ path: String) {
        do throws(WebImageError) {
            read(try OpenFile(path, files: files, limit: limit))
        } catch {
            end(error)
        }
    }

    /// Reads to the end, including bytes that the log does not keep, so that later reads of the file need not wait for
    /// a disk.
    private func read(_ file: OpenFile) {
        log.setHead(nil, expectedLength: file.size > 0 ? file.size : nil)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { piece.deallocate() }
        do throws(WebImageError) {
            while !isStopped.load(ordering: .relaxed) {
                let count = try file.read(into: piece, limit: limit)
                if count == 0 { return end(nil, received: file.position) }
                log.append(UnsafeRawBufferPointer(rebasing: piece[..<count]), of: file.file)
                log.publish()
            }
        } catch {
            end(error)
        }
    }
}
