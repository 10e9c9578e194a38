public import ServerGrammar
import Synchronization

/// Limits how many pictures are made at a time; the hosts of their sources take turns. Requests that would wait in vain
/// are refused at once. Any thread may use it.
public final class MissGate: Sendable {
    /// The time that making a picture took, in seconds.
    public struct Spent: Hashable, Sendable {
        /// How long it kept a thread busy.
        public var work: Double
        /// How long it waited for its source, while threads did other work.
        public var fetch: Double

        public init(work: Double, fetch: Double = 0) { (self.work, self.fetch) = (work, fetch) }
    }

    /// A place among the pictures that are being made; return it with ``leave(_:_:)``.
    public struct Place: Hashable, Sendable {
        let host: String
        /// How many pictures of the same host were being made when this one began.
        let rank: Int
        /// How long the picture waited for the place.
        public let waited: Duration
        let began: ContinuousClock.Instant
    }

    private enum Outcome: Sendable {
        case begins(rank: Int)
        case refused(RequestRefusal)
    }

    private struct Waiter {
        var continuation: CheckedContinuation<Outcome, Never>
        var since: ContinuousClock.Instant
        var patience: Duration
        /// Ends the wait after the maximum time.
        var timer: Task<Void, Never>?

        func resume(_ outcome: Outcome) {
            timer?.cancel()
            continuation.resume(returning: outcome)
        }
    }

    private struct State {
        var queue: MissQueue
        var waiters: [Int: Waiter] = [:]
        var lastNumber = 0
        /// The cost of one picture, as moving averages.
        var cost = Spent(work: 0.02)
        /// When a picture of a host that is not slow was last refused; nil: there is no overload.
        var overloadedAt: ContinuousClock.Instant?

        mutating func learn(_ spent: Spent) {
            cost.work += (min(max(spent.work, 0.0001), 30) - cost.work) * 0.1
            cost.fetch += (min(max(spent.fetch, 0), 30) - cost.fetch) * 0.1
        }
    }

    /// Under overload each host gets 1.5 times as many places as keep the threads busy. More would only make the queue
    /// longer and all requests slower. The limit is for each host, because pictures that wait for a slow origin say
    /// nothing about the threads or about other origins.
    private static let reserve = 1.5
    /// An overload ends when the queue is empty and nothing has been refused for this long.
    private static let overload = Duration.seconds(1)

    /// How many transfers the downloader runs at a time, in all and for each host. The gate admits this many pictures
    /// in addition to those that keep the threads busy.
    static let transfers = (all: 64, perHost: 16)

    private let most: Int
    public let threads: Int
    private let patience: Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let now: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    private let state: Mutex<State>

    /// - Parameters:
    ///   - most: how many pictures may be made or wait at a time.
    ///   - threads: how many threads make pictures.
    ///   - patience: how long a caller waits at most.
    ///   - now: returns the time, which determines how long an overload lasts.
    ///   - sleep: returns after a duration, or throws if its task is cancelled.
    public init(
        most: Int, threads: Int, patience: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.most = max(most, 1)
        self.threads = max(threads, 1)
        self.patience = patience
        (self.sleep, self.now, start) = (sleep, now, now())
        let limits = MissQueue.Limits(
            most: self.most, running: Self.transfers.all + 2 * self.threads,
            runningPerHost: Self.transfers.perHost + 2 * self.threads, beyond: Self.transfers.all)
        state = Mutex(State(queue: MissQueue(limits)))
    }

    /// How many pictures are being made or waiting.
    public var count: Int { state.withLock { $0.queue.count } }
    /// How many pictures are waiting for their turn.
    public var waiting: Int { state.withLock { $0.queue.waiting } }
    /// Whether there is an overload, or the next picture of a new host would be refused or would displace a picture of
    /// a host that is not slow.
    public var isFull: Bool {
        state.withLock { state in
            if let last = state.overloadedAt, now() - last <= Self.overload { return true }
            let queue = state.queue
            let isFull = queue.isFull && queue.hostWithMostWaiting.map { !isSlow($0, state) } ?? true
            return isFull || refusal(state, host: "", patience) != nil
        }
    }

    /// Whether the pictures of a host hold their places because its origin is slow, and not because the threads are busy.
    private func isSlow(_ host: String, _ state: State) -> Bool {
        state.queue.isSlow(host, work: state.cost.work / Double(threads), at: seconds)
    }

    private var seconds: Double { (now() - start).inSeconds }

    /// Whether earlier pictures of the same host already keep the threads busy; pictures of other hosts then go first.
    func isLate(_ place: Place) -> Bool { place.rank >= 2 * threads }

    /// Waits for the turn of a picture from a host.
    ///
    /// - Parameter patience: how long to wait at most; nil: as long as the gate allows.
    /// - Throws: `Too many requests`, with the time after which to retry; `Timeout`; `Cancelled` if the task is
    ///   cancelled.
    public func enter(_ host: String, patience: Duration? = nil) async throws(RequestRefusal) -> Place {
        let patience = min(patience ?? self.patience, self.patience)
        let begin = ContinuousClock.now
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waitForTurn(number, host, patience, $0) }
        } onCancel: {
            give(up: number, host, RequestRefusal.clientGone)
        }
        switch outcome {
        case .begins(let rank): return Place(host: host, rank: rank, waited: ContinuousClock.now - begin, began: now())
        case .refused(let refusal): throw refusal
        }
    }

    /// - Parameters:
    ///   - spent: the time that the picture took; nil if none was made. The whole stay then counts as waiting for the
    ///     source.
    ///   - hasFailed: whether the source could not be loaded, or no picture could be made from it.
    public func leave(_ place: Place, _ spent: Spent?, hasFailed: Bool = false) {
        let stay = (now() - place.began).inSeconds
        let (begun, late) = state.withLock { state in
            state.learn(spent ?? Spent(work: state.cost.work, fetch: stay))
            defer { adapt(&state) }
            let begun = state.queue.leave(place.host, after: stay, at: seconds, hasFailed: hasFailed).compactMap {
                turn in
                state.waiters.removeValue(forKey: turn.number).map { ($0, turn.rank) }
            }
            return (begun, dropLate(place.host, &state))
        }
        for (waiter, rank) in begun { waiter.resume(.begins(rank: rank)) }
        for (waiter, refusal) in late { waiter.resume(.refused(refusal)) }
    }

    /// Removes the newest waiting pictures of a host if it has shown that it cannot send them in time.
    private func dropLate(_ host: String, _ state: inout State) -> [(Waiter, RequestRefusal)] {
        var late: [(Waiter, RequestRefusal)] = []
        while let (number, time) = state.queue.newestWaiting(of: host), let waiter = state.waiters[number],
            time > (waiter.patience - (now() - waiter.since)).inSeconds
        {
            _ = state.queue.remove(number, host)
            state.waiters[number] = nil
            late.append((waiter, Self.tooLate(state, time)))
        }
        return late
    }

    private func waitForTurn(
        _ number: Int, _ host: String, _ patience: Duration, _ continuation: CheckedContinuation<Outcome, Never>
    ) {
        var outcome: Outcome?
        let dropped: Waiter? = state.withLock { state in
            if Task.isCancelled {
                outcome = .refused(.clientGone)
                return nil
            }
            if state.queue.count == 0 { adapt(&state) }
            if let refusal = refusal(state, host: host, patience) {
                outcome = .refused(refusal)
                return nil
            }
            switch state.queue.enter(number, host) {
            case .begins(let turn, let dropped):
                outcome = .begins(rank: turn.rank)
                return dropped.flatMap { state.waiters.removeValue(forKey: $0) }
            case .waits(let dropped):
                state.waiters[number] = Waiter(continuation: continuation, since: now(), patience: patience)
                return dropped.flatMap { state.waiters.removeValue(forKey: $0) }
            case .refused:
                outcome = .refused(full(state))
                if !isSlow(host, state) {
                    state.overloadedAt = now()
                    adapt(&state)
                }
                return nil
            }
        }
        dropped?.resume(.refused(.tooMany("its place went to a host of which fewer pictures wait", retryAfter: 1)))
        if let outcome { continuation.resume(returning: outcome) } else { startTimer(number, host, patience) }
    }

    private func startTimer(_ number: Int, _ host: String, _ patience: Duration) {
        let timer = Task { [weak self, sleep] in
            guard (try? await sleep(patience)) != nil else { return }
            self?.give(up: number, host, .timedOut("it was not its turn within \(patience)"))
        }
        let isWaiting = state.withLock { state in
            state.waiters[number]?.timer = timer
            return state.waiters[number] != nil
        }
        if !isWaiting { timer.cancel() }
    }

    private func give(up number: Int, _ host: String, _ refusal: RequestRefusal) {
        let waiter = state.withLock { state in
            state.queue.remove(number, host) ? state.waiters.removeValue(forKey: number) : nil
        }
        waiter?.resume(.refused(refusal))
    }

    /// Sets the limit for each host: all places or, under overload, only as many as are useful, until the queue is
    /// empty.
    private func adapt(_ state: inout State) {
        if state.queue.count == 0, let last = state.overloadedAt, now() - last > Self.overload {
            state.overloadedAt = nil
        }
        guard state.overloadedAt != nil else {
            state.queue.maxPerHost = most
            return
        }
        let useful = Self.reserve * Double(threads) * (state.cost.work + state.cost.fetch) / state.cost.work
        state.queue.maxPerHost = min(most, max(2 * threads, Int(min(useful, 1e6).rounded(.up))))
    }

    private func refusal(_ state: State, host: String, _ patience: Duration) -> RequestRefusal? {
        // Either the threads are busy, or the host is slow to send.
        let work = Double(state.queue.ahead(of: host)) * state.cost.work / Double(threads)
        let wait = max(work, state.queue.time(toMakeNextOf: host))
        return wait > patience.inSeconds ? Self.tooLate(state, wait) : nil
    }

    private static func tooLate(_ state: State, _ time: Double) -> RequestRefusal {
        .tooMany(
            "\(state.queue.count) pictures are waiting, about \(Int(time * 1000)) ms",
            retryAfter: max(1, Int(time.rounded(.up))))
    }

    private func full(_ state: State) -> RequestRefusal {
        let wait = Double(state.queue.count) * state.cost.work / Double(threads)
        return .tooMany("\(state.queue.count) pictures are waiting", retryAfter: max(1, Int(wait.rounded(.up))))
    }
}
