import HTTPTypes
import Synchronization
import WebImageCore
import WebImageSystem

/// Puts the beginning of a body that an earlier transfer kept in front of the rest that a running one brings: one log for
/// all readers, written on the I/O executor.
final class ContinuedLog: @unchecked Sendable {
    // Sendable: one step runs at a time, each started by the one before; the lock of the log or of the budget that
    // starts the next one orders them.
    private let beginning: any PartialBody
    private let rest: ByteLog
    private let target: ByteLog
    private let executor: any WorkExecutor
    private let budget: TransferMemoryBudget
    private var offset = 0

    init(
        _ beginning: any PartialBody, rest: ByteLog, into target: ByteLog, executor: any WorkExecutor,
        budget: TransferMemoryBudget
    ) {
        self.beginning = beginning
        self.rest = rest
        self.target = target
        self.executor = executor
        self.budget = budget
    }

    /// - Parameter whenBegun: called once the beginning is in the log and the claim is not read any more.
    func start(_ head: ResponseHead, whenBegun: @escaping @Sendable (ByteLog) -> Void) {
        target.setHead(head, expectedLength: head[.contentLength].flatMap { Int($0) })
        executor.run(.normal) {
            guard self.copyBeginning() else { return }
            whenBegun(self.target)
            self.step()
        }
    }

    private func copyBeginning() -> Bool {
        let length = beginning.length
        do throws(WebImageError) {
            var done = 0
            while done < length {
                let bytes = try beginning.read(at: done)
                if bytes.isEmpty { break }
                done += bytes.count
                guard append(bytes) else { return false }
            }
            target.publish()
            return true
        } catch {
            target.finish(.failed(error))
            return false
        }
    }

    /// Takes what is there, until there is nothing or the logs hold too much.
    private func step() {
        while true {
            switch rest.read(at: offset) {
            case .chunk(let chunk):
                offset += chunk.count
                guard append(chunk.array) else { return }
                target.publish()
                if budget.isOver { return budget.whenBelow { self.goOn() } }
            case .wait: return _ = rest.whenReadable(after: offset) { self.goOn() }
            case .end(let end): return target.finish(end)
            }
        }
    }

    private func goOn() { executor.run(.normal) { self.step() } }

    /// False when the log has been ended instead.
    private func append(_ bytes: [UInt8]) -> Bool {
        guard case .full(let error) = bytes.withUnsafeBytes({ target.append($0) }) else { return true }
        target.finish(.failed(error))
        return false
    }
}
