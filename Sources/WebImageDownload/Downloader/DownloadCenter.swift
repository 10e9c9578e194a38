import Logging
import Synchronization
import WebImageCore
import WebImageSystem

/// The transfers of one downloader: which ones can be joined, which are running and which are waiting. Actions are
/// carried out after its lock is released.
final class DownloadCenter: TransferOwner {
    struct State {
        var snapshot: ConfigurationSnapshot
        var entries: [TransferQueue.ID: TransferEntry] = [:]
        /// The transfers that can be joined.
        var table: [ResolvedRequest: TransferEntry] = [:]
        var queue: TransferQueues
        var circuits: CircuitBreaker
        /// The transfers between two attempts: true when the end of the pause is scheduled.
        var resting: [TransferQueue.ID: Bool] = [:]
        var started = 0
        var joined = 0
        /// The transfers that have a slot and are about to begin, and whether a thread is starting them.
        var beginning: [any Transfer] = []
        var isBeginning = false
        var isShutDown = false
        /// Whether only transfers that may finish when the downloader is drained are accepted.
        var isEnding = false
        /// The callers that wait for the last transfer to end.
        var drains: [CancellableAnswer<Void>] = []

        mutating func startable() -> [any Transfer] {
            var startable: [any Transfer] = []
            while let id = queue.next() {
                if let transfer = entries[id]?.transfer { startable.append(transfer) }
            }
            return startable
        }

        mutating func removeFromTable(_ entry: TransferEntry) {
            guard entry.isInTable else { return }
            entry.isInTable = false
            if table[entry.request] === entry { table[entry.request] = nil }
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
                snapshot: ConfigurationSnapshot(configuration, number: settings.number),
                queue: TransferQueues(limits: configuration.queueLimits, order: configuration.queueOrder),
                circuits: CircuitBreaker(policy: configuration.circuit)))
    }

    // MARK: Joining and leaving

    /// - Parameters:
    ///   - given: the snapshot that the load began with; nil: the current one. Loads with different snapshots share no
    ///     transfer.
    ///   - moment: a number of ``EventOrder``. A transfer from before it is not shared.
    func download(
        _ resolved: ResolvedRequest, by given: ConfigurationSnapshot? = nil, notBefore moment: Int = 0,
        priority: LoadPriority,
        finishesWhenDrained: Bool = false
    ) -> Download {
        let isMarked = finishesWhenDrained || resolved.request.changedOptions?.value.finishesWhenDrained == true
        let (joined, startable, started, snapshot) = state.withLock { state in
            let joined = join(resolved, given, moment, priority, isMarked, &state)
            // A raised priority may allow the transfer to use a reserved slot.
            return (joined, joined == nil ? [] : state.startable(), state.started, given ?? state.snapshot)
        }
        begin(startable)
        if let joined {
            joined.resumeIfUrgent()
            return joined
        }
        if let refusal = refusal(of: resolved, snapshot) {
            return Download(failed: refusal.at(resolved.source.shown))
        }
        // Made without the lock, because this is the most expensive part. The new transfer is discarded if another
        // caller was quicker.
        let (transfer, pump, log) = makeTransfer(
            nextID.add(1, ordering: .relaxed).newValue, resolved, priority, snapshot)
        typealias Outcome = (download: Download, isNew: Bool, startsAtOnce: Bool, startable: [any Transfer])
        let outcome = state.withLock { state -> Outcome in
            if state.started != started || state.isShutDown || state.isEnding,
                let joined = join(resolved, snapshot, moment, priority, isMarked, &state)
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
            if !outcome.isNew { outcome.download.resumeIfUrgent() }
            if outcome.isNew { transferExpects(deadline: transfer.firstDeadline) }
        }
        return outcome.download
    }

    /// Checks scheme, host and port of web addresses, which is repeated with each hop; for other sources only the
    /// scheme.
    private func refusal(of resolved: ResolvedRequest, _ snapshot: ConfigurationSnapshot) -> WebImageError? {
        if resolved.web != nil { return nil }
        let policy = resolved.request.changedOptions?.value.addressPolicy ?? snapshot.configuration.addressPolicy
        switch resolved.source {
        case .web: return nil
        case .file: return policy?.refusal(scheme: "file")
        case .data: return policy?.refusal(scheme: "data")
        // The policy decides which URLs reach a loader, but not where the loader gets the bytes.
        case .loader: return policy?.refusal(scheme: resolved.scheme)
        }
    }

    /// Adds a share to a running transfer; nil if there is none.
    private func join(
        _ resolved: ResolvedRequest, _ snapshot: ConfigurationSnapshot?, _ moment: Int, _ priority: LoadPriority,
        _ isMarked: Bool, _ state: inout State
    ) -> Download? {
        if state.isShutDown || state.isEnding && !isMarked {
            return Download(failed: Self.shutDownError.at(resolved.source.shown))
        }
        guard snapshot == nil || snapshot == state.snapshot, let entry = state.table[resolved], entry.made >= moment
        else { return nil }
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

    /// Changes the priority of one share of a transfer, or removes the share if `new` is nil. The last share to go ends
    /// the transfer.
    func moveShare(of entry: TransferEntry, from old: LoadPriority, to new: LoadPriority?) {
        let (abandoned, startable) = state.withLock { state -> ((any Transfer)?, [any Transfer]) in
            if entry.isOver { return (nil, []) }
            entry.remove(old)
            if let new { entry.add(new) }
            if let highest = entry.priority {
                state.queue.setPriority(highest, of: entry.id)
                // A raised priority may free a slot for a transfer of low priority.
                return (nil, state.startable())
            }
            state.removeFromTable(entry)
            return (entry.transfer, [])
        }
        abandoned?.fail(.cancelled)
        begin(startable)
        if new != nil { entry.transfer.resumeIfUrgent() }
    }

    // MARK: From transfers

    /// Begins transfers one after the other. A transfer that is refused ends at once and frees its slot for the next
    /// one, which the running loop then begins. So the stack does not grow, however many are refused.
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
            if let entry = state.entries[id] { state.removeFromTable(entry) }
        }
    }

    func transferDidEnd(_ id: TransferQueue.ID) {
        let (startable, drains) = state.withLock { state in
            if let entry = state.entries.removeValue(forKey: id) {
                entry.isOver = true
                state.removeFromTable(entry)
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
                // The transfer may have ended meanwhile.
                guard let entry = state.entries[id] else { return state.startable() }
                state.queue.enqueueAgain(id, host: host, priority: entry.priority ?? .normal)
                return state.startable()
            })
    }

    func transferWaits(_ id: TransferQueue.ID, until end: Duration) {
        begin(
            state.withLock { state in
                state.queue.release(id)
                if state.entries[id] != nil { state.resting[id] = false }
                return state.startable()
            })
        transferExpects(deadline: end)
        // The transfer may have ended meanwhile.
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
        // An earlier deadline is usually scheduled already.
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
        logger?.warning("a host keeps failing and is not asked for a while", metadata: ["host": "\(host)"])
    }

    // MARK: Counters and configuration

    var counters: DownloadCounters {
        state.withLock { state in
            DownloadCounters(
                started: state.started, joined: state.joined, running: state.queue.runningCount,
                slow: state.queue.slowCount, waiting: state.queue.waitingCount,
                resting: state.resting.values.count { $0 })
        }
    }

    /// The settings of loads that begin now.
    var snapshot: ConfigurationSnapshot { state.withLock { $0.snapshot } }

    /// A change applies to transfers that begin afterwards; limits and order apply at once.
    var configuration: DownloadConfiguration {
        get { snapshot.configuration }
        set { changeConfiguration { $0 = newValue } }
    }

    /// - Parameter changesWhatIsSent: whether answers may differ from now on; running transfers can then no longer be
    ///   joined.
    func changeConfiguration(changesWhatIsSent: Bool = true, _ change: (inout DownloadConfiguration) -> Void) {
        begin(
            state.withLock { state in
                var configuration = state.snapshot.configuration
                change(&configuration)
                let number = changesWhatIsSent ? SettingsCounter.next() : state.snapshot.number
                state.snapshot = ConfigurationSnapshot(configuration, number: number)
                settings.set(number)
                state.queue.set(configuration.queueLimits, configuration.queueOrder)
                state.circuits.policy = configuration.circuit
                if changesWhatIsSent { for entry in Array(state.table.values) { state.removeFromTable(entry) } }
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
        // Avoids an overflow if `maxConcurrent` is `Int.max` for "no limit".
        TransferQueue.Limits(
            total: maxConcurrent, perHost: maxConcurrentPerHost, reserved: reservedForUrgent,
            spare: spareForSlowOrigins ?? min(maxConcurrent, 1 << 20) * 3, waiting: maxWaiting)
    }

    fileprivate var queueOrder: TransferQueue.Order {
        order == .firstInFirstOut ? .firstInFirstOut : .lastInFirstOut
    }
}
