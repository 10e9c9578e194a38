import HTTPTypes
import Synchronization
import WebImageCore

/// A file or a `data:` URL as a transfer: read on the I/O executor, needs no slot and knows no deadline.
final class LocalTransfer: Transfer {
    private static let pieceSize = 256 << 10

    let id: TransferQueue.ID
    let log: ByteLog
    private let source: DownloadSource
    private let limit: Int
    private let priority: LoadPriority
    private let files: any FileSystem
    private let executor: any WorkExecutor
    private let budget: TransferMemoryBudget
    private let owner: any TransferOwner
    private let isStopped = Atomic(false)

    init(
        id: TransferQueue.ID, source: DownloadSource, limit: Int, priority: LoadPriority, log: ByteLog,
        files: any FileSystem, executor: any WorkExecutor, budget: TransferMemoryBudget, owner: any TransferOwner
    ) {
        self.id = id
        self.log = log
        self.source = source
        self.limit = limit
        self.priority = priority
        self.files = files
        self.executor = executor
        self.budget = budget
        self.owner = owner
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
        owner.transferDidEnd(id)
        log.abort(error.at(source.shown))
    }

    private func end(_ end: ByteLog.End) {
        owner.transferDidEnd(id)
        log.finish(end)
    }

    private func decode(_ text: String) {
        do throws(WebImageError) {
            let data = try DataURL(text, limit: limit)
            let head = ResponseHead(status: 200, fields: [.contentType: data.mediaType])
            log.setHead(head, expectedLength: data.bytes.count)
            // What comes back is about memory, which the text takes already.
            _ = data.bytes.withUnsafeBytes { log.append($0) }
            end(.complete)
        } catch {
            end(.failed(error))
        }
    }

    // MARK: Files

    private func open(_ path: String) {
        do throws(WebImageError) {
            read(try OpenFile(path, files: files, limit: limit))
        } catch {
            end(.failed(error))
        }
    }

    /// Reads on until the end, or until the logs hold too much: then again when they hold less.
    private func read(_ file: OpenFile) {
        if file.position == 0 { log.setHead(nil, expectedLength: file.size > 0 ? file.size : nil) }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { piece.deallocate() }
        do throws(WebImageError) {
            while !isStopped.load(ordering: .relaxed) {
                let count = try file.read(into: piece, limit: limit)
                if count == 0 { return end(.complete) }
                let result = log.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                log.publish()
                switch result {
                case .proceed: continue
                case .full(let error): throw error.at(source.shown)
                case .pause:
                    return budget.whenBelow { self.executor.run(self.priority) { self.read(file) } }
                }
            }
        } catch {
            end(.failed(error))
        }
    }
}
