import Synchronization
import WebImageCore
import WebImageSystem

/// The transfers of one downloader: who may join which, who runs, who waits. Effects happen after its lock is left.
final class DownloadCenter: TransferOwner {
    private struct Entry {
        let transfer: any Transfer
        let key: ResolvedRequest.Key
        /// Subscribers by priority.
        var subscribers = [Int](repeating: 0, count: LoadPriority.allCases.count)

        var priority: LoadPriority? {
            subscribers.lastIndex { $0 > 0 }.flatMap { LoadPriority(rawValue: $0) }
        }
    }

    private struct State {
        var entries: [TransferQueue.ID: Entry] = [:]
        /// Those that may be joined.
        var table: [ResolvedRequest.Key: TransferQueue.ID] = [:]
        var queue: TransferQueue
        var started = 0
        var joined = 0
        var isShutDown = false

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

    private let configuration: DownloadConfiguration
    private let transport: any HTTPTransport
    private let ownsTransport: Bool
    private let clock: any LoadClock
    private let executor: any WorkExecutor
    private let files: any FileSystem
    let budget: TransferMemoryBudget
    private let timer: DeadlineTimer
    private let nextID = Atomic(0)
    private let state: Guarded<State>

    init(
        configuration: DownloadConfiguration, transport: any HTTPTransport, ownsTransport: Bool, clock: any LoadClock,
        executor: any WorkExecutor, files: any FileSystem
    ) {
        self.configuration = configuration
        self.transport = transport
        self.ownsTransport = ownsTransport
        self.clock = clock
        self.executor = executor
        self.files = files
        budget = TransferMemoryBudget(limit: configuration.memoryForAll.bytes)
        timer = DeadlineTimer(clock: clock)
        let limits = TransferQueue.Limits(
            total: configuration.maxConcurrent, perHost: configuration.maxConcurrentPerHost)
        let order: TransferQueue.Order =
            configuration.order == .firstInFirstOut ? .firstInFirstOut : .lastInFirstOut
        state = Guarded(State(queue: TransferQueue(limits: limits, order: order)))
    }

    // MARK: Joining and leaving

    func download(_ resolved: ResolvedRequest, priority: LoadPriority) -> Download {
        if let joined = state.withLock({ join(resolved, priority, &$0) }) { return joined }
        // Made off the lock: it costs more than all the rest. It is dropped when another caller was quicker.
        let transfer = makeTransfer(nextID.add(1, ordering: .relaxed).newValue, resolved, priority)
        typealias Outcome = (download: Download, begin: [any Transfer], deadline: Duration?)
        let outcome = state.withLock { state -> Outcome in
            if let joined = join(resolved, priority, &state) { return (joined, [], nil) }
            return insert(transfer, resolved, priority, &state)
        }
        for transfer in outcome.begin { transfer.begin() }
        transferExpects(deadline: outcome.deadline)
        return outcome.download
    }

    /// A share in the transfer that runs already; nil when there is none.
    private func join(_ resolved: ResolvedRequest, _ priority: LoadPriority, _ state: inout State) -> Download? {
        if state.isShutDown { return Download(failed: Self.shutDownError.at(resolved.source.shown)) }
        guard let id = state.table[resolved.key], let transfer = state.entries[id]?.transfer else { return nil }
        state.joined += 1
        state.entries[id]?.subscribers[priority.rawValue] += 1
        state.queue.setPriority(state.entries[id]?.priority ?? priority, of: id)
        return Download(of: transfer, in: self, priority: priority, wasJoined: true)
    }

    private func insert(
        _ transfer: any Transfer, _ resolved: ResolvedRequest, _ priority: LoadPriority, _ state: inout State
    ) -> (download: Download, begin: [any Transfer], deadline: Duration?) {
        let id = transfer.id
        var entry = Entry(transfer: transfer, key: resolved.key)
        entry.subscribers[priority.rawValue] = 1
        state.entries[id] = entry
        state.table[resolved.key] = id
        state.started += 1
        let download = Download(of: transfer, in: self, priority: priority, wasJoined: false)
        guard case .web(let url) = resolved.source else { return (download, [transfer], nil) }
        state.queue.enqueue(id, host: url.hostAndPort, priority: priority)
        return (download, state.startable(), (transfer as? WebTransfer)?.firstDeadline)
    }

    private func makeTransfer(
        _ id: TransferQueue.ID, _ resolved: ResolvedRequest, _ priority: LoadPriority
    ) -> any Transfer {
        var settings = ByteLog.Settings()
        settings.memoryLimit = configuration.memoryPerTransfer.bytes
        settings.directory = configuration.temporaryDirectory
        let log = ByteLog(settings: settings, budget: budget, files: files, executor: executor)
        guard case .web(let url) = resolved.source else {
            return LocalTransfer(
                id: id, source: resolved.source, limit: (resolved.request.bodyLimit ?? configuration.bodyLimit).bytes,
                priority: priority, log: log, files: files, executor: executor, budget: budget, owner: self)
        }
        return WebTransfer(
            id: id, url: url, request: resolved.request, configuration: configuration, log: log,
            surroundings: WebTransfer.Surroundings(transport: transport, clock: clock, budget: budget, owner: self))
    }

    /// Moves one share of a transfer to another priority, or away with nil. The last share to go ends the transfer.
    func moveShare(of id: TransferQueue.ID, from old: LoadPriority, to new: LoadPriority?) {
        let abandoned = state.withLock { state -> (any Transfer)? in
            state.entries[id]?.subscribers[old.rawValue] -= 1
            if let new { state.entries[id]?.subscribers[new.rawValue] += 1 }
            guard let entry = state.entries[id] else { return nil }
            if let highest = entry.priority {
                state.queue.setPriority(highest, of: id)
                return nil
            }
            state.untable(id)
            return entry.transfer
        }
        abandoned?.fail(.cancelled)
    }

    // MARK: From transfers

    func transferWillEnd(_ id: TransferQueue.ID) { state.withLock { $0.untable(id) } }

    func transferDidEnd(_ id: TransferQueue.ID) {
        let startable = state.withLock { state in
            state.untable(id)
            state.entries[id] = nil
            state.queue.remove(id)
            return state.startable()
        }
        for transfer in startable { transfer.begin() }
    }

    func transfer(_ id: TransferQueue.ID, movesTo host: String) {
        let startable = state.withLock { state in
            state.queue.release(id)
            state.queue.enqueue(id, host: host, priority: state.entries[id]?.priority ?? .normal)
            return state.startable()
        }
        for transfer in startable { transfer.begin() }
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

    // MARK: The whole

    var counters: DownloadCounters {
        state.withLock { state in
            DownloadCounters(
                started: state.started, joined: state.joined, running: state.queue.runningCount,
                waiting: state.queue.waitingCount)
        }
    }

    var limits: TransferQueue.Limits {
        get { state.withLock { $0.queue.limits } }
        set {
            let startable = state.withLock { state in
                state.queue.setLimits(newValue)
                return state.startable()
            }
            for transfer in startable { transfer.begin() }
        }
    }

    var isSuspended: Bool {
        get { state.withLock { $0.queue.isSuspended } }
        set {
            let startable = state.withLock { state in
                state.queue.setSuspended(newValue)
                return state.startable()
            }
            for transfer in startable { transfer.begin() }
        }
    }

    func cancelAll() { failAll(.cancelled) }

    func shutDown() {
        state.withLock { $0.isShutDown = true }
        failAll(Self.shutDownError)
        timer.cancel()
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
