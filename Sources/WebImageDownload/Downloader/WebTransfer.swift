import HTTPTypes
import Synchronization
import WebImageCore
import WebImageSystem

/// A download over HTTP: carries events from the transport into the state machine and its actions out again.
final class WebTransfer: Transfer, TransportReceiver {
    /// What it works with.
    struct Surroundings: Sendable {
        let transport: any HTTPTransport
        let clock: any LoadClock
        let budget: TransferMemoryBudget
        let owner: any TransferOwner
    }

    private struct Guts {
        var machine: TransferStateMachine
        /// Of the hop that runs; nil until `start` has returned.
        var handle: (any TransportTransfer)?
        var hop = 0
        /// Calls that came before the handle.
        var mustStop = false
        var mustResume = false
        var metrics = TransferMetrics()
        var hasEnded = false
    }

    let id: TransferQueue.ID
    let log: ByteLog
    private let request: DownloadRequest
    private let configuration: DownloadConfiguration
    private let surroundings: Surroundings
    private let createdAt: Duration
    private let guts: Guarded<Guts>
    /// True when the log asked for a pause that nobody watches yet. Only the transport's thread looks at it.
    private let wantsRoom = Atomic(false)

    init(
        id: TransferQueue.ID, url: WebURL, request: DownloadRequest, configuration: DownloadConfiguration, log: ByteLog,
        surroundings: Surroundings
    ) {
        self.id = id
        self.log = log
        self.request = request
        self.configuration = configuration
        self.surroundings = surroundings
        createdAt = surroundings.clock.now
        let limit = request.redirectLimit ?? configuration.redirectLimit
        let rules = TransferStateMachine.Rules(
            bodyLimit: (request.bodyLimit ?? configuration.bodyLimit).bytes,
            acceptableStatuses: configuration.acceptableStatuses,
            sendsCredentials: request.credentials != nil || url.credentials != nil
                || request.fields[.authorization] != nil)
        let clocks = TransferClocks(request.deadlines ?? configuration.deadlines, createdAt: createdAt)
        guts = Guarded(
            Guts(
                machine: TransferStateMachine(
                    RedirectChain(url, method: request.method, limit: limit), rules: rules, clocks: clocks)))
    }

    var metrics: TransferMetrics? { guts.withLock { $0.hasEnded ? $0.metrics : nil } }
    var firstDeadline: Duration? { guts.withLock { $0.machine.clocks.next } }

    func begin() {
        let now = surroundings.clock.now
        let start = guts.withLock { guts -> (chain: RedirectChain, hop: Int, deadline: Duration?)? in
            guard guts.machine.start(at: now) else { return nil }
            if guts.hop == 0 { guts.metrics.queued = now - createdAt }
            guts.hop += 1
            guts.handle = nil
            guts.mustStop = false
            guts.mustResume = false
            return (guts.machine.chain, guts.hop, guts.machine.clocks.next)
        }
        guard let start else { return }
        surroundings.owner.transferExpects(deadline: start.deadline)
        let handle = surroundings.transport.start(transportRequest(start.chain), receiver: self)
        let (stop, resume) = guts.withLock { guts -> (Bool, Bool) in
            guard guts.hop == start.hop else { return (false, false) }
            guts.handle = handle
            return (guts.mustStop, guts.mustResume)
        }
        if stop { handle.cancel() } else if resume { handle.resume() }
    }

    private func transportRequest(_ chain: RedirectChain) -> TransportRequest {
        var fields = configuration.fields
        for field in request.fields { fields[field.name] = nil }
        fields.append(contentsOf: request.fields)
        var credentials = request.credentials ?? chain.firstCredentials
        if !chain.keepsSecrets {
            credentials = chain.current.credentials
            for name in [HTTPField.Name.authorization, .cookie, .proxyAuthorization] { fields[name] = nil }
        }
        return TransportRequest(
            url: chain.current.text, method: chain.method, fields: fields, credentials: credentials,
            trust: request.trust, allowsHTTP2: configuration.allowsHTTP2, addressPolicy: request.addressPolicy)
    }

    func fail(_ error: WebImageError) {
        carryOut(guts.withLock { $0.machine.fail(error) })
    }

    func expire(at now: Duration) -> Duration? {
        carryOut(guts.withLock { $0.machine.expire(at: now) })
        return guts.withLock { $0.machine.clocks.next }
    }

    // MARK: From the transport

    func didConnect() {
        let now = surroundings.clock.now
        let deadline = guts.withLock { guts in
            guts.machine.connected(at: now)
            return guts.machine.clocks.next
        }
        surroundings.owner.transferExpects(deadline: deadline)
    }

    func didReceive(head: ResponseHead) {
        let now = surroundings.clock.now
        let (action, deadline) = guts.withLock { guts in
            let action = guts.machine.head(head, at: now)
            return (action, guts.machine.clocks.next)
        }
        if case .accept(let length) = action { log.setHead(head, expectedLength: length) } else { carryOut(action) }
        surroundings.owner.transferExpects(deadline: deadline)
    }

    func didReceive(_ bytes: UnsafeRawBufferPointer) -> TransportFlow {
        let now = surroundings.clock.now
        let action = guts.withLock { $0.machine.bytes(bytes.count, at: now) }
        guard case .keep = action else {
            log.publish()
            carryOut(action)
            return .proceed
        }
        switch log.append(bytes) {
        case .proceed: return .proceed
        case .full(let error):
            fail(error)
            return .proceed
        case .pause:
            guts.withLock { $0.machine.pause(at: now) }
            wantsRoom.store(true, ordering: .relaxed)
            return .pause
        }
    }

    func didEndBatch() {
        log.publish()
        guard wantsRoom.exchange(false, ordering: .relaxed) else { return }
        surroundings.budget.whenBelow { [weak self] in self?.resume() }
    }

    private func resume() {
        let now = surroundings.clock.now
        let (handle, deadline) = guts.withLock { guts in
            guts.machine.resume(at: now)
            guts.mustResume = guts.handle == nil
            return (guts.handle, guts.machine.clocks.next)
        }
        handle?.resume()
        surroundings.owner.transferExpects(deadline: deadline)
    }

    func didFinish(_ result: Result<TransportTimings, WebImageError>) {
        var failure: WebImageError?
        var timings: TransportTimings?
        switch result {
        case .success(let value): timings = value
        case .failure(let error): failure = error
        }
        carryOut(
            guts.withLock { guts in
                guts.metrics.timings = timings
                guts.handle = nil
                return guts.machine.finished(failure)
            })
    }

    // MARK: Actions

    private func carryOut(_ action: TransferStateMachine.Action) {
        switch action {
        case .none, .accept, .keep: break
        case .stopTransport: stopTransport()
        case .abort(let error, let stopsTransport):
            noteEnd()
            surroundings.owner.transferWillEnd(id)
            log.abort(located(error))
            if stopsTransport { stopTransport() }
        case .hop: hop()
        case .end(.complete):
            noteEnd()
            surroundings.owner.transferDidEnd(id)
            log.finish(.complete)
        case .end(.failed(let error)): end(located(error))
        case .release: surroundings.owner.transferDidEnd(id)
        }
    }

    /// A transfer that never ran has no writer, one that has just finished is on the writer's thread.
    private func end(_ error: WebImageError) {
        noteEnd()
        surroundings.owner.transferDidEnd(id)
        log.finish(.failed(error))
    }

    private func hop() {
        let (from, to) = guts.withLock { ($0.machine.chain.previousHost, $0.machine.chain.current.hostAndPort) }
        if from == to { begin() } else { surroundings.owner.transfer(id, movesTo: to) }
    }

    private func stopTransport() {
        let handle = guts.withLock { guts in
            guts.mustStop = true
            return guts.handle
        }
        handle?.cancel()
    }

    private func noteEnd() {
        guts.withLock { guts in
            guts.hasEnded = true
            guts.metrics.redirects = guts.machine.chain.count
            guts.metrics.finalURL = guts.machine.chain.current.text
        }
    }

    private func located(_ error: WebImageError) -> WebImageError { error.at(redactedURL(request.url)) }
}
