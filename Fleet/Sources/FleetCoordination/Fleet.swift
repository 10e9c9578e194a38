public import RedisClient
import Synchronization

/// The cooperation of several servers through Redis: work is done once, purges reach all servers, and limits hold for
/// all together.
///
/// Answers are right without it. If Redis is slow or unavailable, each server works for itself, at most one command
/// deadline later; the data in Redis may be lost at any time. Any thread may use it.
public final class Fleet: Sendable {
    /// Counts since the start.
    public struct Statistics: Hashable, Sendable {
        /// Work that this server did for all.
        public var led = 0
        /// The same, after another server had given up.
        public var tookOver = 0
        /// Answers that another server made.
        public var followed = 0
        /// Work that this server did for itself: Redis was unavailable, or the result is not shared.
        public var alone = 0
        /// Purges that this server was asked for.
        public var purges = 0

        public init() {}
    }

    private struct State {
        var reader: PurgeReader
        var statistics = Statistics()
        var waits = 0
        /// The number of servers that Redis reported last.
        var servers = 1
        /// The reading of the list of purges that is under way.
        var reading: Task<Void, Never>?
    }

    public let purges: PurgeBook
    private let configuration: FleetConfiguration
    let commands: FleetCommands
    private let clock: FleetClock
    private let state: Mutex<State>
    private let start = ContinuousClock.now
    /// When the purges were read last, as ``elapsed``; -1: never.
    private let lastRead = Atomic(-1)
    private let news = Nudge()

    /// - Parameter wall: milliseconds since 1970.
    public init(_ configuration: FleetConfiguration, _ client: RedisClient, wall: @escaping @Sendable () -> Int) {
        self.configuration = configuration
        commands = FleetCommands(client, configuration.keys)
        clock = FleetClock(wall: wall)
        let reader = PurgeReader(start: wall())
        purges = PurgeBook(reader.table)
        state = Mutex(State(reader: reader))
    }

    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// The counts of the Redis client.
    public var redis: RedisClient.Statistics { commands.client.statistics }

    /// Whether Redis is currently used.
    public var isAvailable: Bool { commands.client.isAvailable }

    /// The number of servers, including this one, when Redis was last asked.
    public var servers: Int { state.withLock { $0.servers } }

    /// The time to note as the beginning of work that starts now, for the verdicts of purges: the time up to which this
    /// server knows all purges.
    ///
    /// It is not the current time, because work may use cached data, which is only as recent as this server's knowledge
    /// of purges.
    public var stamp: Int { state.withLock { $0.reader.stamp } }

    /// The list of purges that was read last, and when it was created; nil before the first reading. A new one means that
    /// Redis has lost the purges of before.
    public var list: (name: String, created: Int)? {
        state.withLock { state in state.reader.list.map { ($0, state.reader.created) } }
    }

    /// Whether this server knows of all purges, except possibly those of the last while: see
    /// ``FleetConfiguration/silenceLimit``.
    public var isInTouch: Bool {
        let lastRead = lastRead.load(ordering: .relaxed)
        return lastRead >= 0 && elapsed - lastRead < configuration.silenceLimit
    }

    /// Milliseconds since this object was made.
    private var elapsed: Int { Int((ContinuousClock.now - start) / .milliseconds(1)) }

    // MARK: - Work that is done once

    /// The part of a result that is shared, and with whom.
    public struct Shared: Sendable {
        public var kind: FleetOutcome.Kind
        public var content: [UInt8]
        /// The time in milliseconds for which it is shared.
        public var life: Int
        /// Whether the outcome applies to all results of the source.
        public var ofSource: Bool
        /// Hashes of the tags of the source.
        public var tags: [UInt64]

        public init(
            _ kind: FleetOutcome.Kind, _ content: [UInt8] = [], life: Int, ofSource: Bool = false, tags: [UInt64] = []
        ) {
            (self.kind, self.content, self.life, self.ofSource, self.tags) = (kind, content, life, ofSource, tags)
        }
    }

    /// Identifies a piece of work: the result, its source, and the digest of that source.
    public struct Job: Sendable {
        public var result: String
        public var source: String
        public var sourceDigest: String

        public init(result: String, source: String, sourceDigest: String) {
            (self.result, self.source, self.sourceDigest) = (result, source, sourceDigest)
        }
    }

    /// Returns the value that this server or another makes, if possible only once in the fleet.
    ///
    /// - Parameters:
    ///   - patience: how long to wait for another server.
    ///   - accept: makes a value from the outcome of another server. It returns nil if the outcome cannot be used, for
    ///     example because one of its tags was purged after the work began; the value is then made anew.
    ///   - work: makes the value, and returns it with the part to share. It gets the time at which the work began. It
    ///     is called at most once. If its task is cancelled, another server takes over at once.
    /// - Returns: nil if no other server has finished within `patience`.
    public func once<Value: Sendable>(
        _ job: Job, patience: Duration, accept: @Sendable (FleetOutcome) -> Value?,
        work: @Sendable (_ begun: Int) async -> (value: Value, shared: Shared?)
    ) async -> Value? {
        let token = Self.token()
        let end = ContinuousClock.now + patience
        let nudge = Nudge()
        var part = FlightPart(notBefore: purges.lastPurge(source: job.source))
        var subscription: RedisSubscription?
        var waits = false
        defer {
            subscription?.end()
            if waits { state.withLock { $0.waits -= 1 } }
        }
        var step = part.first
        while true {
            switch step {
            case .ask(let notBefore): step = await ask(job, token, notBefore, &part)
            case .listen:
                guard beginWait() else {
                    step = part.unavailable()
                    continue
                }
                waits = true
                subscription = commands.client.subscribe(to: commands.keys.channel(job.result)) { _ in nudge.give() }
                await nudge.wait(atMost: Self.wait(FlightPart.firstWait, until: end, now: .now))
                step = part.woken()
            case .wait(let milliseconds):
                if ContinuousClock.now >= end { return nil }
                await nudge.wait(atMost: Self.wait(milliseconds, until: end, now: .now))
                step = part.woken()
            case .take(let outcome):
                let isCurrent =
                    purges.verdict(source: job.source, begun: outcome.begun) == .current
                if isCurrent, let value = accept(outcome) {
                    state.withLock { $0.statistics.followed += 1 }
                    return value
                }
                step = part.refused(begun: outcome.begun)
            case .work(let begun):
                state.withLock { state in
                    if begun == nil {
                        state.statistics.alone += 1
                    } else if waits {
                        state.statistics.tookOver += 1
                    } else {
                        state.statistics.led += 1
                    }
                }
                return await lead(job, token, begun: begun, work)
            }
            if Task.isCancelled { step = part.unavailable() }
        }
    }

    /// How long to wait, in milliseconds: at least 1, and otherwise not beyond `end`.
    static func wait(_ milliseconds: Int, until end: ContinuousClock.Instant, now: ContinuousClock.Instant) -> Int {
        let left = (end - now) / .milliseconds(1)
        return left < Double(milliseconds) ? max(Int(left.rounded(.up)), 1) : milliseconds
    }

    private func beginWait() -> Bool {
        state.withLock { state in
            guard state.waits < configuration.maxWaits else { return false }
            state.waits += 1
            return true
        }
    }

    private func ask(_ job: Job, _ token: String, _ notBefore: Int, _ part: inout FlightPart) async -> FlightPart.Step {
        do throws(RedisError) {
            let begin = try await commands.begin(
                job.result, source: job.sourceDigest, token: token, lease: configuration.lease, notBefore: notBefore,
                newList: Self.token())
            clock.take(begin.now)
            // All purges up to this answer must be known before its outcome, or anything from this server's caches, is
            // used.
            if !state.withLock({ $0.reader.hasRead(begin) }) {
                await read()
                // The list of purges may have been replaced by a new one meanwhile.
                if begin.latestPurge > state.withLock({ $0.reader.last }) { return part.unavailable() }
            }
            return part.answered(begin.answer)
        } catch {
            return part.unavailable()
        }
    }

    private func lead<Value: Sendable>(
        _ job: Job, _ token: String, begun: Int?,
        _ work: @Sendable (_ begun: Int) async -> (value: Value, shared: Shared?)
    ) async -> Value {
        let renewal = begun == nil ? nil : Task { [self] in await renew(job.result, token) }
        let start = begun ?? stamp
        let (value, shared) = await work(start)
        renewal?.cancel()
        // The lock is released in any case: this server may hold it even if Redis' answer was lost.
        let isCancelled = Task.isCancelled
        Task { [self] in await finish(job, token, start, isCancelled ? nil : shared) }
        return value
    }

    private func renew(_ result: String, _ token: String) async {
        while (try? await Task.sleep(for: .milliseconds(configuration.lease / 3))) != nil {
            // If Redis does not answer, the next renewal may succeed.
            let isOurs = try? await commands.renew(result, token: token, lease: configuration.lease)
            if isOurs == false { return }
        }
    }

    private func finish(_ job: Job, _ token: String, _ begun: Int, _ shared: Shared?) async {
        var outcome: FleetOutcome?
        if let shared, purges.verdict(source: job.source, tags: shared.tags, begun: begun) == .current {
            outcome = FleetOutcome(shared.kind, begun: begun, content: shared.content)
        }
        // If Redis does not answer, the lock expires with its lease.
        _ = try? await commands.finish(
            job.result, source: job.sourceDigest, token: token, outcome, ofSource: shared?.ofSource ?? false,
            life: shared?.life ?? 1,
            notBefore: purges.lastPurge(source: job.source, tags: shared?.tags ?? []))
    }

    private static func token() -> String {
        let digits = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map { String($0, radix: 16) }
        return digits.joined(separator: "-")
    }

    // MARK: - Purges

    /// Announces purges to all servers.
    ///
    /// - Throws: if Redis did not confirm it. Nothing was purged if the error `isUnsent`; else that is not known.
    public func purge(_ purges: [Purge]) async throws(RedisError) {
        guard !purges.isEmpty else { return }
        let members = purges.map(PurgeMember.init)
        let last = try await commands.purge(
            members, newList: Self.token(), life: configuration.purgeLife, most: configuration.maxPurges)
        state.withLock { state in
            for (index, member) in members.enumerated() {
                state.reader.add(member, at: last - members.count + 1 + index)
            }
            state.statistics.purges += purges.count
            self.purges.replace(state.reader.table)
        }
        // Purges of other servers that came before these may not have been read yet.
        await read()
    }

    /// Purges on this server. The other servers are notified when Redis is available.
    public func purgeHere(_ purges: [Purge]) {
        state.withLock { state in
            for purge in purges { state.reader.addUnsent(PurgeMember(purge), at: clock.nowAtMost()) }
            state.statistics.purges += purges.count
            self.purges.replace(state.reader.table)
        }
    }

    /// The purges that Redis has not received yet, as text for ``restore(unsent:)``. Empty if there are none.
    public var unsent: String {
        let unsent = state.withLock { $0.reader.unsent }
        var table = PurgeTable()
        for (member, time) in unsent { table.add(member, at: time) }
        return table.text
    }

    /// Adds purges that Redis had not received when this server's last run ended. Call it before ``run(afterReading:)``.
    ///
    /// - Parameter unsent: a text of ``unsent``; nil: it is lost, so that origins must confirm all older results.
    public func restore(unsent: String?) {
        state.withLock { state in
            if let unsent {
                for (member, time) in PurgeTable(text: unsent).members.sorted(by: { $0.1 < $1.1 }) {
                    state.reader.addUnsent(member, at: time)
                }
            } else {
                state.reader.noteLoss(until: clock.nowAtMost())
            }
            purges.replace(state.reader.table)
        }
    }

    /// Keeps reading the purges of the fleet until the task is cancelled.
    ///
    /// - Parameter afterReading: called after each attempt to read.
    public func run(afterReading: () async -> Void = {}) async {
        let subscription = commands.client.subscribe(to: commands.keys.purgeChannel) { [weak self, news] event in
            if event == .lost || event == .active { self?.state.withLock { $0.reader.noteReconnection() } }
            if event != .lost { news.give() }
        }
        defer { subscription.end() }
        while !Task.isCancelled {
            await read()
            await afterReading()
            await news.wait(atMost: configuration.readInterval)
        }
    }

    /// Announces that this server is leaving, and closes its connections.
    public func leave() async {
        _ = try? await commands.leave(configuration.server)
        await commands.client.close()
    }

    /// The maximum number of parts that one reading requests; a complete list has fewer. If every answer comes from
    /// another list, as with two Redis servers behind one name, reading restarts each time: the limit ends that until
    /// the next reading.
    private static let maxParts = 100

    /// Reads the purges since the last reading. A reading that began before the call may lack what the caller needs, so
    /// the next one is awaited, which all waiting callers share.
    private func read() async {
        await state.withLock { $0.reading }?.value
        let reading = state.withLock { state in
            if let reading = state.reading { return reading }
            let reading = Task { [self] in
                await readOnce()
                self.state.withLock { $0.reading = nil }
            }
            state.reading = reading
            return reading
        }
        await reading.value
    }

    private func readOnce() async {
        do throws(RedisError) {
            var hasMore = true
            for _ in 0..<Self.maxParts where hasMore {
                let last = state.withLock { $0.reader.last }
                let news = try await commands.read(
                    after: last, most: 5000, server: configuration.server, newList: Self.token(),
                    gone: configuration.gone)
                clock.take(news.now)
                let unsent: [(PurgeMember, Int)]
                (hasMore, unsent) = state.withLock { state in
                    let hasMore = state.reader.take(news, after: last)
                    state.servers = max(news.servers, 1)
                    purges.replace(state.reader.table)
                    return (hasMore, state.reader.unsent.map { ($0.key, $0.value) })
                }
                if !hasMore { lastRead.store(elapsed, ordering: .relaxed) }
                for part in stride(from: 0, to: unsent.count, by: 1000) {
                    let members = unsent[part..<min(part + 1000, unsent.count)]
                    try await commands.restore(Array(members), newList: Self.token())
                    state.withLock { $0.reader.didSend(members) }
                }
            }
        } catch {
            // The next reading tries again.
        }
    }

    // MARK: - Limits

    /// Counts a request of a client against a limit for all servers together.
    ///
    /// - Parameters:
    ///   - interval: seconds between two requests.
    ///   - tolerance: seconds by which requests may come too early.
    /// - Returns: nil if the request is within the limit, else the seconds until the next one is.
    /// - Throws: if Redis does not answer.
    public func count(_ client: String, interval: Double, tolerance: Double) async throws(RedisError) -> Double? {
        try await commands.rate(client, interval: interval, tolerance: tolerance)
    }
}
