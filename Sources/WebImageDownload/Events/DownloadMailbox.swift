import Synchronization
import WebImageCore
import WebImageSystem

/// The events that wait for one listener.
final class DownloadMailbox: Sendable {
    private struct State {
        var waiting: [DownloadEvent?] = []
        var first = 0
        /// The position of each transfer's waiting progress event, counted from the first event.
        var progress: [Int: Int] = [:]
        var isOver = false
        var listener: CheckedContinuation<DownloadEvent?, Never>?

        mutating func take() -> DownloadEvent? {
            while first < waiting.count {
                defer { first += 1 }
                guard let event = waiting[first] else { continue }
                if case .bytes = event.kind { progress[event.transfer] = nil }
                waiting[first] = nil
                return event
            }
            waiting.removeAll(keepingCapacity: true)
            first = 0
            return nil
        }

        mutating func put(_ event: DownloadEvent) {
            if case .bytes = event.kind {
                if let place = progress[event.transfer] {
                    waiting[place] = event
                    return
                }
                progress[event.transfer] = waiting.count
            } else {
                progress[event.transfer] = nil
            }
            waiting.append(event)
            if waiting.count - first > DownloadMailbox.limit { _ = take() }
            if first > DownloadMailbox.limit { pack() }
        }

        private mutating func pack() {
            waiting.removeFirst(first)
            for key in progress.keys { progress[key]? -= first }
            first = 0
        }
    }

    static let limit = 4096
    private let state = Guarded(State())

    func put(_ event: DownloadEvent) {
        let listener = state.withLock { state -> CheckedContinuation<DownloadEvent?, Never>? in
            if state.isOver { return nil }
            if let listener = state.listener {
                state.listener = nil
                return listener
            }
            state.put(event)
            return nil
        }
        listener?.resume(returning: event)
    }

    /// Closes the mailbox: waiting events can still be taken, then nil follows.
    func close() {
        let listener = state.withLock { state in
            state.isOver = true
            defer { state.listener = nil }
            return state.listener
        }
        listener?.resume(returning: nil)
    }

    func next() async -> DownloadEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (event, isOver) = state.withLock { state -> (DownloadEvent?, Bool) in
                    if let event = state.take() { return (event, true) }
                    // A second listener of a mailbox gets nothing.
                    if state.isOver || state.listener != nil { return (nil, true) }
                    state.listener = continuation
                    return (nil, false)
                }
                if event != nil || isOver { continuation.resume(returning: event) }
            }
        } onCancel: {
            close()
        }
    }
}
