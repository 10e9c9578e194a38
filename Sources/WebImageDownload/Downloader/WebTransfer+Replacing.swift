import Synchronization
import WebImageCore
import WebImageSystem

/// A body that changed while it came: what an earlier try brought is replaced by what the origin has now.
extension WebTransfer {
    /// The bytes that come again, from the beginning on, are not those that are there: what has come of them so far and
    /// what follows goes into a log of its own.
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
        // Up to here both are the same.
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
    /// Begins another log in place of the one there is.
    ///
    /// - Returns: what wakes the readers: to be run once every lock is left, and the new log's head is set.
    mutating func replaceLog() -> @Sendable () -> Void {
        let old = log
        log = old.makeSuccessor()
        progress.beginAnew()
        record.metrics.resumedBytes = 0
        return old.end(InterruptedBody.changed, replacedBy: log)
    }
}
