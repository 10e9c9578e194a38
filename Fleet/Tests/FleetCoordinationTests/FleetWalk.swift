import FleetTesting

@testable import FleetCoordination

/// A simulated fleet. A seed chooses the order of events: servers ask, work, are slow, fall silent or die; answers and
/// messages are late or lost; sources are purged; Redis loses everything. The simulation uses the same state machines
/// as ``Fleet`` and connects them as ``Fleet`` does.
struct FleetWalk {
    /// How often things go wrong: percentages, or numbers of events in a walk.
    struct Trouble: Sendable {
        /// The percentage of commands that are lost, or whose answers are.
        var lostCommands = 0
        /// The percentage of published messages that are lost.
        var lostMessages = 0
        var slowCommands = 0
        var deaths = 0
        var wipes = 0
        var purges = 0
        /// The percentage of leaders that stop renewing their lease and continue to work.
        var silentWorkers = 0
        /// How often the clock of Redis is set back, by up to ten seconds.
        var setBacks = 0
    }

    /// Mistakes that a fleet could make. Walks with one of them must report a problem.
    enum Flaw: CaseIterable, Sendable {
        /// A result is stamped with the time when its work ended instead of the time when it began.
        case stampsTheEnd
        /// A shared result is used before the list of purges is read.
        case takesUnread
        /// A server that waits for another relies on messages and never asks again by itself.
        case trustsMessages
        /// Work begins before the list of purges is read.
        case leadsUnread
        /// Work without Redis is stamped with the current time instead of the reader's stamp.
        case stampsNow
        /// Work without Redis is stamped with a time after this server's own purges, although other servers may have
        /// made earlier ones since the last reading.
        case stampsOwnPurges
        /// A lease is counted from the arrival of the answer instead of the sending of the command.
        case countsLate
        /// A purge gets the current time of Redis, which may have been set back since work began.
        case trustsTheClock
    }

    private struct Request {
        var server: Int
        var part: FlightPart
        var token: String
        /// When the request came, the version of the source for which the last purge had been made. An older one must
        /// not be returned.
        var wanted: Int
        /// Counts the steps, so that events of an earlier step are recognised as late.
        var step = 0
        var listens = false
        var ended: Int?
        /// The time until which this request believes that it holds the lock.
        var leads = 0
        var isWorking = false
        var isSilent = false
        /// Whether the request works without Redis. It then does not know of the latest purges.
        var isAlone = false
        var worked = 0
    }

    private struct Server {
        var reader: PurgeReader
        var isAlive = true
        /// The cached versions of the source, by the time of the last purge that was known when each was cached.
        var originals: [Int: Int] = [:]
        /// The floor of the purge table when `originals` was last cleared.
        var floor = 0
    }

    private enum Event {
        case ask(Int, step: Int, notBefore: Int)
        case answer(Int, step: Int, FleetCommands.Begin)
        case timeOut(Int, step: Int)
        case wake(Int, step: Int)
        case message(Int)
        case worked(Int, begun: Int, version: Int)
        case renew(Int)
        case renewed(Int, until: Int)
        case finish(Int, begun: Int, version: Int)
        case purge
        case die(Int)
        case wipe
        case setBack
    }

    static let (lease, deadline, life) = (500, 50, 5000)
    private static let start = 1_000_000

    private var numbers: SeededNumbers
    private let trouble: Trouble
    private let flaw: Flaw?
    private var redis: ModelRedis
    private var time = Self.start
    /// By how much the clock of Redis was set back.
    private var lag = 0
    private var servers: [Server]
    private var requests: [Request] = []
    private var events: [(time: Int, order: Int, Event)] = []
    private var order = 0
    private var version = 1
    /// The version of the source for which the last purge was made.
    private var purgedVersion = 0
    /// The violated rules.
    private(set) var problems: [String] = []
    private(set) var works = 0
    private(set) var shared = 0

    init(seed: UInt64, servers count: Int, requests requestCount: Int, _ trouble: Trouble, _ flaw: Flaw? = nil) {
        numbers = SeededNumbers(seed: seed)
        self.trouble = trouble
        self.flaw = flaw
        redis = ModelRedis(now: Self.start)
        redis.keepsHighest = flaw != .trustsTheClock
        servers = (0..<count).map { _ in Server(reader: PurgeReader(start: 999_000)) }
        for index in servers.indices { read(index) }
        for number in 0..<requestCount {
            let server = random(count)
            requests.append(
                Request(server: server, part: FlightPart(notBefore: 0), token: "\(number)", wanted: 0))
            schedule(.wake(number, step: -1), in: random(2) == 0 ? random(30) : random(1500))
        }
        for _ in 0..<trouble.purges { schedule(.purge, in: random(2500)) }
        for _ in 0..<trouble.deaths { schedule(.die(random(count)), in: random(2500)) }
        for _ in 0..<trouble.wipes { schedule(.wipe, in: random(2500)) }
        for _ in 0..<trouble.setBacks { schedule(.setBack, in: random(2500)) }
    }

    private mutating func random(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &numbers) }
    private mutating func happens(_ percent: Int) -> Bool { percent > 0 && random(100) < percent }

    private mutating func schedule(_ event: Event, in time: Int) {
        order += 1
        events.append((self.time + time, order, event))
    }

    private mutating func latency() -> Int {
        happens(trouble.slowCommands) ? Self.deadline + random(400) : 1 + random(8)
    }

    /// Handles events until there are none, for at most an hour of simulated time.
    mutating func run() {
        while let next = events.indices.min(by: {
            (events[$0].time, events[$0].order) < (events[$1].time, events[$1].order)
        }) {
            let (due, _, event) = events.remove(at: next)
            time = max(time, due)
            redis.now = time - lag
            guard time < Self.start + 3_600_000 else {
                problems.append("it does not end")
                return
            }
            take(event)
        }
        for (number, request) in requests.enumerated() where servers[request.server].isAlive && request.ended == nil {
            problems.append("request \(number) has no answer")
        }
    }

    private mutating func take(_ event: Event) {
        switch event {
        case .wake(let number, step: -1):
            // The request arrives at its server.
            requests[number].wanted = purgedVersion
            let last = servers[requests[number].server].reader.table.lastPurge(source: "source")
            requests[number].part = FlightPart(notBefore: last)
            perform(requests[number].part.first, number)
        case .wake(let number, let step):
            guard isCurrent(number, step) else { return }
            perform(requests[number].part.woken(), number)
        case .message(let number):
            guard requests[number].listens, isWaiting(number), !happens(trouble.lostMessages) else { return }
            perform(requests[number].part.woken(), number)
        case .timeOut(let number, let step):
            guard isCurrent(number, step) else { return }
            perform(requests[number].part.unavailable(), number)
        case .ask(let number, let step, let notBefore):
            let begin = redis.begin(
                "result", source: "source", token: requests[number].token, lease: Self.lease, notBefore: notBefore,
                newList: "\(redis.now)")
            if case .known(let outcome) = begin.answer, outcome.begun <= notBefore { problems.append("an old answer") }
            if !happens(trouble.lostCommands) {
                schedule(.answer(number, step: step, begin), in: latency())
            }
        case .answer(let number, let step, let begin): answer(number, step, begin)
        case .worked(let number, let begun, let version): worked(number, begun, version)
        case .renew(let number):
            guard isAlive(number), requests[number].isWorking, !requests[number].isSilent else { return }
            schedule(.renew(number), in: Self.lease / 3)
            let sent = time
            guard !happens(trouble.lostCommands) else { return }
            if redis.renew("result", token: requests[number].token, lease: Self.lease) {
                schedule(.renewed(number, until: sent + Self.lease), in: latency())
            }
        case .renewed(let number, let until):
            guard requests[number].isWorking else { return }
            requests[number].leads = until
        case .finish(let number, let begun, let version): finish(number, begun, version)
        case .purge: purge()
        case .die(let server): servers[server].isAlive = false
        case .wipe:
            redis.wipe()
            redis.run = "\(redis.now)"
        case .setBack: lag += random(10_000)
        }
    }

    /// Purges the source, or another one.
    private mutating func purge() {
        let isOfSource = !happens(40)
        if isOfSource { version += 1 }
        let living = servers.indices.filter { servers[$0].isAlive }
        guard !living.isEmpty else { return }
        let server = living[random(living.count)]
        let purge = [Purge.url("source"), .prefix("sou"), .all, .tag("tag")][random(4)]
        let member = PurgeMember(isOfSource ? purge : .url("other"))
        let last = redis.purge([member], newList: "\(redis.now)", life: 10_000_000, most: 100)
        servers[server].reader.add(member, at: last)
        if flaw != .stampsOwnPurges { read(server) }
        if isOfSource { purgedVersion = version }
    }

    private func isAlive(_ number: Int) -> Bool { servers[requests[number].server].isAlive }
    private func isWaiting(_ number: Int) -> Bool {
        isAlive(number) && requests[number].ended == nil && !requests[number].isWorking
    }
    private func isCurrent(_ number: Int, _ step: Int) -> Bool { isWaiting(number) && requests[number].step == step }

    private mutating func perform(_ step: FlightPart.Step, _ number: Int) {
        requests[number].step += 1
        let current = requests[number].step
        switch step {
        case .ask(let notBefore):
            requests[number].leads = time
            schedule(.timeOut(number, step: current), in: Self.deadline)
            if !happens(trouble.lostCommands) {
                schedule(.ask(number, step: current, notBefore: notBefore), in: latency())
            }
        case .listen:
            requests[number].listens = true
            schedule(.wake(number, step: current), in: latency())
        case .wait(let milliseconds):
            if flaw != .trustsMessages { schedule(.wake(number, step: current), in: milliseconds) }
        case .take(let outcome):
            let verdict = servers[requests[number].server].reader.table.verdict(source: "source", begun: outcome.begun)
            let tags = servers[requests[number].server].reader.table.verdict(
                source: "source", tags: [StableHash.of("tag")], begun: outcome.begun)
            guard verdict == .current, tags == .current else {
                return perform(requests[number].part.refused(begun: outcome.begun), number)
            }
            shared += 1
            end(number, Int(outcome.content.first ?? 0))
        case .work(let begun):
            let reader = servers[requests[number].server].reader
            let stamp =
                switch flaw {
                case .stampsNow: max(redis.now, reader.table.latest + 1)
                case .stampsOwnPurges: max(reader.stamp, reader.table.latest + 1)
                default: reader.stamp
                }
            let start = begun ?? stamp
            let server = requests[number].server
            // As in a real server, an original that was cached before a purge is not found after it.
            let purge = reader.table.lastPurge(source: "source", tags: [StableHash.of("tag")])
            if reader.table.floor > servers[server].floor {
                servers[server].originals = [:]
                servers[server].floor = reader.table.floor
            }
            let version = servers[server].originals[purge] ?? version
            servers[server].originals[purge] = version
            requests[number].isWorking = true
            requests[number].isAlone = begun == nil
            requests[number].worked += 1
            requests[number].isSilent = happens(trouble.silentWorkers)
            if begun != nil {
                requests[number].leads = (flaw == .countsLate ? time : requests[number].leads) + Self.lease
                let rivals = requests.indices.filter {
                    $0 != number && isAlive($0) && requests[$0].isWorking && requests[$0].leads > time
                }
                if trouble.wipes == 0, requests[number].leads > time, !rivals.isEmpty {
                    problems.append("two lead")
                }
                schedule(.renew(number), in: Self.lease / 3)
            } else {
                requests[number].leads = 0
            }
            works += 1
            schedule(.worked(number, begun: start, version: version), in: 20 + random(900))
        }
    }

    private mutating func answer(_ number: Int, _ step: Int, _ begin: FleetCommands.Begin) {
        guard isCurrent(number, step) else { return }
        let server = requests[number].server
        let isKnown = if case .known = begin.answer { true } else { false }
        if !servers[server].reader.hasRead(begin), flaw != (isKnown ? .takesUnread : .leadsUnread) {
            read(server)
        }
        perform(requests[number].part.answered(begin.answer), number)
    }

    private mutating func worked(_ number: Int, _ begun: Int, _ version: Int) {
        guard isAlive(number) else { return }
        requests[number].isWorking = false
        end(number, version)
        let stamp = flaw == .stampsTheEnd ? redis.now : begun
        schedule(.finish(number, begun: stamp, version: version), in: latency())
    }

    private mutating func finish(_ number: Int, _ begun: Int, _ version: Int) {
        // The command arrives although its server may have died since.
        let table = servers[requests[number].server].reader.table
        let isCurrent = table.verdict(source: "source", tags: [StableHash.of("tag")], begun: begun) == .current
        guard !happens(trouble.lostCommands) else { return }
        let outcome = FleetOutcome(.result, begun: begun, content: [UInt8(version)])
        _ = redis.finish(
            "result", source: "source", token: requests[number].token, isCurrent ? outcome : nil, ofSource: false,
            life: Self.life)
        for listener in requests.indices { schedule(.message(listener), in: latency()) }
    }

    private mutating func end(_ number: Int, _ version: Int) {
        requests[number].ended = version
        if version < requests[number].wanted, !requests[number].isAlone {
            problems.append("request \(number) got version \(version), and \(requests[number].wanted) was purged for")
        }
    }

    private mutating func read(_ server: Int) {
        var hasMore = true
        while hasMore {
            let last = servers[server].reader.last
            hasMore = servers[server].reader.take(
                redis.read(after: last, most: 3, server: "\(server)", newList: "\(redis.now)", gone: 10_000),
                after: last)
            let unsent = servers[server].reader.unsent.map { ($0.key, $0.value) }
            redis.restore(unsent, newList: "\(redis.now)")
            servers[server].reader.didSend(unsent)
        }
    }
}
