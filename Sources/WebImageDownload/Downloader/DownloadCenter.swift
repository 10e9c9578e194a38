import Logging
import Synchronization
import WebImageCore
import WebImageSystem

/// The transfers of one downloader: who may join which, who runs, who waits. Effects happen after its lock is left.
final class DownloadCenter: TransferOwner {
    struct State {
        var snapshot: ConfigurationSnapshot
        var entries: [TransferQueue.ID: TransferEntry] = [:]
        /// Those that may be joined.
        var table: [ResolvedRequest: TransferEntry] = [:]
        var queue: TransferQueues
        var circuits: CircuitBreaker
        /// Those between two tries: true once the end of the rest is scheduled.
        var resting: [TransferQueue.ID: Bool] = [:]
        var started = 0
        var joined = 0
        /// Those that have a slot and are about to begin, and whether a thread is at it.
        var beginning: [any Transfer] = []
        var isBeginning = false
        var isShutDown = false
        /// Takes nothing but what is marked.
        var isEnding = false
        /// Who waits for the last transfer to end.
        var drains: [CancellableAnswer<Void>] = []

        mutating func startable() -> [any Transfer] {
            var startable: [any Transfer] = []
            while let id = queue.next() {
                if let transfer = entries[id]?.transfer { startable.append(transfer) }
            }
            return startable
        }

        mutating func untable(_ entry: TransferEntry) {
            guard entry.isInTable else { return }
            entry.isInTable = false
            table[entry.request] = nil
        }
    }

    let ownsTransport: Bool
    let clock: any LoadClock
    let executor: any WorkExecutor
    let files: any FileSystem
    let surroundings: TransferSurroundings
    let budget: TransferMemoryBudget
    let events = DownloadEventHub()
    let credentials = CredentialBook()
    let timer: DeadlineTimer
    private let nextID = Atomic(0)
    let settings = SettingsCounter()
    let state: Guarded<State>

    init(
        configuration: DownloadConfiguration, transport: any HTTPTransport, ownsTransport: Bool, clock: any LoadClock,
        executor: any WorkExecutor, files: any FileSystem, jitter: @escaping @Sendable () -> Double
    ) {
        self.ownsTransport = ownsTransport
        self.clock = clock
        self.executor = executor
        self.files = files
        budget = TransferMemoryBudget(limit: configuration.memoryForAll.bytes)
        surroundings = TransferSurroundings(
            transport: transport, clock: clock, budget: budget, events: events, credentials: credentials,
            jitter: jitter)
        timer = DeadlineTimer(clock: clock)
        state = Guarded(
            State(
                snapshot: ConfigurationSnapshot(configuration),
                queue: TransferQueues(limits: configuration.queueLimits, order: configuration.queueOrder),
                circuits: CircuitBreaker(policy: configuration.circuit)))
    }

    // MARK: Joining and leaving

    /// - Parameter given: what the load began with; nil: what there is now. Those that began with another one share nothing.
    func download(
        _ resolved: ResolvedRequest, by given: ConfigurationSnapshot? = nil, priority: LoadPriority,
        finishesWhenDrained: Bool = false
    ) -> Download {
        let isMarked = finishesWhenDrained || resolved.request.changedOptions?.value.finishesWhenDrained == true
        let (joined, startable, started, snapshot) = state.withLock { state in
            let joined = join(resolved, given, priority, isMarked, &state)
            // What has become urgent may have a slot that was kept free for such.
            return (joined, joined == nil ? [] : state.startable(), state.started, given ?? state.snapshot)
        }
        begin(startable)
        if let joined { return joined }
        if let refusal = refusal(of: resolved, snapshot) {
            return Download(failed: refusal.at(resolved.source.shown))
        }
        // Made off the lock: it costs more than all the rest. It is dropped when another caller was quicker.
        let (transfer, pump, log) = makeTransfer(
            nextID.add(1, ordering: .relaxed).newValue, resolved, priority, snapshot)
        typealias Outcome = (download: Download, isNew: Bool, startsAtOnce: Bool, startable: [any Transfer])
        let outcome = state.withLock { state -> Outcome in
            if state.started != started || state.isShutDown || state.isEnding,
                let joined = join(resolved, snapshot, priority, isMarked, &state)
            {
                return (joined, false, false, state.startable())
            }
            // Files and `data:` URLs need no slot.
            let place =
                resolved.isLocal ? .started : state.queue.place(transfer.id, resolved, priority: priority)
            guard place != .noRoom else {
                return (Download(failed: Self.queueFullError.at(resolved.source.shown)), false, false, [])
            }
            let entry = TransferEntry(
                transfer: transfer, log: log, request: resolved, priority: priority, finishesWhenDrained: isMarked)
            insert(entry, mayBeJoined: snapshot == state.snapshot, &state)
            let download = Download(of: entry, in: self, priority: priority, wasJoined: false)
            return (download, true, place == .started, place == .started ? [] : state.startable())
        }
        if outcome.isNew { pump?.start() }
        if outcome.startsAtOnce {
            begin([transfer])
        } else {
            begin(outcome.startable)
            if outcome.isNew { transferExpects(deadline: transfer.firstDeadline) }
        }
        return outcome.download
    }

    /// Scheme, host and port of web addresses are looked at with each hop; other sources have none.
    private func refusal(of resolved: ResolvedRequest, _ snapshot: ConfigurationSnapshot) -> WebImageError? {
        if resolved.web != nil { return nil }
        let policy = resolved.request.changedOptions?.value.addressPolicy ?? snapshot.configuration.addressPolicy
        switch resolved.source {
        case .web: return nil
        case .file: return policy?.refusal(scheme: "file")
        case .data: return policy?.refusal(scheme: "data")
        // Where it gets the bytes is the loader's own; which URLs come to it is not.
        case .loader: return policy?.refusal(scheme: resolved.scheme)
        }
    }

    /// A share in the transfer that runs already; nil when there is none.
    private func join(
        _ resolved: ResolvedRequest, _ snapshot: ConfigurationSnapshot?, _ priority: LoadPriority, _ isMarked: Bool,
        _ state: inout State
    ) -> Download? {
        if state.isShutDown || state.isEnding && !isMarked {
            return Download(failed: Self.shutDownError.at(resolved.source.shown))
        }
        guard snapshot == nil || snapshot == state.snapshot, let entry = state.table[resolved] else { return nil }
        state.joined += 1
        entry.add(priority)
        if isMarked { entry.finishesWhenDrained = true }
        state.queue.setPriority(entry.priority ?? priority, of: entry.id)
        return Download(of: entry, in: self, priority: priority, wasJoined: true)
    }

    private func insert(_ entry: TransferEntry, mayBeJoined: Bool, _ state: inout State) {
        state.entries[entry.id] = entry
        entry.isInTable = mayBeJoined
        if mayBeJoined { state.table[entry.request] = entry }
        state.started += 1
    }

    /// Moves one share of a transfer to another priority, or away with nil. The last share to go ends the transfer.
    func moveShare(of entry: TransferEntry, from old: LoadPriority, to new: LoadPriority?) {
        let (abandoned, startable) = state.withLock { state -> ((any Transfer)?, [any Transfer]) in
            if entry.isOver { return (nil, []) }
            entry.remove(old)
            if let new { entry.add(new) }
            if let highest = entry.priority {
                state.queue.setPriority(highest, of: entry.id)
                // What has become urgent may have made room for one that is not.
                return (nil, state.startable())
            }
            state.untable(entry)
            return (entry.transfer, [])
        }
        abandoned?.fail(.cancelled)
        begin(startable)
    }

    // MARK: From transfers

    /// Begins transfers one after the other. A transfer that is refused ends at once and makes room for the next one,
    /// which the running loop then begins. So the stack does not grow, however many are refused.
    private func begin(_ transfers: [any Transfer]) {
        if transfers.isEmpty { return }
        noteRunning()
        let isOurs = state.withLock { state in
            state.beginning.append(contentsOf: transfers)
            defer { state.isBeginning = true }
            return !state.isBeginning
        }
        guard isOurs else { return }
        while true {
            let next = state.withLock { state -> [any Transfer] in
                defer { state.beginning = [] }
                if state.beginning.isEmpty { state.isBeginning = false }
                return state.beginning
            }
            if next.isEmpty { return }
            for transfer in next { transfer.begin() }
        }
    }

    private func noteRunning() {
        events.noteRunning { self.state.withLock { $0.queue.runningCount } }
    }

    func transferWillEnd(_ id: TransferQueue.ID) {
        state.withLock { state in
            if let entry = state.entries[id] { state.untable(entry) }
        }
    }

    func transferDidEnd(_ id: TransferQueue.ID) {
        let (startable, drains) = state.withLock { state in
            if let entry = state.entries.removeValue(forKey: id) {
                entry.isOver = true
                state.untable(entry)
            }
            if !state.resting.isEmpty { state.resting[id] = nil }
            state.queue.remove(id)
            let isEmpty = state.entries.isEmpty
            defer { if isEmpty { state.drains = [] } }
            return (state.startable(), isEmpty ? state.drains : [])
        }
        for drain in drains { drain.give(.success(())) }
        if startable.isEmpty { noteRunning() }
        begin(startable)
    }

    func transfer(_ id: TransferQueue.ID, movesTo host: String) {
        begin(
            state.withLock { state in
                state.resting[id] = nil
                state.queue.release(id)
                // It may have ended meanwhile.
                guard let entry = state.entries[id] else { return state.startable() }
                state.queue.enqueueAgain(id, host: host, priority: entry.priority ?? .normal)
                return state.startable()
            })
    }

    func transferRests(_ id: TransferQueue.ID, until end: Duration) {
        begin(
            state.withLock { state in
                state.queue.release(id)
                if state.entries[id] != nil { state.resting[id] = false }
                return state.startable()
            })
        transferExpects(deadline: end)
        // It may have ended meanwhile.
        state.withLock { state in if state.resting[id] != nil { state.resting[id] = true } }
    }

    func transfer(_ id: TransferQueue.ID, isSlow: Bool) {
        begin(
            state.withLock { state in
                state.queue.setSlow(isSlow, of: id)
                return state.startable()
            })
    }

    func transferExpects(deadline: Duration?) {
        // Most are later than one that is awaited already.
        guard let deadline, !timer.isArmed(by: deadline) else { return }
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
        state.withLock { state in
            state.circuits.isEmpty || state.circuits.admits(host, at: clock.now)
        }
    }

    func note(_ outcome: CircuitBreaker.Outcome, of host: String) {
        let logger = state.withLock { state -> Logger? in
            if outcome != .failure, state.circuits.isEmpty { return nil }
            let before = state.circuits.opening(of: host)
            state.circuits.note(outcome, of: host, at: clock.now)
            let after = state.circuits.opening(of: host)
            return after != nil && after != before ? state.snapshot.configuration.logger : nil
        }
        logger?.warning("a host keeps failing and is left alone", metadata: ["host": "\(host)"])
    }

    // MARK: The whole

    var counters: DownloadCounters {
        state.withLock { state in
            DownloadCounters(
                started: state.started, joined: state.joined, running: state.queue.runningCount,
                slow: state.queue.slowCount, waiting: state.queue.waitingCount,
                resting: state.resting.values.count { $0 })
        }
    }

    /// The configuration of now, by one reference.
    var snapshot: ConfigurationSnapshot { state.withLock { $0.snapshot } }

    /// What is changed holds for transfers that begin from then on; limits and order at once.
    var configuration: DownloadConfiguration {
        get { snapshot.configuration }
        set { changeConfiguration { $0 = newValue } }
    }

    /// - Parameter changesWhatIsSent: whether another answer may come from now on: nobody joins what runs then.
    func changeConfiguration(changesWhatIsSent: Bool = true, _ change: (inout DownloadConfiguration) -> Void) {
        begin(
            state.withLock { state in
                var configuration = state.snapshot.configuration
                change(&configuration)
                let number = state.snapshot.number + (changesWhatIsSent ? 1 : 0)
                state.snapshot = ConfigurationSnapshot(configuration, number: number)
                settings.set(number)
                state.queue.set(configuration.queueLimits, configuration.queueOrder)
                state.circuits.policy = configuration.circuit
                if changesWhatIsSent { for entry in Array(state.table.values) { state.untable(entry) } }
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

    private static let queueFullError = WebImageError(
        .queueFull, "too many downloads wait already; DownloadConfiguration.maxWaiting says how many may")
}

extension DownloadConfiguration {
    var queueLimits: TransferQueue.Limits {
        // Beyond a million nobody counts.
        TransferQueue.Limits(
            total: maxConcurrent, perHost: maxConcurrentPerHost, reserved: reservedForUrgent,
            spare: spareForSlowOrigins ?? min(maxConcurrent, 1 << 20) * 3, waiting: maxWaiting)
    }

    fileprivate var queueOrder: TransferQueue.Order {
        order == .firstInFirstOut ? .firstInFirstOut : .lastInFirstOut
    }
}
