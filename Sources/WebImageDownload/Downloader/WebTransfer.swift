import HTTPTypes
import Synchronization
import WebImageCore
import WebImageSystem

/// A download over HTTP: passes events from the transport to the state machine, and carries out its actions.
final class WebTransfer: Transfer, TransportReceiver {
    struct State {
        var machine: TransferStateMachine
        /// Replaced if the body is replaced.
        var log: ByteLog
        var hop = TransferHop()
        var record: TransferRecord
        var login = TransferLogin()
        /// The cookies that came with redirects: see ``DownloadConfiguration/keepsRedirectCookies``.
        var redirectCookies: MemoryCookieJar?
        var progress: ProgressGate
        var hasEnded = false
    }

    let id: TransferQueue.ID
    let plan: TransferPlan
    let surroundings: TransferSurroundings
    let owner: any TransferOwner
    let state: Guarded<State>
    private let urgency = Atomic(LoadPriority.normal.rawValue)
    /// Set when the log asks for a pause; cleared when the transfer begins to wait for its end. Only the transport's
    /// thread uses it.
    private let wantsRoom = Atomic(false)
    /// The same for a pause by the brake.
    private let wantsRelease = Atomic(false)
    /// True while only the brake pauses the transfer.
    private let isBraked = Atomic(false)

    init(
        id: TransferQueue.ID, plan: TransferPlan, log: ByteLog, surroundings: TransferSurroundings,
        owner: any TransferOwner
    ) {
        self.id = id
        self.plan = plan
        self.surroundings = surroundings
        self.owner = owner
        let now = surroundings.clock.now
        state = Guarded(
            State(
                machine: plan.machine(createdAt: now, jitter: surroundings.jitter), log: log,
                record: TransferRecord(createdAt: now),
                progress: ProgressGate(minimumInterval: plan.snapshot.configuration.minimumProgressInterval)))
    }

    /// The log that the body goes to now.
    var log: ByteLog { state.withLock { $0.log } }
    var metrics: TransferMetrics? { state.withLock { $0.hasEnded ? $0.record.metrics : nil } }
    var exchange: DownloadExchange? { state.withLock { $0.record.exchange } }
    var firstDeadline: Duration? { state.withLock { $0.machine.clocks.next } }

    func note(_ priority: LoadPriority) { urgency.store(priority.rawValue, ordering: .relaxed) }

    var priority: LoadPriority { LoadPriority(rawValue: urgency.load(ordering: .relaxed)) ?? .normal }

    func begin() {
        let (url, keepsSecrets, hop) = state.withLock { state in
            (state.machine.chain.current, state.machine.chain.keepsSecrets, state.hop.number)
        }
        if let refusal = refusal(of: url) { return carryOut(state.withLock { $0.machine.fail(refusal) }) }
        let needsPreparation = needsPreparation(url, keepsSecrets: keepsSecrets)
        let now = surroundings.clock.now
        let start = state.withLock { state -> (hop: Int, deadline: Duration?)? in
            let isNeeded = needsPreparation ? state.machine.prepare(at: now) : state.machine.start(at: now)
            guard isNeeded else { return nil }
            if state.hop.number == 0 { state.record.noteStart(at: now) }
            state.hop.begin(to: url.hostAndPort)
            return (state.hop.number, state.machine.clocks.next)
        }
        guard let start else { return owner.note(.neither, of: url.hostAndPort) }
        if hop == 0 { emit(.started) }
        owner.transferExpects(deadline: start.deadline)
        if needsPreparation { prepare(hop: start.hop) } else { launch(outgoing(), hop: start.hop) }
    }

    /// Why the next hop is not allowed; nil if it is: the host's circuit breaker has then admitted a request.
    ///
    /// - Parameter isAdmitted: whether the breaker has admitted it already.
    func refusal(of url: WebURL, isAdmitted: Bool = false) -> WebImageError? {
        if let refusal = plan.addressPolicy?.refusal(scheme: url.scheme.rawValue, host: url.host, port: url.port) {
            return refusal
        }
        if isAdmitted || owner.admits(host: url.hostAndPort) { return nil }
        let message = "\(url.host) failed so often that it is not asked for a while"
        return WebImageError(.circuitOpen, message)
    }

    /// Passes a request to the transport.
    func launch(_ request: TransportRequest, hop: Int) {
        let wallTime = surroundings.clock.wallTime
        state.withLock { $0.record.noteSent(request.headers, at: wallTime) }
        let handle = surroundings.transport.start(request, receiver: self)
        let (stop, resume) = state.withLock { state -> (Bool, Bool) in
            guard state.hop.number == hop else { return (false, false) }
            state.hop.handle = handle
            return (state.hop.mustStop, state.hop.mustResume)
        }
        if stop { handle.cancel() } else if resume { handle.resume() }
    }

    func fail(_ error: WebImageError) {
        carryOut(state.withLock { $0.machine.fail(error) })
    }

    func expire(at now: Duration) -> Duration? {
        let (action, outcome, isCrawling, hop) = state.withLock { state in
            let isJudged = state.machine.judgeSpeed(at: now)
            let action = state.machine.expire(at: now)
            return (
                action, Self.outcome(of: action), isJudged ? state.machine.clocks.isCrawling : nil, state.hop.number
            )
        }
        if let isCrawling { owner.transfer(id, isSlow: isCrawling) }
        if outcome == .failure { settleCircuit(plan.judgesHost ? .failure : .neither, of: hop) }
        // The answer that took too long may have ended meanwhile, so that the next hop has begun.
        if case .stopTransport = action { stopTransport(of: hop) } else { carryOut(action) }
        return state.withLock { $0.machine.clocks.next }
    }

    /// What an expired deadline says about the host.
    private static func outcome(of action: TransferStateMachine.Action) -> CircuitBreaker.Outcome {
        switch action {
        case .abort(let error, _): CircuitBreaker.outcome(status: nil, failure: error)
        case .stopTransport: .failure
        default: .neither
        }
    }

    /// - Parameter hop: the number of the hop that the outcome is of; nil: the current one.
    func settleCircuit(_ outcome: CircuitBreaker.Outcome, of hop: Int? = nil) {
        let host: String? = state.withLock { state in
            guard hop ?? state.hop.number == state.hop.number else { return nil }
            defer { state.hop.circuit = nil }
            return state.hop.circuit
        }
        if let host { owner.note(outcome, of: host) }
    }

    // MARK: From the transport

    func didConnect() {
        let now = surroundings.clock.now
        let deadline = state.withLock { state in
            state.machine.connected(at: now)
            return state.machine.clocks.next
        }
        owner.transferExpects(deadline: deadline)
    }

    func didReceive(head original: ResponseHead) {
        settleCircuit(CircuitBreaker.outcome(status: original.status, failure: nil))
        let cookiesChanged = takeCookies(of: original)
        guard let head = modified(whole(original)) else {
            return fail(WebImageError(.responseRefused, "a response modifier refused the answer"))
        }
        let (now, wallTime) = (surroundings.clock.now, surroundings.clock.wallTime)
        let (action, deadline, redirect, wakeReaders) = state.withLock { state in
            let hops = state.machine.chain.count
            let action = state.machine.head(
                head, at: now, wallTime: wallTime, cookiesChanged: cookiesChanged)
            state.record.note(head, answer: action, of: state.machine, at: wallTime)
            state.login.note(head)
            let redirect = state.machine.chain.count > hops ? state.machine.chain.current.text : nil
            if redirect != nil { state.record.noteRedirect(head, behind: hops) }
            var wakeReaders: (@Sendable () -> Void)?
            if case .replace = action { wakeReaders = state.replaceLog() }
            return (action, state.machine.clocks.next, redirect, wakeReaders)
        }
        if let redirect { emit(.redirected(to: redactedURL(redirect))) }
        switch action {
        case .accept(let length), .replace(let length):
            log.setHead(head, expectedLength: length)
            emit(.response(status: head.status, expectedLength: length))
            wakeReaders?()
        default: carryOut(action)
        }
        owner.transferExpects(deadline: deadline)
    }

    func didReceive(_ bytes: UnsafeRawBufferPointer) -> TransportFlow {
        let now = surroundings.clock.now
        let (action, log) = state.withLock { state in
            state.record.metrics.receivedBytes += bytes.count
            return (state.machine.bytes(bytes.count, at: now), state.log)
        }
        guard case .keep(let known, let offset) = action else {
            log.publish()
            carryOut(action)
            return .proceed
        }
        if known > 0, !log.matches(UnsafeRawBufferPointer(rebasing: bytes[..<known]), at: offset) {
            return replaceBody(bytes, at: offset, now)
        }
        if known == bytes.count { return .proceed }
        return flow(after: log.append(UnsafeRawBufferPointer(rebasing: bytes[known...])), at: now)
    }

    func flow(after result: ByteLog.AppendResult, at now: Duration) -> TransportFlow {
        switch result {
        case .proceed:
            guard surroundings.brake.holds(priority) else { return .proceed }
            state.withLock { $0.machine.pause(at: now) }
            wantsRelease.store(true, ordering: .relaxed)
            return .pause
        case .full(let error):
            fail(error)
            return .proceed
        case .pause:
            state.withLock { $0.machine.pause(at: now) }
            wantsRoom.store(true, ordering: .relaxed)
            return .pause
        }
    }

    func didEndBatch() {
        log.publish()
        emitProgress()
        if wantsRelease.exchange(false, ordering: .relaxed) {
            isBraked.store(true, ordering: .sequentiallyConsistent)
            surroundings.brake.whenReleased { [weak self] in self?.endBraking() }
            // The priority may have been raised before this transfer was marked.
            resumeIfUrgent()
        }
        guard wantsRoom.exchange(false, ordering: .relaxed) else { return }
        surroundings.budget.whenBelow { [weak self] in self?.resume() }
    }

    func resumeIfUrgent() { if priority > .low { endBraking() } }

    private func endBraking() {
        if isBraked.exchange(false, ordering: .sequentiallyConsistent) { resume() }
    }

    private func resume() {
        let now = surroundings.clock.now
        let (handle, deadline) = state.withLock { state in
            state.machine.resume(at: now)
            state.hop.mustResume = state.hop.handle == nil
            return (state.hop.handle, state.machine.clocks.next)
        }
        handle?.resume()
        owner.transferExpects(deadline: deadline)
    }

    func didFinish(_ result: Result<TransportTimings, WebImageError>) {
        var failure: WebImageError?
        var timings: TransportTimings?
        switch result {
        case .success(let value): timings = value
        case .failure(let error): failure = error
        }
        settleCircuit(CircuitBreaker.outcome(status: nil, failure: failure))
        // When the transfer rests or waits again, other threads may end its log, so all received bytes must be
        // published before. The last bytes of a complete body are published with the end of the log.
        if failure != nil || !state.withLock({ $0.machine.isWhole }) { log.publish() }
        let now = surroundings.clock.now
        carryOut(
            state.withLock { state in
                state.record.metrics.timings = timings
                state.hop.handle = nil
                return state.machine.finished(failure, at: now)
            })
    }

    // MARK: Actions

    func carryOut(_ action: TransferStateMachine.Action) {
        switch action {
        case .none, .accept, .replace, .resume, .keep: break
        case .stopTransport: stopTransport()
        case .abort(let error, let stopsTransport):
            let error = located(error)
            noteEnd(error)
            owner.transferWillEnd(id)
            log.abort(error)
            if stopsTransport { stopTransport() }
        case .hop: hop()
        case .rest(let error, let until): rest(after: error, until: until)
        case .requeue:
            owner.transfer(id, movesTo: state.withLock { $0.machine.chain.current.hostAndPort })
        case .end(.complete):
            noteEnd(nil)
            owner.transferDidEnd(id)
            log.finish(.complete)
        case .end(.failed(let error)): end(located(error))
        case .release: owner.transferDidEnd(id)
        }
    }

    /// Called on any thread: the writer may still be appending.
    private func end(_ error: WebImageError) {
        noteEnd(error)
        owner.transferDidEnd(id)
        log.abort(error)
    }

    private func hop() {
        let (from, to) = state.withLock { ($0.machine.chain.previousHost, $0.machine.chain.current.hostAndPort) }
        if from == to { begin() } else { owner.transfer(id, movesTo: to) }
    }

    private func rest(after error: WebImageError, until: Duration) {
        emit(.retrying(after: until - surroundings.clock.now, located(error)))
        owner.transferWaits(id, until: until)
    }

    /// - Parameter hop: the number of the hop to stop; nil: the current one.
    private func stopTransport(of hop: Int? = nil) {
        let handle: (any TransportTransfer)? = state.withLock { state in
            guard hop ?? state.hop.number == state.hop.number else { return nil }
            state.hop.mustStop = true
            return state.hop.handle
        }
        handle?.cancel()
    }

    private func noteEnd(_ error: WebImageError?) {
        settleCircuit(.neither)
        let now = surroundings.clock.now
        let (metrics, length, preparation) = state.withLock { state in
            defer { state.hop.preparation = nil }
            state.hasEnded = true
            state.record.noteEnd(of: state.machine, at: now)
            return (state.record.metrics, state.machine.received, state.hop.preparation)
        }
        preparation?.cancel()
        surroundings.events.emitEnd(id, redactedURL(plan.requestedURL), error, length, metrics)
    }

    private func emitProgress() {
        guard surroundings.events.isWanted else { return }
        let (received, expected) = log.progress
        // The batch may have brought only the head.
        guard received > 0, state.withLock({ $0.progress.admits(received: received, expected: expected) }) else {
            return
        }
        emit(.bytes(received: received, expected: expected))
    }

    func emit(_ kind: @autoclosure () -> DownloadEvent.Kind) {
        surroundings.events.emit(id, redactedURL(plan.requestedURL), kind())
    }

    private func located(_ error: WebImageError) -> WebImageError { error.at(redactedURL(plan.requestedURL)) }
}
