import Synchronization
import WebImageCore
import WebImageSystem

/// Moves the bytes of one log through a decryptor into another, on the I/O executor.
final class DecryptingPump: @unchecked Sendable {
    // Sendable: one step runs at a time, each started by the one before; the lock of the log or of the budget that
    // starts the next one orders them.
    private let source: ByteLog
    private let target: ByteLog
    private let decryptor: BodyDecryptor
    private let limit: Int
    private let place: String
    private let executor: any WorkExecutor
    private let budget: TransferMemoryBudget
    private var stream: (any StreamDecryptor)?
    private var offset = 0
    private var produced = 0

    init(
        _ decryptor: BodyDecryptor, from source: ByteLog, to target: ByteLog, limit: Int, place: String,
        executor: any WorkExecutor, budget: TransferMemoryBudget
    ) {
        self.decryptor = decryptor
        self.source = source
        self.target = target
        self.limit = limit
        self.place = place
        self.executor = executor
        self.budget = budget
    }

    func start() {
        switch decryptor.work {
        case .whole(let work): source.whenSettled { log in self.onExecutor { $0.decryptWhole(log, work) } }
        case .streaming: source.whenHead { self.onExecutor { $0.step() } }
        }
    }

    private func onExecutor(_ work: @escaping @Sendable (DecryptingPump) -> Void) {
        executor.run(.normal) { work(self) }
    }

    private func decryptWhole(_ source: ByteLog, _ work: ([UInt8], ResponseHead?) throws -> [UInt8]?) {
        if case .failed(let error)? = source.end { return target.finish(.failed(error)) }
        do {
            let head = source.head
            guard let clear = try work(try source.collect(), head) else { return refuse(nil) }
            target.setHead(head, expectedLength: clear.count)
            if append(clear) { target.finish(.complete) }
        } catch {
            refuse(error)
        }
    }

    /// Decrypts the available bytes, until there are none or the logs hold too much.
    private func step() {
        do {
            if stream == nil, case .streaming(let make) = decryptor.work {
                target.setHead(source.head, expectedLength: nil)
                stream = make(source.head)
            }
            while true {
                switch source.read(at: offset) {
                case .chunk(let chunk):
                    offset += chunk.count
                    guard append(try stream?.update(chunk.array) ?? []) else { return }
                    target.publish()
                    if budget.isOver { return budget.whenBelow { self.onExecutor { $0.step() } } }
                case .wait:
                    source.whenReadable(after: offset) { self.onExecutor { $0.step() } }
                    return
                case .end(.failed(let error)):
                    if let next = source.successor { return beginAnew(with: next) }
                    return target.finish(.failed(error))
                case .end(.complete):
                    if append(try stream?.finish() ?? []) { target.finish(.complete) }
                    return
                }
            }
        } catch {
            refuse(error)
        }
    }

    /// The body was replaced: the output so far is replaced by that of the new body.
    private func beginAnew(with source: ByteLog) {
        let successor = target.makeSuccessor()
        DecryptingPump(
            decryptor, from: source, to: successor, limit: limit, place: place, executor: executor, budget: budget
        ).start()
        target.end(InterruptedBody.changed, replacedBy: successor)()
    }

    /// Returns false if the log has been ended instead.
    private func append(_ bytes: [UInt8]) -> Bool {
        produced += bytes.count
        guard produced <= limit else {
            let message = "the decrypted body grows beyond the limit of \(ByteCount(limit))"
            target.finish(.failed(WebImageError(over: .body, code: .bodyTooLarge, message, location: place)))
            return false
        }
        if bytes.isEmpty { return true }
        if case .full(let error) = bytes.withUnsafeBytes({ target.append($0) }) {
            target.finish(.failed(error.at(place)))
            return false
        }
        return true
    }

    private func refuse(_ cause: (any Error)?) {
        let cause = cause.map { WebImageError.wrapping($0, as: .corruptData, "the decryptor failed") }
        let message = "the body could not be decrypted"
        target.finish(.failed(WebImageError(.badImageData, message, cause: cause, location: place)))
    }
}
