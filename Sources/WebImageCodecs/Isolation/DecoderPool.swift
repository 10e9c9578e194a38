import CShimSandbox
import Synchronization
package import WebImageCore
import WebImageSystem

/// The decoding processes of one manager: started when they are needed, lent to one thread at a time, ended when they are idle.
/// Any thread may use it.
///
/// A process may hold several pictures at once. Each occupies it only for one call, so that a picture whose bytes
/// arrive slowly does not block the others.
package final class DecoderPool: Sendable {
    typealias Checkpoint = @Sendable () throws(WebImageError) -> Void

    /// How long a picture waits for the process that knows it, before another one begins it anew.
    private static let loyalty = Duration.milliseconds(20)
    /// How many failed starts, in which time, end all starts for how long.
    private static let failedStarts = (count: 5, within: Duration.seconds(10), pause: Duration.seconds(30))

    /// What happened to processes, for logs and metrics.
    package enum Event: Sendable {
        case started
        /// By itself, or since it did not keep to the protocol.
        case crashed(WebImageError)
        /// Because its picture took too long, or was cancelled.
        case ended
        /// There is no sandbox, or not all of it: why. Told once.
        case isWeak(String)
    }

    struct Start: Sendable {
        let kind: WorkerKind
        /// nil: nobody waits for it.
        let answer: BlockingAnswer<Result<DecoderProcess, WebImageError>>?
    }

    struct State {
        var processes: [DecoderProcess] = []
        /// Asked for, and not there yet.
        var starting = 0
        var starts: [Start] = []
        /// To be ended, which takes a moment.
        var doomed: [DecoderProcess] = []
        var hasKeeper = false
        var isShutDown = false
        var failures: [ContinuousClock.Instant] = []
        var report = IsolationReport(.unused)
        var hasToldWeakness = false
        /// Pictures that were ever opened.
        var opened = 0

        /// As many are kept as are asked for.
        mutating func noteFailedStart() {
            failures = failures.suffix(DecoderPool.failedStarts.count - 1) + [.now]
        }

        /// - Returns: whether there is nobody to start it yet.
        mutating func ask(for start: Start) -> Bool {
            starting += 1
            starts.append(start)
            defer { hasKeeper = true }
            return !hasKeeper
        }
    }

    let isolation: DecoderIsolation
    let tables = Guarded(KnownTables())
    let settings: WorkerSettings
    /// Processes at once.
    private let most: Int
    let state = Monitor(State())
    let tell: @Sendable (Event) -> Void

    /// - Parameters:
    ///   - width: threads that decode pictures; drawings have nearly as many of their own.
    ///   - hiddenOptions: for tests, how a worker is confined less.
    ///   - tell: is told what happens, on any thread.
    package init(
        _ isolation: DecoderIsolation, width: Int = Processors.count, hiddenOptions: Int = 0,
        tell: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.isolation = isolation
        self.tell = tell
        // A thread that decodes has one for its picture and may want another one for the picture's profile. Were there fewer,
        // all could wait for each other.
        most = 4 * max(width, 1) + 2
        settings = WorkerSettings(
            memory: isolation.memory, program: isolation.program ?? Self.program, hiddenOptions: hiddenOptions)
        if isolation.formats == .none { state.withLock { $0.report.state = .off } }
    }

    deinit { shutDown() }

    /// Ends all processes; what they decode fails.
    package func shutDown() { state.withLock { $0.isShutDown = true } }

    /// Starts a process for pictures unless there is one, and waits until it is ready, or is not to be had.
    package func prewarm() {
        guard isolation.formats != .none else { return }
        _ = try? hasSandbox(.pictures, nil)
    }

    /// Starts a process that nobody waits for, unless an idle one of its kind is there.
    private func replace(_ kind: WorkerKind) {
        let isFirst = state.withLock { state in
            let isThere = state.processes.contains { $0.kind == kind && $0.lending.isFree }
            guard !isThere, !state.starts.contains(where: { $0.kind == kind }), !state.isShutDown,
                state.processes.count + state.starting < most, refusal(kind, state) == nil
            else { return false }
            return state.ask(for: Start(kind: kind, answer: nil))
        }
        if isFirst { startKeeper() }
    }

    package var report: IsolationReport {
        state.withLock { state in
            var report = state.report
            report.running = state.processes.count
            return report
        }
    }

    /// The numbers of the processes that are ready.
    package var processNumbers: [Int32] {
        state.withLock { $0.processes.filter(\.lending.isGreeted).map(\.processNumber) }
    }

    /// Where this program's executable cannot be a worker: the program that can.
    private static let program: String? = {
        guard wi_worker_can_be_this_program() == 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard let start = buffer.baseAddress, wi_worker_find_program(start, buffer.count) == 0 else { return nil }
            return String(cString: start)
        }
    }()

    /// For tests: has a process that was started elsewhere decode here.
    func take(_ process: DecoderProcess) { state.withLock { $0.processes.append(process) } }

    // MARK: leases

    private enum Found {
        case process(DecoderProcess)
        case start(BlockingAnswer<Result<DecoderProcess, WebImageError>>, isFirst: Bool)
        case refused(WebImageError)
    }

    /// A process for one call. Blocks while all are busy.
    ///
    /// - Parameters:
    ///   - bound: the process that knows the picture. What is returned may be another one.
    ///   - isFresh: whether it must be one that has decoded nothing.
    /// - Throws: `decoderUnavailable`, and what the checkpoint throws.
    func lease(
        _ kind: WorkerKind, boundTo bound: DecoderProcess? = nil, isFresh: Bool = false, _ checkpoint: Checkpoint?
    ) throws(WebImageError) -> DecoderProcess {
        if let bound, takeBound(bound) { return bound }
        while true {
            switch find(kind, isFresh: isFresh) {
            case .process(let process):
                return process.lending.isGreeted ? process : try greet(process, checkpoint)
            case .start(let start, let isFirst):
                if isFirst { startKeeper() }
                return try greet(try start.value().get(), checkpoint)
            case .refused(let error): throw error
            case nil: try checkpoint?()
            }
        }
    }

    private func takeBound(_ process: DecoderProcess) -> Bool {
        state.wait(atMost: Self.loyalty) { _ in
            if process.lending.isDead { return false }
            guard !process.lending.isBusy else { return nil }
            process.lending.isBusy = true
            return true
        } ?? false
    }

    private func find(_ kind: WorkerKind, isFresh: Bool) -> Found? {
        state.wait(atMost: .milliseconds(50)) { state in
            if state.isShutDown { return .refused(WebImageError(.shutDown, "the manager has been shut down")) }
            if let error = self.refusal(kind, state) { return .refused(error) }
            let idle = state.processes.filter {
                $0.kind == kind && $0.lending.isFree && (!isFresh || $0.lending.opened == 0)
            }
            // One that holds few pictures, and of those one that is ready.
            func burden(_ process: DecoderProcess) -> (Int, Int) {
                (process.lending.sessions.count, process.lending.isGreeted ? 0 : 1)
            }
            if let process = idle.min(by: { burden($0) < burden($1) }) {
                process.lending.isBusy = true
                return .process(process)
            }
            if state.processes.count + state.starting >= self.most {
                // One of the other kind, or one that is used, that nobody needs just now makes room.
                let other = state.processes.first { !$0.lending.isBusy && ($0.kind != kind || isFresh) }
                guard let other else { return nil }
                Self.doom(other, &state)
            }
            let answer = BlockingAnswer<Result<DecoderProcess, WebImageError>>()
            return .start(answer, isFirst: state.ask(for: Start(kind: kind, answer: answer)))
        }
    }

    private func refusal(_ kind: WorkerKind, _ state: State) -> WebImageError? {
        switch state.report.state {
        case .unavailable: return Self.noSandbox(state.report.reason ?? "")
        case .withoutLandlock where kind == .drawings: return Self.noSandbox(Self.needsLandlock)
        default: break
        }
        let recent = state.failures.suffix(Self.failedStarts.count)
        guard recent.count == Self.failedStarts.count, let first = recent.first, let last = recent.last,
            last - first < Self.failedStarts.within, .now - last < Self.failedStarts.pause
        else { return nil }
        return WebImageError(
            .decoderUnavailable, "processes for decoding do not start; they are tried again in half a minute")
    }

    private static let needsLandlock = "drawings read fonts, which takes landlock (Linux 5.13) to be safe"

    private static func noSandbox(_ reason: String) -> WebImageError {
        WebImageError(
            .decoderUnavailable,
            "there is no sandbox for the decoder (\(reason)); DecoderIsolation.withoutSandbox can allow decoding without"
        )
    }

    /// Waits for a new process's first word, and takes note of how it is confined.
    private func greet(
        _ process: DecoderProcess, _ checkpoint: Checkpoint?
    ) throws(WebImageError) -> DecoderProcess {
        let failure: WebImageError
        do throws(DecoderProcess.Failure) {
            let hello = try process.waitForHello(checkpoint)
            let refused = state.withLock { state -> WebImageError? in
                if hello.fault != 0 {
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
                return refusal(process.kind, state)
            }
            tellWeakness()
            guard let refused else { return process }
            failure = refused
            end(process, .ended, while: "it was started")
        } catch {
            switch error {
            case .left(let error):
                failure = error
                end(process, .ended, while: "it was started")
            case .nonsense(let what):
                failure = WebImageError(.decoderUnavailable, "the process for decoding cannot be used: \(what)")
                end(process, .failedStart, while: "it was started")
            case .told, .gone:
                let cause = end(process, .failedStart, while: "it was started").error
                failure = WebImageError(.decoderUnavailable, "no process for decoding can be started", cause: cause)
            }
        }
        throw failure
    }

    /// Tells once why pictures are refused, or decoded without a sandbox.
    private func tellWeakness() {
        let reason = state.withLock { state -> String? in
            guard !state.hasToldWeakness, let reason = state.report.reason else { return nil }
            state.hasToldWeakness = true
            return reason
        }
        if let reason { tell(.isWeak(reason)) }
    }

    /// Gives a process back after a call that ended well, or with an error of the decoder's.
    ///
    /// - Parameter retires: whether it takes no more pictures, since one of them was not as it should be.
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

    /// What is known of a process that was lost.
    struct Lost {
        var error: WebImageError
        var hasServedOthers: Bool
    }

    /// Ends a process that is leased.
    ///
    /// - Parameter distrust: what it said that cannot be, if it was that.
    @discardableResult
    func end(_ process: DecoderProcess, _ reason: Reason, while what: String, distrust: String? = nil) -> Lost {
        var error = process.end(while: what)
        if let distrust {
            error = WebImageError(.decoderCrashed, "the decoder is not to be trusted while \(what): \(distrust)")
        }
        let (lost, isReplaced) = state.withLock { state in
            process.lending.isDead = true
            state.processes.removeAll { $0 === process }
            switch reason {
            case .crashed: state.report.crashed += 1
            case .ended: state.report.ended += 1
            case .failedStart:
                state.noteFailedStart()
            }
            let lost = Lost(error: error, hasServedOthers: process.lending.opened > 1)
            return (lost, reason != .failedStart && state.opened > 1)
        }
        switch reason {
        case .crashed, .failedStart: tell(.crashed(error))
        case .ended: tell(.ended)
        }
        if isReplaced { replace(process.kind) }
        return lost
    }

    // MARK: pictures

    /// A number for a picture in a leased process.
    func openSession(_ process: DecoderProcess) -> UInt32 {
        state.withLock { state in
            state.opened += 1
            process.lending.opened += 1
            process.lending.sessions.insert(process.lending.opened)
            if process.lending.opened >= isolation.picturesPerProcess { process.lending.isRetiring = true }
            return process.lending.opened
        }
    }

    /// Nobody wants a picture any more, or the worker has let go of it already.
    func closeSession(_ session: UInt32, _ process: DecoderProcess, isKnown: Bool = false) {
        state.withLock { state in
            guard process.lending.sessions.remove(session) != nil else { return }
            if !isKnown { process.lending.closing.append(session) }
            if !process.lending.isBusy { Self.tidy(process, &state) }
        }
    }

    /// Tells an idle process what it need not hold any more, and ends it when it has had its time.
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
