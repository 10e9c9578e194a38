import Synchronization
import WebImageCore
import WebImageSystem

/// Handles a body that changed during the transfer: the bytes of an earlier attempt are replaced by the origin's new
/// body.
extension WebTransfer {
    /// The repeated bytes differ from the available ones: the new bytes so far, and those that follow, go to a new log.
    func replaceBody(_ bytes: UnsafeRawBufferPointer, at offset: Int, _ now: Duration) -> TransportFlow {
        typealias Replaced = (old: ByteLog, log: ByteLog, length: Int?, wakeReaders: @Sendable () -> Void)
        let replaced = state.withLock { state -> Replaced? in
            guard state.machine.replace() else { return nil }
            let old = state.log
            let wakeReaders = state.replaceLog()
            return (old, state.log, state.machine.expectedLength, wakeReaders)
        }
        guard let (old, log, length, wakeReaders) = replaced else {
            fail(InterruptedBody.changed)
            return .proceed
        }
        let head = exchange?.head
        log.setHead(head, expectedLength: length)
        emit(.response(status: head?.status ?? 200, expectedLength: length))
        defer { wakeReaders() }
        // Up to here both bodies are the same.
        var done = 0
        while done < offset {
            guard case .chunk(let chunk) = old.read(at: done) else {
                fail(InterruptedBody.changed)
                return .proceed
            }
            let count = min(chunk.count, offset - done)
            let result = chunk.withUnsafeBytes { log.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            if case .full = result { return flow(after: result, at: now) }
            done += count
        }
        return flow(after: log.append(bytes), at: now)
    }
}

extension WebTransfer.State {
    /// Starts another log that replaces the current one.
    ///
    /// - Returns: a function that wakes the readers; call it when all locks are released and the new log's head is set.
    mutating func replaceLog() -> @Sendable () -> Void {
        let old = log
        log = old.makeSuccessor()
        progress.beginAnew()
        record.metrics.resumedBytes = 0
        return old.end(InterruptedBody.changed, replacedBy: log)
    }
}
