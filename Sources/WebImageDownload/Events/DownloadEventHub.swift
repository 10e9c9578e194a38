import Synchronization
import WebImageCore
import WebImageSystem

/// Delivers events to listeners; costs one atomic load if there are none.
final class DownloadEventHub: Sendable {
    /// Mailboxes are held by their listeners.
    private struct Listener {
        weak var mailbox: DownloadMailbox?
    }

    private struct State {
        var listeners: [Listener] = []
        var gauges: [Int: AsyncStream<Int>.Continuation] = [:]
        var nextGauge = 0
        var isOver = false
    }

    private let state = Guarded(State())
    private let isHeard = Atomic(false)
    private let hasGauges = Atomic(false)

    var isWanted: Bool { isHeard.load(ordering: .acquiring) }

    func listen() -> DownloadEvents {
        let mailbox = DownloadMailbox()
        let isOver = state.withLock { state in
            if !state.isOver {
                state.listeners.append(Listener(mailbox: mailbox))
                isHeard.store(true, ordering: .releasing)
            }
            return state.isOver
        }
        if isOver { mailbox.close() }
        return DownloadEvents(mailbox: mailbox)
    }

    func emit(_ transfer: Int, _ url: @autoclosure () -> String, _ kind: @autoclosure () -> DownloadEvent.Kind) {
        guard isWanted else { return }
        let mailboxes = state.withLock { state -> [DownloadMailbox] in
            let mailboxes = state.listeners.compactMap(\.mailbox)
            if mailboxes.count < state.listeners.count { state.listeners.removeAll { $0.mailbox == nil } }
            if state.listeners.isEmpty { isHeard.store(false, ordering: .releasing) }
            return mailboxes
        }
        if mailboxes.isEmpty { return }
        let event = DownloadEvent(transfer: transfer, url: url(), kind: kind())
        for mailbox in mailboxes { mailbox.put(event) }
    }

    /// Emits the last event of a transfer; before a successful one, an event that all bytes have arrived.
    func emitEnd(
        _ transfer: Int, _ url: @autoclosure () -> String, _ error: WebImageError?, _ received: Int,
        _ metrics: TransferMetrics
    ) {
        guard isWanted else { return }
        let url = url()
        switch error?.code {
        case nil:
            emit(transfer, url, .bytes(received: received, expected: received))
            emit(transfer, url, .finished(metrics))
        case .cancelled?: emit(transfer, url, .cancelled)
        default: if let error { emit(transfer, url, .failed(error)) }
        }
    }

    /// The number of running transfers, at each change; a slow listener gets only the newest number.
    func gauge(startingAt count: Int) -> AsyncStream<Int> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        let (id, isOver) = state.withLock { state in
            state.nextGauge += 1
            if !state.isOver {
                state.gauges[state.nextGauge] = continuation
                hasGauges.store(true, ordering: .releasing)
            }
            return (state.nextGauge, state.isOver)
        }
        continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.gauges.removeValue(forKey: id) } }
        continuation.yield(count)
        if isOver { continuation.finish() }
        return stream
    }

    func noteRunning(_ count: () -> Int) {
        guard hasGauges.load(ordering: .acquiring) else { return }
        let gauges = state.withLock { state in
            if state.gauges.isEmpty { hasGauges.store(false, ordering: .releasing) }
            return Array(state.gauges.values)
        }
        if gauges.isEmpty { return }
        let count = count()
        for gauge in gauges { gauge.yield(count) }
    }

    func close() {
        let (listeners, gauges) = state.withLock { state in
            state.isOver = true
            defer {
                state.listeners = []
                state.gauges = [:]
            }
            return (state.listeners, Array(state.gauges.values))
        }
        for listener in listeners { listener.mailbox?.close() }
        for gauge in gauges { gauge.finish() }
    }
}
