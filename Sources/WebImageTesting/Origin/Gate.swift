import CShimSystem
import Synchronization
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A gate that is closed at first and opened once. Waiters continue when it opens. Any thread may use it.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Guarded(State())
    /// A pipe whose writing end closes when the gate opens, so that a thread can wait for it and a socket at once.
    private let pipe: PipeEnds

    public init() {
        guard let pipe = PipeEnds() else { preconditionFailure("the system gives no more pipes (error \(errno))") }
        self.pipe = pipe
    }

    deinit {
        if !isOpen { close(pipe.writing) }
        close(pipe.reading)
    }

    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Opens the gate for good; further calls do nothing.
    public func open() {
        let actions: [@Sendable () -> Void]? = state.withLock { state in
            guard !state.isOpen else { return nil }
            state.isOpen = true
            defer { state.actions = [] }
            return state.actions
        }
        guard let actions else { return }
        close(pipe.writing)
        for action in actions { action() }
    }

    /// Blocks the thread until the gate is open.
    ///
    /// - Parameter timeout: the longest wait; nil waits for ever.
    /// - Returns: whether it is open.
    @discardableResult
    public func wait(timeout: Duration? = nil) -> Bool {
        _ = waitForEvents(on: nil, or: self, until: timeout.map { SystemClock.shared.now + $0 })
        return isOpen
    }

    /// Waits until the gate is open, or the task is cancelled.
    public func opened() async {
        let waiter = SingleAnswer()
        whenOpen { waiter.give(true) }
        _ = await waiter.answer(within: nil)
    }

    /// Runs `action` once the gate is open: at once if it is open already, else on the thread that opens it.
    package func whenOpen(_ action: @escaping @Sendable () -> Void) {
        let runsNow = state.withLock { state in
            if !state.isOpen { state.actions.append(action) }
            return state.isOpen
        }
        if runsNow { action() }
    }

    /// A descriptor that becomes readable when the gate opens.
    var descriptor: Int32 { pipe.reading }
}

/// The event that ended a wait for a socket.
enum SocketEvent {
    /// The deadline passed.
    case timeout
    case gateOpened
    /// The peer closed or reset the connection, or it was shut down here.
    case closed
}

/// Waits until the peer of `socket` has closed, `gate` is open or the clock has reached `deadline`, whichever is first.
/// Bytes that arrive meanwhile are not read.
func waitForEvents(on socket: LoopbackSocket?, or gate: Gate?, until deadline: Duration?) -> SocketEvent {
    let finishedSending = wi_poll_finished_sending()
    while true {
        var timeout: Int32 = -1
        if let deadline {
            let (seconds, attoseconds) = (deadline - SystemClock.shared.now).components
            let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
            if milliseconds <= 0 { return .timeout }
            timeout = Int32(clamping: milliseconds)
        }
        // poll skips descriptors below 0.
        var watched = [
            pollfd(fd: socket?.descriptor ?? -1, events: finishedSending, revents: 0),
            pollfd(fd: gate?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&watched, nfds_t(watched.count), timeout) > 0 else { continue }
        if watched[1].revents != 0 { return .gateOpened }
        if watched[0].revents != 0 { return .closed }
    }
}
