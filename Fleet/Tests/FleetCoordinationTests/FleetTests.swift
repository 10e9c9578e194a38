import FleetTesting
import NIOCore
import NIOPosix
import RESP
import RedisClient
import Synchronization
import Testing

@testable import FleetCoordination

/// Servers of a fleet in this process, each with its own connections to one Redis.
@Suite(.enabled(if: RedisServer.isInstalled, "there is no redis-server")) struct FleetTests {
    private static let job = Fleet.Job(result: "result", source: "https://example.org/a.jpg", sourceDigest: "source")

    private func fleet(
        _ server: RedisServer, deadline: TimeAmount = .seconds(5), change: (inout FleetConfiguration) -> Void = { _ in }
    ) throws -> Fleet {
        var redis = try RedisConfiguration(url: server.url)
        redis.deadline = deadline
        redis.backoff = (.milliseconds(1), .milliseconds(20))
        var configuration = FleetConfiguration(server: "\(UInt32.random(in: 0 ... .max))")
        change(&configuration)
        let client = try RedisClient(redis, group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
        return Fleet(configuration, client, wall: { 1_700_000_000_000 })
    }

    /// The text of the job: made by another server, or else by `work`.
    private func once(
        _ fleet: Fleet, _ job: Fleet.Job = Self.job, _ work: @escaping @Sendable (Int) async -> (String, Fleet.Shared?)
    ) async -> String {
        await fleet.once(job, patience: .seconds(60)) {
            String(decoding: $0.content, as: UTF8.self)
        } work: { begun in
            let (value, shared) = await work(begun)
            return (value, shared)
        } ?? "too late"
    }

    private func shared(_ text: String, tags: [UInt64] = []) -> (String, Fleet.Shared?) {
        (text, Fleet.Shared(.result, Array(text.utf8), life: 60_000, tags: tags))
    }

    @Test func requestsOnAllServersShareOneResult() async throws {
        let server = try await RedisServer()
        let fleets = try (0..<8).map { _ in try fleet(server) }
        let (works, proceed) = (EventLog<Int>(), EventLog<Bool>())
        await withTaskGroup(of: String.self) { group in
            for number in 0..<64 {
                group.addTask { [self] in
                    await once(fleets[number % 8]) { _ in
                        works.append(number)
                        await proceed.wait { !$0.isEmpty }
                        return shared("made by \(number)")
                    }
                }
            }
            await works.wait { !$0.isEmpty }
            proceed.append(true)
            for await text in group { #expect(text == "made by \(works.events[0])") }
        }
        #expect(works.events.count == 1)
        #expect(fleets.reduce(0) { $0 + $1.statistics.followed } == 63)
        #expect(fleets.reduce(0) { $0 + $1.statistics.led + $1.statistics.tookOver } == 1)
    }

    @Test func eachServerMakesUnsharedResultsAndFailuresAreShared() async throws {
        let server = try await RedisServer()
        let (one, other) = (try fleet(server), try fleet(server))
        #expect(await once(one) { _ in ("own", Fleet.Shared(.unshared, life: 60_000)) } == "own")
        while try await other.commands.begin(
            "result", source: "source", token: "probe", lease: 1, notBefore: 0, newList: "list"
        ).answer.isLead {}
        #expect(await once(other) { _ in ("own too", nil) } == "own too")
        #expect(other.statistics.alone == 1)
        let job = Fleet.Job(result: "b", source: "s", sourceDigest: "bad")
        let failure = Fleet.Shared(.failure, Array("gone".utf8), life: 60_000, ofSource: true)
        #expect(await once(one, job) { _ in ("x", failure) } == "x")
        // Another result of the same source fails, too, once Redis has stored the failure.
        let second = Fleet.Job(result: "c", source: "s", sourceDigest: "bad")
        while await once(other, second, { _ in ("not yet", nil) }) != "gone" {}
    }

    /// The leader dies without giving up its lease. Another server does the work once the lease has ended.
    @Test func whenTheLeaderIsSilentAnotherTakesOver() async throws {
        let server = try await RedisServer()
        let dead = try fleet(server)
        let lead = try await dead.commands.begin(
            "result", source: "source", token: "dead", lease: 150, notBefore: 0, newList: "list")
        #expect(lead.answer.isLead)
        let living = try fleet(server)
        #expect(await once(living) { _ in shared("living") } == "living")
        #expect(living.statistics.tookOver == 1)
    }

    /// A leader whose work takes longer than the lease renews the lease.
    @Test func leasesAreRenewed() async throws {
        let server = try await RedisServer()
        let slow = try fleet(server) { $0.lease = 90 }
        let other = try fleet(server)
        let (begun, proceed) = (EventLog<Bool>(), EventLog<Bool>())
        async let slowly = once(slow) { _ in
            begun.append(true)
            await proceed.wait { !$0.isEmpty }
            return shared("slow")
        }
        await begun.wait { !$0.isEmpty }
        async let waiting = once(other) { _ in shared("other") }
        // The remaining time that Redis reports goes up at each renewal: the loop waits for five of them.
        var renewals = 0
        var left = 90
        while renewals < 5 {
            let answer = try await other.commands.begin(
                "result", source: "source", token: "probe", lease: 1, notBefore: 0, newList: "list"
            ).answer
            guard case .taken(let now) = answer else {
                Issue.record("the lease has ended")
                break
            }
            if now > left { renewals += 1 }
            left = now
        }
        proceed.append(true)
        #expect(await slowly == "slow")
        #expect(await waiting == "slow")
    }

    @Test func waitingForAnotherServerEndsWithThePatience() async throws {
        let server = try await RedisServer()
        let fleet = try fleet(server)
        let lead = try await fleet.commands.begin(
            "result", source: "s", token: "a", lease: 60_000, notBefore: 0, newList: "list")
        #expect(lead.answer.isLead)
        let value: String? = await fleet.once(Self.job, patience: .milliseconds(50)) { _ in
            "taken"
        } work: { _ in
            ("made", nil)
        }
        #expect(value == nil)
    }

    /// A wait of a second once ran to its end although the patience was over sooner.
    @Test func noWaitIsLongerThanTheRestOfThePatience() {
        let now = ContinuousClock.now
        #expect(Fleet.wait(1000, until: now + .seconds(5), now: now) == 1000)
        #expect(Fleet.wait(1000, until: now + .microseconds(200_300), now: now) == 201)
        #expect(Fleet.wait(1000, until: now - .seconds(5), now: now) == 1)
    }

    @Test func aLeaderThatGivesUpLetsAnotherWorkAtOnce() async throws {
        let server = try await RedisServer()
        let (one, other) = (try fleet(server), try fleet(server))
        let (begun, cancelled) = (EventLog<Bool>(), EventLog<Bool>())
        let first = Task {
            await once(one) { _ in
                begun.append(true)
                await withTaskCancellationHandler {
                    await cancelled.wait { !$0.isEmpty }
                } onCancel: {
                    cancelled.append(true)
                }
                return shared("cancelled")
            }
        }
        await begun.wait { !$0.isEmpty }
        async let second = once(other) { _ in shared("second") }
        first.cancel()
        #expect(await second == "second")
        _ = await first.value
    }

    @Test func withoutRedisEveryServerWorksForItself() async throws {
        let server = try await RedisServer()
        let fleet = try fleet(server, deadline: .milliseconds(50))
        await server.kill()
        for number in 0..<20 { #expect(await once(fleet) { _ in ("\(number)", nil) } == "\(number)") }
        #expect(fleet.statistics.alone == 20)
        #expect(!fleet.isAvailable)
        await #expect(throws: RedisError.self) { try await fleet.purge([.all]) }
    }

    /// A server that waits for the work of another stops waiting when Redis no longer answers.
    @Test func aPausedRedisHoldsUpNobody() async throws {
        let server = try await RedisServer()
        let (one, other) = (try fleet(server), try fleet(server, deadline: .milliseconds(200)))
        let (begun, proceed) = (EventLog<Bool>(), EventLog<Bool>())
        async let first = once(one) { _ in
            begun.append(true)
            await proceed.wait { !$0.isEmpty }
            return shared("first")
        }
        await begun.wait { !$0.isEmpty }
        async let second = once(other) { _ in shared("second") }
        while other.redis.commands < 2 { await Task.yield() }
        server.pause()
        #expect(await second == "second")
        server.resume()
        proceed.append(true)
        #expect(await first == "first")
    }

    // MARK: - Purges

    /// Lets these servers read purges while the body runs.
    private func reading(_ fleets: [Fleet], _ body: () async throws -> Void) async throws {
        let tasks = fleets.map { fleet in Task { await fleet.run() } }
        try await body()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func isPurged(_ fleet: Fleet, _ source: String, _ begun: Int, tags: [UInt64] = []) async {
        while fleet.purges.verdict(source: source, tags: tags, begun: begun) != .purged { await Task.yield() }
    }

    @Test func aPurgeReachesAllServers() async throws {
        let server = try await RedisServer()
        // The servers poll the list of purges once an hour only, so they learn of these purges from the channel.
        let fleets = try (0..<3).map { _ in try fleet(server) { $0.readInterval = 3_600_000 } }
        try await reading(fleets) {
            for fleet in fleets {
                while !fleet.isInTouch { await Task.yield() }
            }
            var begun: [Int] = []
            for (number, purge) in [Purge.url("https://a/b"), .prefix("https://a/"), .tag("t"), .all].enumerated() {
                begun.append(fleets[0].stamp)
                try await fleets[number % 3].purge([purge])
                for fleet in fleets { await isPurged(fleet, "https://a/b", begun[number], tags: [StableHash.of("t")]) }
                #expect(fleets.allSatisfy { $0.purges.verdict(source: "https://a/b", begun: $0.stamp) == .current })
            }
        }
    }

    /// A Redis that was paused carries out the commands that it received, although their deadlines have passed.
    @Test func aPurgeWithoutAnAnswerMayHaveHappened() async throws {
        let server = try await RedisServer()
        let (one, other) = (try fleet(server, deadline: .milliseconds(200)), try fleet(server) { $0.readInterval = 20 })
        try await reading([other]) {
            while !other.isInTouch { await Task.yield() }
            // From here on Redis has the script in its cache, so that a purge is a single command.
            while (try? await one.purge([.tag("t")])) == nil {}
            let begun = other.stamp
            server.pause()
            let error = await #expect(throws: RedisError.self) { try await one.purge([.url("https://a/b")]) }
            #expect(error == .timedOut && error?.isUnsent == false)
            server.resume()
            await isPurged(other, "https://a/b", begun)
        }
        await server.kill()
        while one.isAvailable { _ = try? await one.purge([.all]) }
        let error = await #expect(throws: RedisError.self) { try await one.purge([.all]) }
        #expect(error?.isUnsent == true)
    }

    /// Somebody has written a time into Redis that no server would write.
    @Test(arguments: ["1e19", "9.2e18", "inf"]) func impossibleTimesInRedisAreRefused(_ time: String) async throws {
        let server = try await RedisServer()
        let one = try fleet(server)
        try await one.purge([.tag("t")])
        _ = try await one.commands.client.send([
            "ZADD", RESPArgument(one.commands.keys.purges), RESPArgument(time), "all",
        ])
        await #expect(throws: RedisError.self) { try await one.purge([.url("https://a/b")]) }
        #expect(await once(one) { _ in ("made", nil) } == "made")
        #expect(one.statistics.alone == 1)
    }

    /// A lost message delays a purge, but does not lose it.
    @Test func withoutMessagesTheListIsReadNowAndThen() async throws {
        let server = try await RedisServer()
        let (one, other) = (try fleet(server), try fleet(server) { $0.readInterval = 20 })
        try await reading([other]) {
            while !other.isInTouch { await Task.yield() }
            let begun = one.stamp + 10_000
            // Adds a purge to the list without publishing a message.
            _ = try await one.commands.client.send([
                "ZADD", RESPArgument(one.commands.keys.purges), RESPArgument(begun), "all",
            ])
            await isPurged(other, "any", begun)
        }
    }

    /// A result that was shared before a purge is not used after it. A result of work that began after the purge is.
    @Test func purgedResultsAreNotTaken() async throws {
        let server = try await RedisServer()
        let (one, other) = (try fleet(server), try fleet(server))
        #expect(await once(one) { _ in shared("old") } == "old")
        while await once(other, Self.job, { _ in ("not yet", nil) }) != "old" {}
        // The other server does not poll the list of purges in this test.
        try await one.purge([.prefix("https://example.org/")])
        #expect(await once(other) { _ in shared("new") } == "new")
        while await once(one, Self.job, { _ in ("not yet", nil) }) != "new" {}
        // A result that is purged while it is being made is not shared.
        let job = Fleet.Job(result: "b", source: Self.job.source, sourceDigest: "source")
        #expect(
            await once(one, job) { _ in
                try? await one.purge([.url(Self.job.source)])
                return shared("late")
            } == "late")
        #expect(await once(other, job) { _ in shared("again") } == "again")
    }

    /// Redis comes back empty. Earlier purges still hold, also for a server that starts only then.
    @Test func afterRedisLosesItsDataPurgesAreSentAgain() async throws {
        let server = try await RedisServer()
        let (one, other) = (try fleet(server) { $0.readInterval = 20 }, try fleet(server) { $0.readInterval = 20 })
        let begun = Mutex(0)
        try await reading([one]) {
            while !one.isInTouch { await Task.yield() }
            begun.withLock { $0 = one.stamp }
            try await one.purge([.tag("t")])
            await server.kill()
            one.purgeHere([.url("https://a/b")])
            try await server.start()
            let tags = [StableHash.of("t")]
            try await reading([other]) {
                await isPurged(other, "https://c", begun.withLock { $0 }, tags: tags)
                await isPurged(other, "https://a/b", begun.withLock { $0 })
            }
            // The other server started after the loss. It knows the new list only, which holds all purges.
            #expect(one.purges.verdict(source: "https://d", begun: begun.withLock { $0 }) == .unsure)
            while one.servers != 2 { await Task.yield() }
        }
    }

    @Test func aServerThatHearsNothingForLongIsOutOfTouch() async throws {
        let server = try await RedisServer()
        let fleet = try fleet(server, deadline: .milliseconds(100)) {
            $0.readInterval = 10
            $0.silenceLimit = 60
        }
        #expect(!fleet.isInTouch)
        try await reading([fleet]) {
            while !fleet.isInTouch { await Task.yield() }
            await server.kill()
            while fleet.isInTouch { await Task.yield() }
            try await server.start()
            while !fleet.isInTouch { await Task.yield() }
        }
    }
}
