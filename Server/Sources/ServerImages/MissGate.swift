public import ServerGrammar
import Synchronization

/// Lets pictures be made, so many at a time, the hosts of their sources taking turns. Refuses at once who would wait in vain. Any
/// thread may use it.
public final class MissGate: Sendable {
    /// What making a picture took, in seconds.
    public struct Spent: Hashable, Sendable {
        /// How long a thread was busy with it.
        public var work: Double
        /// How long its source was waited for, while threads did other things.
        public var fetch: Double

        public init(work: Double, fetch: Double = 0) { (self.work, self.fetch) = (work, fetch) }
    }

    /// A place among the pictures that are made; give it back with ``leave(_:_:)``.
    public struct Place: Hashable, Sendable {
        let host: String
        /// How many pictures of the same host were being made when it began.
        let rank: Int
        /// How long it was waited for.
        public let waited: Duration
        let began: ContinuousClock.Instant
    }

    private enum Outcome: Sendable {
        case begins(rank: Int)
        case refused(RequestRefusal)
    }

    private struct Waiter {
        var continuation: CheckedContinuation<Outcome, Never>
        /// Ends the wait when it is too long.
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
        /// What one picture takes; moving averages.
        var cost = Spent(work: 0.02)
        /// When a picture was refused last; nil: that is over.
        var overloadedAt: ContinuousClock.Instant?

        mutating func learn(_ spent: Spent) {
            cost.work += (min(max(spent.work, 0.0001), 30) - cost.work) * 0.1
            cost.fetch += (min(max(spent.fetch, 0), 30) - cost.fetch) * 0.1
        }
    }

    /// Under overload half as many of a host are let in again as keep the threads busy: a queue that never empties makes all wait and
    /// nothing faster. Of a host, since those that wait for a slow origin say nothing of the threads, nor of other origins.
    private static let reserve = 1.5
    /// An overload is over when none are left, and none were refused for so long.
    private static let overload = Duration.seconds(1)

    /// Transfers that the downloader runs at a time, in all and of one host: as many pictures more are made as keep threads busy.
    static let transfers = (all: 64, perHost: 16)

    private let most: Int
    public let threads: Int
    private let patience: Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// - Parameters:
    ///   - most: pictures that are made or wait at a time.
    ///   - threads: that make them.
    ///   - patience: after which a caller gives up.
    ///   - now: the time, for how long an overload lasts.
    ///   - sleep: returns after a time, or throws when its task is cancelled.
    public init(
        most: Int, threads: Int, patience: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.most = max(most, 1)
        self.threads = max(threads, 1)
        self.patience = patience
        (self.sleep, self.now) = (sleep, now)
        let limits = MissQueue.Limits(
            most: self.most, running: Self.transfers.all + 2 * self.threads,
            runningPerHost: Self.transfers.perHost + 2 * self.threads, beyond: Self.transfers.all)
        state = Mutex(State(queue: MissQueue(limits)))
    }

    /// How many are being made or wait.
    public var count: Int { state.withLock { $0.queue.count } }
    /// How many wait for their turn.
    public var waiting: Int { state.withLock { $0.queue.waiting } }
    /// Whether the next one of a host without pictures here would take the place of another, or be refused; and under overload.
    public var isFull: Bool {
        state.withLock { state in
            let isOverloaded = state.overloadedAt.map { now() - $0 <= Self.overload } ?? false
            return isOverloaded || state.queue.isFull || refusal(state, host: "") != nil
        }
    }

    /// Whether pictures of the same host that began earlier keep the threads busy already: others go before it then.
    func isLate(_ place: Place) -> Bool { place.rank >= 2 * threads }

    /// Returns when it is the turn of a picture from a host.
    ///
    /// - Throws: `Too many requests`, with the time after which to ask again; `Timeout`; `Cancelled` when the task is cancelled.
    public func enter(_ host: String) async throws(RequestRefusal) -> Place {
        let begin = ContinuousClock.now
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waitForTurn(number, host, $0) }
        } onCancel: {
            give(up: number, host, RequestRefusal.clientGone)
        }
        switch outcome {
        case .begins(let rank): return Place(host: host, rank: rank, waited: ContinuousClock.now - begin, began: now())
        case .refused(let refusal): throw refusal
        }
    }

    /// - Parameter spent: nil when it came to nothing: then its source was waited for all the time.
    public func leave(_ place: Place, _ spent: Spent?) {
        let begun = state.withLock { state in
            state.learn(spent ?? Spent(work: state.cost.work, fetch: (now() - place.began).inSeconds))
            defer { adapt(&state) }
            return state.queue.leave(place.host).compactMap { turn in
                state.waiters.removeValue(forKey: turn.number).map { ($0, turn.rank) }
            }
        }
        for (waiter, rank) in begun { waiter.resume(.begins(rank: rank)) }
    }

    private func waitForTurn(_ number: Int, _ host: String, _ continuation: CheckedContinuation<Outcome, Never>) {
        var outcome: Outcome?
        let dropped: Waiter? = state.withLock { state in
            if Task.isCancelled {
                outcome = .refused(.clientGone)
                return nil
            }
            if state.queue.count == 0 { adapt(&state) }
            if let refusal = refusal(state, host: host) {
                outcome = .refused(refusal)
                return nil
            }
            switch state.queue.enter(number, host) {
            case .begins(let turn, let dropped):
                outcome = .begins(rank: turn.rank)
                return dropped.flatMap { state.waiters.removeValue(forKey: $0) }
            case .waits(let dropped):
                state.waiters[number] = Waiter(continuation: continuation)
                return dropped.flatMap { state.waiters.removeValue(forKey: $0) }
            case .refused:
                outcome = .refused(full(state))
                state.overloadedAt = now()
                adapt(&state)
                return nil
            }
        }
        dropped?.resume(.refused(.tooMany("its place went to a host of which fewer pictures wait", retryAfter: 1)))
        if let outcome { continuation.resume(returning: outcome) } else { startTimer(number, host) }
    }

    private func startTimer(_ number: Int, _ host: String) {
        let timer = Task { [weak self, patience, sleep] in
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

    /// Lets in as many as there is room for, or under overload as many as there is use for, until none are left.
    private func adapt(_ state: inout State) {
        if state.queue.count == 0, let last = state.overloadedAt, now() - last > Self.overload {
            state.overloadedAt = nil
        }
        guard state.overloadedAt != nil else {
            state.queue.mostPerHost = most
            return
        }
        let useful = Self.reserve * Double(threads) * (state.cost.work + state.cost.fetch) / state.cost.work
        state.queue.mostPerHost = min(most, max(2 * threads, Int(min(useful, 1e6).rounded(.up))))
    }

    private func refusal(_ state: State, host: String) -> RequestRefusal? {
        let wait = Double(state.queue.ahead(of: host)) * state.cost.work / Double(threads)
        guard wait > patience.inSeconds else { return nil }
        return .tooMany(
            "\(state.queue.count) pictures are waiting, about \(Int(wait * 1000)) ms",
            retryAfter: max(1, Int(wait.rounded(.up))))
    }

    private func full(_ state: State) -> RequestRefusal {
        let wait = Double(state.queue.count) * state.cost.work / Double(threads)
        return .tooMany("\(state.queue.count) pictures are waiting", retryAfter: max(1, Int(wait.rounded(.up))))
    }
}
