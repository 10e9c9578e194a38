import Logging
import Synchronization
import WebImageCore
import WebImageSystem

/// The transfers of one downloader: who may join which, who runs, who waits. Effects happen after its lock is left.
final class DownloadCenter: TransferOwner {
    private struct Entry {
        let transfer: any Transfer
        /// What readers see; the transfer's own unless a decryptor stands between.
        let log: ByteLog
        let key: ResolvedRequest.Key
        /// Whether it may end its work when the downloader is drained.
        var finishesWhenDrained: Bool
        /// Subscribers by priority.
        var subscribers = [Int](repeating: 0, count: LoadPriority.allCases.count)

        var priority: LoadPriority? {
            subscribers.lastIndex { $0 > 0 }.flatMap { LoadPriority(rawValue: $0) }
        }
    }

    private struct State {
        var configuration: DownloadConfiguration
        var entries: [TransferQueue.ID: Entry] = [:]
        /// Those that may be joined.
        var table: [ResolvedRequest.Key: TransferQueue.ID] = [:]
        var queue: TransferQueue
        var circuits: CircuitBreaker
        var resting: Set<TransferQueue.ID> = []
        var started = 0
        var joined = 0
        var isShutDown = false
        /// Who waits for the last transfer to end.
        var drains: [CancellableAnswer<Void>] = []

        mutating func startable() -> [any Transfer] {
            var startable: [any Transfer] = []
            while let id = queue.next() {
                if let transfer = entries[id]?.transfer { startable.append(transfer) }
            }
            return startable
        }

        mutating func untable(_ id: TransferQueue.ID) {
            if let key = entries[id]?.key, table[key] == id { table[key] = nil }
        }
    }

    private let transport: any HTTPTransport
    private let ownsTransport: Bool
    private let clock: any LoadClock
    private let executor: any WorkExecutor
    private let files: any FileSystem
    private let jitter: @Sendable () -> Double
    let budget: TransferMemoryBudget
    let events = DownloadEventHub()
    let credentials = CredentialBook()
    private let timer: DeadlineTimer
    private let nextID = Atomic(0)
    private let state: Guarded<State>

    init(
        configuration: DownloadConfiguration, transport: any HTTPTransport, ownsTransport: Bool, clock: any LoadClock,
        executor: any WorkExecutor, files: any FileSystem, jitter: @escaping @Sendable () -> Double
    ) {
        self.transport = transport
        self.ownsTransport = ownsTransport
        self.clock = clock
        self.executor = executor
        self.files = files
        self.jitter = jitter
        budget = TransferMemoryBudget(limit: configuration.memoryForAll.bytes)
        timer = DeadlineTimer(clock: clock)
        state = Guarded(
            State(
                configuration: configuration,
                queue: TransferQueue(limits: configuration.queueLimits, order: configuration.queueOrder),
                circuits: CircuitBreaker(policy: configuration.circuit)))
    }

    // MARK: Joining and leaving

    func download(_ resolved: ResolvedRequest, priority: LoadPriority) -> Download {
        let (joined, startable) = state.withLock { state in
            let joined = join(resolved, priority, &state)
            // What has become urgent may have a slot that was kept free for such.
            return (joined, joined == nil ? [] : state.startable())
        }
        begin(startable)
        if let joined { return joined }
        let configuration = configuration
        if let refusal = refusal(of: resolved, configuration) {
            return Download(failed: refusal.at(resolved.source.shown))
        }
        // Made off the lock: it costs more than all the rest. It is dropped when another caller was quicker.
        let (transfer, pump, log) = makeTransfer(
            nextID.add(1, ordering: .relaxed).newValue, resolved, priority, configuration)
        typealias Outcome = (download: Download, begin: [any Transfer], deadline: Duration?, isNew: Bool)
        let outcome = state.withLock { state -> Outcome in
            if let joined = join(resolved, priority, &state) { return (joined, state.startable(), nil, false) }
            let (download, begin, deadline) = insert(transfer, log, resolved, priority, &state)
            return (download, begin, deadline, true)
        }
        if outcome.isNew { pump?.start() }
        begin(outcome.begin)
        transferExpects(deadline: outcome.deadline)
        return outcome.download
    }

    /// Scheme, host and port of web addresses are looked at with each hop; other sources have none.
    private func refusal(of resolved: ResolvedRequest, _ configuration: DownloadConfiguration) -> WebImageError? {
        let policy = resolved.request.addressPolicy ?? configuration.addressPolicy
        switch resolved.source {
        case .web: return nil
        case .file: return policy?.refusal(scheme: "file")
        case .data: return policy?.refusal(scheme: "data")
        }
    }

    /// A share in the transfer that runs already; nil when there is none.
    private func join(_ resolved: ResolvedRequest, _ priority: LoadPriority, _ state: inout State) -> Download? {
        if state.isShutDown { return Download(failed: Self.shutDownError.at(resolved.source.shown)) }
        guard let id = state.table[resolved.key], let entry = state.entries[id] else { return nil }
        state.joined += 1
        state.entries[id]?.subscribers[priority.rawValue] += 1
        if resolved.request.finishesWhenDrained { state.entries[id]?.finishesWhenDrained = true }
        state.queue.setPriority(state.entries[id]?.priority ?? priority, of: id)
        return Download(of: entry.transfer, log: entry.log, in: self, priority: priority, wasJoined: true)
    }

    private func insert(
        _ transfer: any Transfer, _ log: ByteLog, _ resolved: ResolvedRequest, _ priority: LoadPriority,
        _ state: inout State
    ) -> (download: Download, begin: [any Transfer], deadline: Duration?) {
        let id = transfer.id
        var entry = Entry(
            transfer: transfer, log: log, key: resolved.key,
            finishesWhenDrained: resolved.request.finishesWhenDrained)
        entry.subscribers[priority.rawValue] = 1
        state.entries[id] = entry
        state.table[resolved.key] = id
        state.started += 1
        let download = Download(of: transfer, log: log, in: self, priority: priority, wasJoined: false)
        guard case .web(let url) = resolved.source else { return (download, [transfer], nil) }
        state.queue.enqueue(id, host: url.hostAndPort, priority: priority)
        return (download, state.startable(), (transfer as? WebTransfer)?.firstDeadline)
    }

    private func makeTransfer(
        _ id: TransferQueue.ID, _ resolved: ResolvedRequest, _ priority: LoadPriority,
        _ configuration: DownloadConfiguration
    ) -> (any Transfer, DecryptingPump?, ByteLog) {
        let log = makeLog(configuration)
        let limit = (resolved.request.bodyLimit ?? configuration.bodyLimit).bytes
        let transfer: any Transfer
        if case .web(let url) = resolved.source {
            transfer = WebTransfer(
                id: id, plan: TransferPlan(url: url, request: resolved.request, configuration: configuration), log: log,
                surroundings: WebTransfer.Surroundings(
                    transport: transport, clock: clock, budget: budget, events: events, credentials: credentials,
                    jitter: jitter, owner: self))
        } else {
            transfer = LocalTransfer(
                id: id, source: resolved.source, limit: limit, priority: priority, log: log, files: files,
                executor: executor, budget: budget, owner: self)
        }
        guard let decryptor = resolved.request.decryptor ?? configuration.decryptor else { return (transfer, nil, log) }
        let clear = makeLog(configuration)
        let pump = DecryptingPump(
            decryptor, from: log, to: clear, limit: limit, place: resolved.source.shown, executor: executor,
            budget: budget)
        return (transfer, pump, clear)
    }

    func log(
        of beginning: any PartialBody, continuedBy download: Download, _ head: ResponseHead,
        whenBegun: @escaping @Sendable (ByteLog) -> Void
    ) -> ByteLog {
        let log = makeLog(configuration)
        ContinuedLog(beginning, rest: download.log, into: log, executor: executor, budget: budget)
            .start(head, whenBegun: whenBegun)
        return log
    }

    private func makeLog(_ configuration: DownloadConfiguration) -> ByteLog {
        var settings = ByteLog.Settings()
        settings.memoryLimit = configuration.memoryPerTransfer.bytes
        settings.directory = configuration.temporaryDirectory
        return ByteLog(settings: settings, budget: budget, files: files, executor: executor)
    }

    /// Moves one share of a transfer to another priority, or away with nil. The last share to go ends the transfer.
    func moveShare(of id: TransferQueue.ID, from old: LoadPriority, to new: LoadPriority?) {
        let (abandoned, startable) = state.withLock { state -> ((any Transfer)?, [any Transfer]) in
            state.entries[id]?.subscribers[old.rawValue] -= 1
            if let new { state.entries[id]?.subscribers[new.rawValue] += 1 }
            guard let entry = state.entries[id] else { return (nil, []) }
            if let highest = entry.priority {
                state.queue.setPriority(highest, of: id)
                // What has become urgent may have made room for one that is not.
                return (nil, state.startable())
            }
            state.untable(id)
            return (entry.transfer, [])
        }
        abandoned?.fail(.cancelled)
        begin(startable)
    }

    // MARK: From transfers

    private func begin(_ transfers: [any Transfer]) {
        if transfers.isEmpty { return }
        events.noteRunning { self.state.withLock { $0.queue.runningCount } }
        for transfer in transfers { transfer.begin() }
    }

    func transferWillEnd(_ id: TransferQueue.ID) { state.withLock { $0.untable(id) } }

    func transferDidEnd(_ id: TransferQueue.ID) {
        let (startable, drains) = state.withLock { state in
            state.untable(id)
            state.entries[id] = nil
            state.resting.remove(id)
            state.queue.remove(id)
            let isEmpty = state.entries.isEmpty
            defer { if isEmpty { state.drains = [] } }
            return (state.startable(), isEmpty ? state.drains : [])
        }
        for drain in drains { drain.give(.success(())) }
        if startable.isEmpty { events.noteRunning { self.state.withLock { $0.queue.runningCount } } }
        begin(startable)
    }

    func transfer(_ id: TransferQueue.ID, movesTo host: String) {
        begin(
            state.withLock { state in
                state.resting.remove(id)
                state.queue.release(id)
                // It may have ended meanwhile.
                guard let entry = state.entries[id] else { return state.startable() }
                state.queue.enqueue(id, host: host, priority: entry.priority ?? .normal)
                return state.startable()
            })
    }

    func transferRests(_ id: TransferQueue.ID) {
        begin(
            state.withLock { state in
                state.queue.release(id)
                if state.entries[id] != nil { state.resting.insert(id) }
                return state.startable()
            })
    }

    func transferExpects(deadline: Duration?) {
        guard let deadline else { return }
        timer.arm(for: deadline) { [weak self] in self?.checkDeadlines() }
    }

    private func checkDeadlines() {
        let now = clock.now
        var next: Duration?
        for transfer in state.withLock({ $0.entries.values.map(\.transfer) }) {
            if let deadline = transfer.expire(at: now) { next = min(next ?? deadline, deadline) }
        }
        transferExpects(deadline: next)
    }

    func admits(host: String) -> Bool {
        let now = clock.now
        return state.withLock { $0.circuits.admits(host, at: now) }
    }

    func note(_ outcome: CircuitBreaker.Outcome, of host: String) {
        let now = clock.now
        let (hasOpened, logger) = state.withLock { state in
            let before = state.circuits.open[host]
            state.circuits.note(outcome, of: host, at: now)
            let after = state.circuits.open[host]
            return (after != nil && after != before, state.configuration.logger)
        }
        if hasOpened { logger.warning("a host keeps failing and is left alone", metadata: ["host": "\(host)"]) }
    }

    // MARK: The whole

    var counters: DownloadCounters {
        state.withLock { state in
            DownloadCounters(
                started: state.started, joined: state.joined, running: state.queue.runningCount,
                waiting: state.queue.waitingCount, resting: state.resting.count)
        }
    }

    /// What is changed holds for transfers that begin from then on; limits and order at once.
    var configuration: DownloadConfiguration {
        get { state.withLock { $0.configuration } }
        set { changeConfiguration { $0 = newValue } }
    }

    func changeConfiguration(_ change: (inout DownloadConfiguration) -> Void) {
        begin(
            state.withLock { state in
                change(&state.configuration)
                state.queue.setLimits(state.configuration.queueLimits)
                state.queue.order = state.configuration.queueOrder
                state.circuits.policy = state.configuration.circuit
                return state.startable()
            })
    }

    var isSuspended: Bool {
        get { state.withLock { $0.queue.isSuspended } }
        set {
            begin(
                state.withLock { state in
                    state.queue.setSuspended(newValue)
                    return state.startable()
                })
        }
    }

    var openCircuits: [String] {
        let now = clock.now
        return state.withLock { $0.circuits.open.filter { $0.value > now }.keys.sorted() }
    }

    func closeCircuits() { state.withLock { $0.circuits.reset() } }

    func cancelAll() { failAll(.cancelled) }

    /// Takes nothing new, ends what is not marked, and waits until the rest has ended or the time is up.
    func drain(within limit: Duration) async {
        let answer = CancellableAnswer<Void>()
        let (unmarked, isEmpty) = state.withLock { state -> ([any Transfer], Bool) in
            state.isShutDown = true
            let unmarked = state.entries.values.filter { !$0.finishesWhenDrained }.map(\.transfer)
            if !state.entries.isEmpty { state.drains.append(answer) }
            return (unmarked, state.entries.isEmpty)
        }
        for transfer in unmarked { transfer.fail(Self.shutDownError) }
        if !isEmpty {
            let alarm = clock.schedule(at: clock.now + limit) { answer.give(.success(())) }
            // A cancelled task does not wait.
            _ = try? await answer.value()
            alarm.cancel()
        }
        shutDown()
    }

    func shutDown() {
        state.withLock { $0.isShutDown = true }
        failAll(Self.shutDownError)
        timer.cancel()
        events.close()
        if ownsTransport { transport.shutDown() }
    }

    private func failAll(_ error: WebImageError) {
        let transfers = state.withLock { state in
            state.table = [:]
            // Else the end of one would start another.
            state.queue.removeAllWaiting()
            return state.entries.values.map(\.transfer)
        }
        for transfer in transfers { transfer.fail(error) }
    }

    private static let shutDownError = WebImageError(.shutDown, "the downloader was shut down")
}

extension DownloadConfiguration {
    fileprivate var queueLimits: TransferQueue.Limits {
        TransferQueue.Limits(total: maxConcurrent, perHost: maxConcurrentPerHost, reserved: reservedForUrgent)
    }

    fileprivate var queueOrder: TransferQueue.Order {
        order == .firstInFirstOut ? .firstInFirstOut : .lastInFirstOut
    }
}
