import HTTPTypes
import Synchronization
import WebImageCore
import WebImageSystem

/// Joins the stored beginning of a body and the rest that a running transfer receives: one log for all readers, written
/// on the I/O executor.
final class ContinuedLog: @unchecked Sendable {
    // Sendable: one step runs at a time, each started by the one before; the lock of the log or of the budget that
    // starts the next one orders them.
    private let beginning: any PartialBody
    private let rest: ByteLog
    private let target: ByteLog
    private let executor: any WorkExecutor
    private let budget: TransferMemoryBudget
    /// The most bytes of the whole body.
    private let limit: Int
    private var offset = 0
    /// How many bytes of the beginning and the rest the target has.
    private var appended = 0
    /// The length of the whole body, if the head states it.
    private var wholeLength: Int?

    init(
        _ beginning: any PartialBody, rest: ByteLog, into target: ByteLog, executor: any WorkExecutor,
        budget: TransferMemoryBudget, limit: Int
    ) {
        self.beginning = beginning
        self.rest = rest
        self.target = target
        self.executor = executor
        self.budget = budget
        self.limit = limit
    }

    /// - Parameter whenBegun: called with the log when it holds the whole beginning and `beginning` is no longer read;
    ///   with nil if the beginning cannot be read, and then the log stays empty.
    func start(_ head: ResponseHead, whenBegun: @escaping @Sendable (ByteLog?) -> Void) {
        wholeLength = try? head.announcedLength()
        target.setHead(head, expectedLength: wholeLength)
        executor.run(.normal) { self.copyBeginning(whenBegun) }
    }

    /// Copies the stored beginning into the log, and pauses while all logs together hold too much.
    private func copyBeginning(_ whenBegun: @escaping @Sendable (ByteLog?) -> Void) {
        while appended < beginning.length {
            guard let bytes = try? beginning.read(at: appended), !bytes.isEmpty, append(bytes) else {
                return whenBegun(nil)
            }
            if budget.isOver {
                target.publish()
                return budget.whenBelow { self.executor.run(.normal) { self.copyBeginning(whenBegun) } }
            }
        }
        target.publish()
        whenBegun(target)
        step()
    }

    /// Copies the available bytes of the rest, until there are none or all logs together hold too much.
    private func step() {
        while true {
            switch rest.read(at: offset) {
            case .chunk(let chunk):
                offset += chunk.count
                guard append(chunk.array) else { return }
                target.publish()
                if budget.isOver { return budget.whenBelow { self.scheduleStep() } }
            case .wait: return _ = rest.whenReadable(after: offset) { self.scheduleStep() }
            case .end(let end):
                // A new body arrives from its first byte on, so the stored beginning does not belong to it.
                if let next = rest.successor { return target.end(InterruptedBody.changed, replacedBy: next)() }
                return target.finish(checked(end))
            }
        }
    }

    /// The end of the log: an error if the body does not have the announced length. An origin may send less than the
    /// requested rest (RFC 9110 section 15.3.7).
    private func checked(_ end: ByteLog.End) -> ByteLog.End {
        let count = target.receivedCount
        guard case .complete = end, let wholeLength, count != wholeLength else { return end }
        return .failed(
            count < wholeLength
                ? WebImageError(.truncatedBody, "the body ended after \(count) of \(wholeLength) bytes")
                : WebImageError(.protocolError, "the body has \(count) bytes, more than the announced \(wholeLength)"))
    }

    private func scheduleStep() { executor.run(.normal) { self.step() } }

    /// Returns false if the log has been ended instead.
    private func append(_ bytes: [UInt8]) -> Bool {
        appended += bytes.count
        guard appended <= limit else {
            target.finish(.failed(WebImageError.bodyTooLarge(limit: limit)))
            return false
        }
        guard case .full(let error) = bytes.withUnsafeBytes({ target.append($0) }) else { return true }
        target.finish(.failed(error))
        return false
    }
}
