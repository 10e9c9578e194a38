import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// The state of one scripted transfer. It is a value whose methods return the next action.
struct FakeDelivery {
    enum Action {
        case connect
        case head(ResponseHead)
        case piece(Range<Int>)
        case endBatch
        case finish(Result<TransportTimings, WebImageError>, wasCancelled: Bool)
        /// Do nothing until the gate opens or the transfer is ended.
        case wait(Gate)
        /// Do nothing until the transfer is resumed or ended.
        case rest
    }

    private enum Stage {
        case start
        case head
        case body
        case finished
    }

    let answer: DeliveredAnswer
    var isPaused = false
    /// The error that ends the transfer early.
    var ending: WebImageError?
    private var bodyCount: Int { answer.body.count }
    private let isFirst: Bool
    private var stage = Stage.start
    private var sent = 0
    private var holdsPassed = 0
    private var isInBatch = false

    /// - Parameter answer: the answer as the receiver gets it (``DeliveredAnswer``).
    init(_ answer: DeliveredAnswer, isFirst: Bool) {
        self.answer = answer
        self.isFirst = isFirst
    }

    mutating func next() -> Action {
        if stage == .finished { return .rest }
        if let ending { return finish(.failure(ending)) }
        if stage == .start {
            stage = .head
            // A transfer that fails without a response reports no connection.
            if answer.isConnected { return .connect }
        }
        if isPaused { return idle(.rest) }
        if let gate = closedGate() { return idle(.wait(gate)) }
        if stage == .head, let head = answer.head {
            stage = .body
            return .head(head)
        }
        guard sent < bodyCount else { return finish(answer.failure.map { .failure($0) } ?? .success(timings)) }
        let nextHold = holdsPassed < answer.holds.count ? answer.holds[holdsPassed].offset : bodyCount
        let end = min(sent + answer.pieceSize, nextHold, bodyCount)
        defer { sent = end }
        isInBatch = true
        return .piece(sent..<end)
    }

    private mutating func closedGate() -> Gate? {
        let reached = stage == .body ? sent : -1
        while holdsPassed < answer.holds.count, min(answer.holds[holdsPassed].offset, bodyCount) <= reached {
            if !answer.holds[holdsPassed].gate.isOpen { return answer.holds[holdsPassed].gate }
            holdsPassed += 1
        }
        return nil
    }

    private mutating func idle(_ action: Action) -> Action {
        guard isInBatch else { return action }
        isInBatch = false
        return .endBatch
    }

    private mutating func finish(_ result: Result<TransportTimings, WebImageError>) -> Action {
        stage = .finished
        return .finish(result, wasCancelled: ending?.code == .cancelled)
    }

    private var timings: TransportTimings {
        var timings = TransportTimings()
        timings.isReused = !isFirst
        timings.bodyBytes = sent
        return timings
    }
}

/// One transfer of a ``FakeTransport``. It calls the receiver as its delivery says, and never from two threads at a
/// time.
final class FakeTransfer: TransportTransfer {
    private struct State {
        var delivery: FakeDelivery
        /// Retained until it was told of the end.
        var receiver: (any TransportReceiver)?
        /// Whether a thread is in the loop of `deliver`, or is about to enter it.
        var isDelivering = false
        var waitsForGate = false
        var resumes = 0
    }

    private let state: Guarded<State>
    private let body: [UInt8]
    private let thread: ThreadPool?
    private let whenFinished: @Sendable (FakeTransfer, _ wasCancelled: Bool) -> Void

    init(
        _ delivery: FakeDelivery, receiver: any TransportReceiver, thread: ThreadPool?,
        whenFinished: @escaping @Sendable (FakeTransfer, _ wasCancelled: Bool) -> Void
    ) {
        state = Guarded(State(delivery: delivery, receiver: receiver))
        body = delivery.answer.body
        self.thread = thread
        self.whenFinished = whenFinished
    }

    func cancel() { end(.cancelled) }

    func pause() { state.withLock { $0.delivery.isPaused = true } }

    func resume() {
        state.withLock { state in
            state.delivery.isPaused = false
            state.resumes += 1
        }
        continueDelivery()
    }

    func end(_ error: WebImageError) {
        state.withLock { state in
            if state.delivery.ending == nil { state.delivery.ending = error }
        }
        continueDelivery()
    }

    /// Delivers what is due, unless a delivery is running, which then does it.
    func continueDelivery() {
        let mustStart = state.withLock { state in
            defer { state.isDelivering = true }
            return !state.isDelivering && state.receiver != nil
        }
        guard mustStart else { return }
        if let thread { thread.run(.normal) { self.deliver() } } else { deliver() }
    }

    private func deliver() {
        while true {
            // The decision to end the loop is made under the same lock as `isDelivering`, so that no wake-up is lost.
            let (action, receiver, resumes, listensToGate) = state.withLock { state in
                let action = state.delivery.next()
                let receiver = state.receiver
                var listensToGate = false
                switch action {
                case .wait:
                    state.isDelivering = false
                    listensToGate = !state.waitsForGate
                    state.waitsForGate = true
                case .rest: state.isDelivering = false
                case .finish: state.receiver = nil
                case .connect, .head, .piece, .endBatch: break
                }
                return (action, receiver, state.resumes, listensToGate)
            }
            guard let receiver else { return }
            switch action {
            case .connect: receiver.didConnect()
            case .head(let head): receiver.didReceive(head: head)
            case .piece(let range):
                give(range, to: receiver, resumesBefore: resumes)
            case .endBatch: receiver.didEndBatch()
            case .finish(let result, let wasCancelled):
                // The transfer is recorded first, since a waiter that the end wakes may read the records.
                whenFinished(self, wasCancelled)
                receiver.didFinish(result)
                return
            case .wait(let gate):
                if listensToGate { listen(to: gate) }
                return
            case .rest: return
            }
        }
    }

    /// Gives bytes to the receiver. A reader on another thread may resume before the receiver's `.pause` is returned
    /// here. The resume is then the later of the two, and counts.
    private func give(_ range: Range<Int>, to receiver: any TransportReceiver, resumesBefore: Int) {
        let flow = body.withUnsafeBytes { receiver.didReceive(UnsafeRawBufferPointer(rebasing: $0[range])) }
        guard flow == .pause else { return }
        state.withLock { state in
            if state.resumes == resumesBefore { state.delivery.isPaused = true }
        }
    }

    private func listen(to gate: Gate) {
        gate.whenOpen {
            self.state.withLock { $0.waitsForGate = false }
            self.continueDelivery()
        }
    }
}
