import CShimSandbox
import Synchronization
package import WebImageCore
import WebImageSystem

/// The decoding processes of one manager: started when they are needed, lent to one thread at a time, ended when they
/// are idle. Any thread may use it.
///
/// A process may hold several pictures at once. Each picture occupies the process only for one call, so that a picture
/// whose bytes arrive slowly does not block the others.
package final class DecoderPool: Sendable {
    typealias Checkpoint = @Sendable () throws(WebImageError) -> Void

    /// How long a picture waits for the process that holds it, before it is started anew in another one.
    private static let longestWaitForProcess = Duration.milliseconds(20)

    /// Events of processes, for logs and metrics.
    package enum Event: Sendable {
        case started
        /// The process crashed, or violated the protocol.
        case crashed(WebImageError)
        /// The process was ended because its picture took too long, or was cancelled.
        case ended
        /// The sandbox is missing or incomplete, for this reason. Reported once.
        case isWeak(String)
    }

    struct Start: Sendable {
        let kind: WorkerKind
        /// nil: no caller waits for the process.
        let answer: BlockingAnswer<Result<DecoderProcess, WebImageError>>?
    }

    struct State {
        var processes: [DecoderProcess] = []
        /// How many processes have been requested and are not ready.
        var starting = 0
        var starts: [Start] = []
        /// Processes to be ended, which takes a moment.
        var doomed: [DecoderProcess] = []
        var hasKeeper = false
        var isShutDown = false
        var failedStarts = FailedStarts()
        var report = IsolationReport(.unused)
        var hasToldWeakness = false
        /// How many pictures were opened in all.
        var opened = 0

        /// - Returns: whether the thread that starts processes must be created.
        mutating func request(_ start: Start) -> Bool {
            starting += 1
            starts.append(start)
            defer { hasKeeper = true }
            return !hasKeeper
        }
    }

    let isolation: DecoderIsolation
    let tables = Guarded(KnownTables())
    let settings: WorkerSettings
    /// The maximum number of simultaneous processes.
    private let most: Int
    let state = Monitor(State())
    let notify: @Sendable (Event) -> Void

    /// - Parameters:
    ///   - width: the number of threads that decode pictures; vector pictures have nearly as many of their own.
    ///   - hiddenOptions: for tests: reduces the confinement of workers.
    ///   - notify: receives events, on any thread.
    package init(
        _ isolation: DecoderIsolation, width: Int = Processors.count, hiddenOptions: Int = 0,
        notify: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.isolation = isolation
        self.notify = notify
        // A decoding thread uses one process for its picture, and may need another for the picture's profile; one that
        // encodes an animation has a third. With fewer processes all threads could wait for each other.
        most = 5 * max(width, 1) + 2
        settings = WorkerSettings(
            memory: isolation.memory, program: isolation.program ?? Self.program, hiddenOptions: hiddenOptions)
        if isolation.formats == .none { state.withLock { $0.report.state = .off } }
    }

    deinit { shutDown() }

    /// Ends all processes; their decodes fail.
    package func shutDown() { state.withLock { $0.isShutDown = true } }

    /// Starts a process for pictures unless there is one, and waits until it is ready or has failed.
    package func prewarm() {
        guard isolation.formats != .none else { return }
        _ = try? hasSandbox(.pictures, nil)
    }

    /// Starts a process in advance, unless an idle one of its kind exists.
    private func replace(_ kind: WorkerKind) {
        let isFirst = state.withLock { state in
            let isThere = state.processes.contains { $0.kind == kind && $0.lending.isFree }
            guard !isThere, !state.starts.contains(where: { $0.kind == kind }), !state.isShutDown,
                state.processes.count + state.starting < most, refusal(kind, state) == nil, resting(state) == nil
            else { return false }
            return state.request(Start(kind: kind, answer: nil))
        }
        if isFirst { startKeeper() }
    }

    package var report: IsolationReport {
        state.withLock { state in
            var report = state.report
            report.running = state.processes.count
            report.startsAgainIn = state.failedStarts.rest(at: .now)
            return report
        }
    }

    /// The process numbers of the ready processes.
    package var processNumbers: [Int32] {
        state.withLock { $0.processes.filter(\.lending.isGreeted).map(\.processNumber) }
    }

    /// The program to run as a worker, if this program's executable cannot be one.
    private static let program: String? = {
        guard wi_worker_can_be_this_program() == 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard let start = buffer.baseAddress, wi_worker_find_program(start, buffer.count) == 0 else { return nil }
            return String(cString: start)
        }
    }()

    /// For tests: decodes in a process that was started elsewhere.
    func take(_ process: DecoderProcess) { state.withLock { $0.processes.append(process) } }

    // MARK: leases

    private enum Found {
        case process(DecoderProcess)
        case start(BlockingAnswer<Result<DecoderProcess, WebImageError>>, isFirst: Bool)
        case refused(WebImageError)
    }

    /// Leases a process for one call. Blocks while all are busy.
    ///
    /// - Parameters:
    ///   - bound: the process that holds the picture. Another one may be returned.
    ///   - isFresh: whether the process must not have decoded anything.
    /// - Throws: `decoderUnavailable`, and errors of the checkpoint.
    func lease(
        _ kind: WorkerKind, boundTo bound: DecoderProcess? = nil, isFresh: Bool = false, _ checkpoint: Checkpoint?
    ) throws(WebImageError) -> DecoderProcess {
        if let bound, takeBound(bound) { return bound }
        while true {
            switch find(kind, isFresh: isFresh) {
            case .process(let process):
                if process.lending.isGreeted { return process }
                // A process that was started in advance may have been killed since. The next one is started for us.
                do throws(WebImageError) { return try greet(process, checkpoint) } catch {
                    guard error.code == .decoderUnavailable else { throw error }
                }
            case .start(let start, let isFirst):
                if isFirst { startKeeper() }
                return try greet(try start.value().get(), checkpoint)
            case .refused(let error): throw error
            case nil: try checkpoint?()
            }
        }
    }

    private func takeBound(_ process: DecoderProcess) -> Bool {
        state.wait(atMost: Self.longestWaitForProcess) { _ in
            if process.lending.isDead { return false }
            guard !process.lending.isBusy else { return nil }
            process.lending.isBusy = true
            return true
        } ?? false
    }

    private func find(_ kind: WorkerKind, isFresh: Bool) -> Found? {
        state.wait(atMost: .milliseconds(50)) { state in
            if state.isShutDown { return .refused(Self.isShutDown) }
            if let error = self.refusal(kind, state) { return .refused(error) }
            let idle = state.processes.filter {
                $0.kind == kind && $0.lending.isFree && (!isFresh || $0.lending.opened == 0)
            }
            // Prefers one that holds few pictures, then one that is ready.
            func burden(_ process: DecoderProcess) -> (Int, Int) {
                (process.lending.sessions.count, process.lending.isGreeted ? 0 : 1)
            }
            if let process = idle.min(by: { burden($0) < burden($1) }) {
                process.lending.isBusy = true
                return .process(process)
            }
            // Idle processes may still be used meanwhile.
            if let error = self.resting(state) { return .refused(error) }
            if state.processes.count + state.starting >= self.most {
                // An idle process of the other kind, or one that was used before or takes no more pictures, is ended to
                // make room. An animation in it begins anew in another one.
                let other = state.processes.first {
                    !$0.lending.isBusy && ($0.kind != kind || isFresh || $0.lending.isRetiring)
                }
                guard let other else { return nil }
                Self.doom(other, &state)
            }
            let answer = BlockingAnswer<Result<DecoderProcess, WebImageError>>()
            return .start(answer, isFirst: state.request(Start(kind: kind, answer: answer)))
        }
    }

    private func refusal(_ kind: WorkerKind, _ state: State) -> WebImageError? {
        switch state.report.state {
        case .unavailable: return Self.noSandbox(state.report.reason ?? "")
        case .withoutLandlock where kind == .drawings: return Self.noSandbox(Self.needsLandlock)
        default: break
        }
        return nil
    }

    /// The error for a picture that needs a new process while starts are paused; nil if they are not.
    private func resting(_ state: State) -> WebImageError? {
        guard let rest = state.failedStarts.rest(at: .now) else { return nil }
        var error = WebImageError(
            .decoderUnavailable, "processes for decoding do not start; they are tried again in \(rest)")
        error.retryAfter = rest
        return error
    }

    private static var isShutDown: WebImageError { WebImageError(.shutDown, "the manager has been shut down") }

    private static let needsLandlock = "drawings read fonts, which takes landlock (Linux 5.13) to be safe"

    private static func noSandbox(_ reason: String) -> WebImageError {
        WebImageError(
            .decoderUnavailable,
            "there is no sandbox for the decoder (\(reason)); DecoderIsolation.withoutSandbox can allow decoding without"
        )
    }

    /// Waits for a new process's first message, and records how it is confined.
    private func greet(
        _ process: DecoderProcess, _ checkpoint: Checkpoint?
    ) throws(WebImageError) -> DecoderProcess {
        let failure: WebImageError
        do throws(DecoderProcess.Failure) {
            let hello = try process.waitForHello(checkpoint)
            let refused = state.withLock { state -> WebImageError? in
                if hello.fault != 0, process.kind == .encoders {
                    // A library of encoders may have left a thread behind. That says nothing about decoders.
                    return Self.noSandbox(SystemErrorText.of(Int32(hello.fault)))
                } else if hello.fault != 0 {
                    state.report.state = .unavailable
                    state.report.reason =
                        "the system refuses to confine a process: \(SystemErrorText.of(Int32(hello.fault)))"
                } else if !hello.hasSeccomp {
                    state.report.state = .unavailable
                    state.report.reason = "the kernel has no seccomp filters"
                } else {
                    state.report.state = hello.landlock > 0 ? .full : .withoutLandlock
                    state.report.reason = hello.landlock > 0 ? nil : "the kernel has no landlock"
                }
                process.lending.isGreeted = true
                state.failedStarts.noteSuccess()
                return refusal(process.kind, state)
            }
            reportWeakness()
            guard let refused else { return process }
            failure = refused
            end(process, .ended, while: "it was started")
        } catch {
            switch error {
            case .callerGaveUp(let error):
                failure = error
                end(process, .ended, while: "it was started")
            case .protocolViolation(let what):
                failure = WebImageError(.decoderUnavailable, "the process for decoding cannot be used: \(what)")
                end(process, .failedStart, while: "it was started")
            case .decoderError, .ended:
                let cause = end(process, .failedStart, while: "it was started").error
                failure =
                    cause.code == .shutDown
                    ? cause
                    : WebImageError(.decoderUnavailable, "no process for decoding can be started", cause: cause)
            }
        }
        throw failure
    }

    /// Reports once why pictures are refused, or decoded without a sandbox.
    private func reportWeakness() {
        let reason = state.withLock { state -> String? in
            guard !state.hasToldWeakness, let reason = state.report.reason else { return nil }
            state.hasToldWeakness = true
            return reason
        }
        if let reason { notify(.isWeak(reason)) }
    }

    /// Returns a process after a call that succeeded, or failed with an error of the decoder.
    ///
    /// - Parameter retires: whether it takes no more pictures, because one of them was damaged.
    func giveBack(_ process: DecoderProcess, retires: Bool = false) {
        let isReplaced = state.withLock { state in
            process.lending.isBusy = false
            process.lending.idleSince = .now
            if retires { process.lending.isRetiring = true }
            Self.tidy(process, &state)
            return process.lending.isRetiring && state.opened > 1
        }
        if isReplaced { replace(process.kind) }
    }

    enum Reason { case crashed, ended, failedStart }

    /// The facts about a lost process.
    struct Lost {
        var error: WebImageError
        var hasServedOthers: Bool
    }

    /// Ends a leased process.
    ///
    /// - Parameter distrust: the invalid message that it sent, if that is the reason.
    /// - Returns: why it ended. The error is `shutDown` if the pool is shut down, which kills all processes.
    @discardableResult
    func end(_ process: DecoderProcess, _ reason: Reason, while what: String, distrust: String? = nil) -> Lost {
        var (error, reason) = (process.end(while: what), reason)
        if let distrust {
            error = WebImageError(
                .decoderCrashed, "the \(process.kind.worker) is not to be trusted while \(what): \(distrust)")
        }
        let (lost, isReplaced) = state.withLock { state in
            process.lending.isDead = true
            state.processes.removeAll { $0 === process }
            if state.isShutDown { (error, reason) = (Self.isShutDown, .ended) }
            switch reason {
            case .crashed: state.report.crashed += 1
            case .ended: state.report.ended += 1
            case .failedStart: state.failedStarts.noteFailure(at: .now)
            }
            // A long animation may use up the time that a process has for all its work.
            let isUsedUp = error.code == .limitExceeded && reason == .crashed
            let lost = Lost(error: error, hasServedOthers: process.lending.opened > 1 || isUsedUp)
            return (lost, reason != .failedStart && state.opened > 1)
        }
        switch reason {
        case .crashed, .failedStart: notify(.crashed(error))
        case .ended: notify(.ended)
        }
        if isReplaced { replace(process.kind) }
        return lost
    }

    // MARK: pictures

    func isAlive(_ process: DecoderProcess) -> Bool { state.withLock { _ in !process.lending.isDead } }

    /// Assigns a number to a picture in a leased process.
    func openSession(_ process: DecoderProcess) -> UInt32 {
        state.withLock { state in
            state.opened += 1
            process.lending.opened += 1
            process.lending.sessions.insert(process.lending.opened)
            if process.lending.opened >= isolation.picturesPerProcess { process.lending.isRetiring = true }
            return process.lending.opened
        }
    }

    /// Closes a picture that is no longer needed.
    ///
    /// - Parameter isKnown: whether the worker has closed the picture already.
    func closeSession(_ session: UInt32, _ process: DecoderProcess, isKnown: Bool = false) {
        state.withLock { state in
            guard process.lending.sessions.remove(session) != nil else { return }
            if !isKnown { process.lending.closing.append(session) }
            if !process.lending.isBusy { Self.tidy(process, &state) }
        }
    }

    /// Closes unneeded pictures in an idle process, and ends the process if its time is over.
    private static func tidy(_ process: DecoderProcess, _ state: inout State) {
        guard !process.lending.isDead else { return }
        let listens = process.lending.closing.allSatisfy { process.sendClose(of: $0) }
        process.lending.closing = []
        if !listens { return doom(process, &state) }
        if process.lending.isRetiring, process.lending.sessions.isEmpty { doom(process, &state) }
    }

    static func doom(_ process: DecoderProcess, _ state: inout State) {
        process.lending.isDead = true
        state.processes.removeAll { $0 === process }
        state.doomed.append(process)
    }
}
