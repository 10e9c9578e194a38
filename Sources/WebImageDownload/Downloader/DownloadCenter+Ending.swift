import Synchronization
import WebImageCore
import WebImageSystem

/// Ending transfers: all at once, or the unmarked ones when the downloader is drained.
extension DownloadCenter {
    func cancelAll() { failAll(.cancelled) }

    /// Accepts no more transfers, ends the unmarked ones, and waits until the others have ended or the time is up.
    func drain(within limit: Duration) async {
        endUnmarked()
        let answer = CancellableAnswer<Void>()
        let isEmpty = state.withLock { state in
            state.isShutDown = true
            if !state.entries.isEmpty { state.drains.append(answer) }
            return state.entries.isEmpty
        }
        if !isEmpty, limit > .zero {
            let alarm = clock.schedule(at: clock.now + limit) { answer.give(.success(())) }
            // A cancelled task does not wait.
            _ = try? await answer.value()
            alarm.cancel()
        }
        shutDown()
    }

    /// Accepts only marked transfers from now on, and ends the others.
    func endUnmarked() {
        let unmarked = state.withLock { state -> [any Transfer] in
            state.isEnding = true
            let unmarked = state.entries.values.filter { !$0.finishesWhenDrained }.map(\.transfer)
            // Otherwise the end of one transfer would start a waiting one that is about to be ended, too.
            for transfer in unmarked { state.queue.removeWaiting(transfer.id) }
            return unmarked
        }
        for transfer in unmarked { transfer.fail(Self.shutDownError) }
    }

    /// Marks a transfer because one of its callers wants it to finish.
    func mark(_ entry: TransferEntry) { state.withLock { _ in entry.finishesWhenDrained = true } }

    func shutDown() {
        state.withLock { $0.isShutDown = true }
        failAll(Self.shutDownError)
        timer.cancel()
        events.close()
        if ownsTransport { surroundings.transport.shutDown() }
    }

    private func failAll(_ error: WebImageError) {
        let transfers = state.withLock { state in
            for entry in state.table.values { entry.isInTable = false }
            state.table = [:]
            // Otherwise the end of one transfer would start another.
            state.queue.removeAllWaiting()
            return state.entries.values.map(\.transfer)
        }
        for transfer in transfers { transfer.fail(error) }
    }

    static let shutDownError = WebImageError(.shutDown, "the downloader was shut down")
}
