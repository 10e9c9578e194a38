import FleetCoordination
import ServerImages
import FleetTesting
import HTTPTypes
import NIOCore
import NIOPosix
import RedisClient
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// Several servers with one Redis and one origin.
@Suite(.enabled(if: RedisServer.isInstalled, "there is no redis-server")) struct FleetServerTests {
    private static let small = PixelSize(width: 64, height: 48)
    private static let large = PixelSize(width: 128, height: 96)

    private struct Rig {
        let redis: RedisServer
        let origin: OriginServer
        let servers: [TestServer]

        /// - Parameters:
        ///   - deadline: For each command to Redis. It is long, because test machines are busy.
        ///   - silenceLimit: See `FleetConfiguration`. Nil for the default.
        init(
            _ count: Int, deadline: TimeAmount = .seconds(5), silenceLimit: Int? = nil,
            _ variables: [String: String] = [:]
        ) async throws {
            redis = try await RedisServer()
            origin = try OriginServer()
            var servers: [TestServer] = []
            for number in 0..<count {
                let fleet = try Self.fleet(redis, "\(number)", deadline, silenceLimit)
                servers.append(try TestServer(variables, origin: origin, fleet: fleet))
            }
            self.servers = servers
        }

        static func fleet(
            _ redis: RedisServer, _ name: String, _ deadline: TimeAmount, _ silenceLimit: Int?
        ) throws -> Fleet {
            var configuration = try RedisConfiguration(url: redis.url)
            configuration.deadline = deadline
            configuration.backoff = (.milliseconds(1), .milliseconds(20))
            let client = try RedisClient(configuration, group: MultiThreadedEventLoopGroup.singleton)
            var member = FleetConfiguration(server: name)
            if let silenceLimit { (member.silenceLimit, member.readInterval) = (silenceLimit, silenceLimit / 10) }
            return Fleet(member, client) { 1_700_000_000_000 }
        }

        /// Runs the background work of all servers' fleets while the body runs.
        func run(_ body: () async throws -> Void) async throws {
            let tasks = servers.map { server in Task { await server.purging.followFleet() } }
            for server in servers {
                while server.purging.fleet?.isInTouch == false { await Task.yield() }
            }
            do {
                try await body()
            } catch {
                for task in tasks { task.cancel() }
                throw error
            }
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
        }

        /// Kills Redis, and returns once the servers no longer trust their knowledge of purges.
        func loseRedis() async throws {
            await redis.kill()
            for server in servers {
                while server.purging.fleet?.isInTouch == true { await Task.yield() }
            }
        }

        func serve(_ size: PixelSize, _ more: OriginResponse.Behaviour...) throws {
            origin.serve(
                "/a.png",
                OriginResponse(
                    headers: [("Cache-Control", "max-age=1000"), ("Cache-Tag", "cats")],
                    body: try TestServer.bytes(size, as: .png), behaviours: more))
        }
    }

    private func width(_ answer: Answer) async throws -> Int { try await answer.image().size.width }

    @Test func requestsOnAllServersShareOneFetchAndOneResult() async throws {
        let rig = try await Rig(4)
        let gate = Gate()
        try rig.serve(Self.small, .hold(gate, at: .beforeHead))
        try await rig.run {
            let answers = await withTaskGroup(of: Answer.self) { group in
                for number in 0..<64 { group.addTask { await rig.servers[number % 4].picture("w:10") } }
                _ = await rig.origin.waitForHits("/a.png")
                gate.open()
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 64)
            #expect(answers.allSatisfy { $0.status == 200 && $0.bytes == answers[0].bytes })
            #expect(rig.origin.hits("/a.png") == 1)
            let made = rig.servers.compactMap { $0.purging.fleet?.statistics }
            #expect(made.reduce(0) { $0 + $1.led + $1.tookOver + $1.alone } == 1)
        }
    }

    @Test func aServerTakesAResultThatAnotherMadeBefore() async throws {
        let rig = try await Rig(2)
        try rig.serve(Self.small)
        try await rig.run {
            let first = await rig.servers[0].picture("w:10")
            var second = await rig.servers[1].picture("w:10")
            // The result may reach Redis later than the client gets the answer.
            if second.fields[.cacheStatus] == "webimage; fwd=miss" { second = await rig.servers[1].picture("w:10") }
            #expect(second.bytes == first.bytes)
            #expect(second.fields[.eTag] == first.fields[.eTag])
            #expect(second.fields[.contentDisposition] == first.fields[.contentDisposition])
            #expect(second.fields[.cacheStatus]?.hasPrefix("webimage; hit; detail=") == true)
            // Each server asked Redis once. The one that asked last knows of both.
            #expect(rig.servers.contains { $0.endpoint.metricsText.contains("webimage_fleet_servers 2\n") })
        }
    }

    @Test func longAndPrivateResultsAreNotShared() async throws {
        let rig = try await Rig(2, ["WEBIMAGE_REDIS_RESULT_MAX": "100"])
        try rig.serve(Self.small)
        rig.origin.serve(
            "/private.png",
            OriginResponse(
                headers: [("Cache-Control", "private")], body: try TestServer.bytes(Self.small, as: .png)))
        try await rig.run {
            for name in ["/a.png", "/private.png"] {
                for server in rig.servers {
                    let answer = await server.picture("w:20", name)
                    #expect(answer.fields[.cacheStatus] == "webimage; fwd=miss")
                }
            }
            #expect(rig.origin.hits("/private.png") == 2)
        }
    }

    @Test func aSourceThatIsGoneIsAskedForOnce() async throws {
        let rig = try await Rig(2)
        rig.origin.serve("/a.png", OriginResponse(status: 404))
        try await rig.run {
            #expect(await rig.servers[0].picture("w:10").status == 404)
            // Once Redis has stored the failure, the origin is no longer asked, whatever options the request has.
            var number = 10
            var hits = -1
            while hits != rig.origin.hits("/a.png") {
                hits = rig.origin.hits("/a.png")
                number += 1
                #expect(await rig.servers[1].picture("w:\(number)").status == 404)
            }
            #expect(hits <= 2)
        }
    }

    /// A source fails on one server, is put right, and is purged on another server: the first one asks for it again.
    @Test func aPurgeOnOneServerEndsFailuresOnAll() async throws {
        let rig = try await Rig(2)
        rig.origin.serve("/a.png", OriginResponse(status: 404))
        try await rig.run {
            #expect(await rig.servers[1].picture("w:10").status == 404)
            try rig.serve(Self.small)
            #expect(await rig.servers[1].picture("w:10").status == 404)
            #expect(await rig.servers[0].admin("/purge", #"{"all": true}"#).status == 200)
            while rig.servers[1].purging.fleet?.purges.latest != rig.servers[0].purging.fleet?.purges.latest {
                await Task.yield()
            }
            #expect(await rig.servers[1].picture("w:10").status == 200)
        }
    }

    @Test(arguments: [#"{"all": true}"#, #"{"tags": ["cats"]}"#, #"{"prefixes": ["http://127.0.0.1"]}"#])
    func aPurgeOnOneServerHoldsOnAll(order: String) async throws {
        let rig = try await Rig(3)
        try rig.serve(Self.small)
        try await rig.run {
            for server in rig.servers { #expect(try await width(server.picture("")) == 64) }
            try rig.serve(Self.large)
            let purged = await rig.servers[2].admin("/purge", order)
            #expect(purged.text.hasPrefix(#"{"purged":1,"servers":"#))
            #expect(try await width(rig.servers[2].picture("")) == 128)
            for server in rig.servers {
                // Waits until the purge has reached this server.
                while try await width(server.picture("")) != 128 { await Task.yield() }
                #expect(try await width(server.picture("w:0/q:60")) == 128)
            }
        }
    }

    @Test func withoutRedisAllGoesOnAndPurgesAreRefusedUnlessLocal() async throws {
        let rig = try await Rig(2, deadline: .milliseconds(100))
        try rig.serve(Self.small)
        try await rig.run {
            #expect(try await width(rig.servers[0].picture("")) == 64)
            await rig.redis.kill()
            #expect(try await width(rig.servers[1].picture("")) == 64)
            #expect(await rig.servers[0].picture("").fields[.cacheStatus] == "webimage; hit; detail=memory")
            #expect(await rig.servers[0].admin("/ready", method: .get).status == 200)
            try rig.serve(Self.large)
            #expect(await rig.servers[0].admin("/purge", #"{"all": true}"#).status == 503)
            #expect(try await width(rig.servers[0].picture("")) == 64)
            #expect(await rig.servers[0].admin("/purge", #"{"all": true, "local": true}"#).status == 200)
            #expect(try await width(rig.servers[0].picture("")) == 128)
            #expect(try await width(rig.servers[1].picture("")) == 64)
            // When Redis is back, empty, the other server learns of the purge.
            try await rig.redis.start()
            while try await width(rig.servers[1].picture("")) != 128 { await Task.yield() }
        }
    }

    /// A server that is told to purge while Redis is down ends before Redis is back.
    @Test func aPurgeWithoutRedisOutlivesTheServer() async throws {
        let folder = try ScratchDirectory()
        let variables = ["WEBIMAGE_CACHE_DIR": folder.path]
        let rig = try await Rig(1, deadline: .milliseconds(100), variables)
        func next() async throws -> TestServer {
            let fleet = try Rig.fleet(rig.redis, "next", .milliseconds(100), nil)
            let server = try TestServer(variables, origin: rig.origin, fleet: fleet)
            await server.purging.restore()
            return server
        }
        try rig.serve(Self.small)
        try await rig.run {
            let old = try await width(rig.servers[0].picture(""))
            #expect(old == 64)
            await rig.servers[0].endpoint.service.cache.flush()
            await rig.redis.kill()
            #expect(await rig.servers[0].admin("/purge", #"{"all": true, "local": true}"#).status == 200)
        }
        try rig.serve(Self.large)
        let second = try await next()
        #expect(second.purging.fleet?.unsent.isEmpty == false)
        #expect(try await width(second.picture("")) == 128)
        // When Redis is back and has the purge, the file is no longer needed.
        try await rig.redis.start()
        let task = Task { await second.purging.followFleet() }
        while try await next().purging.fleet?.unsent.isEmpty == false { await Task.yield() }
        task.cancel()
        await task.value
    }

    /// Redis may carry out a command later that it did not confirm in time.
    @Test func aPurgeThatRedisDoesNotConfirmIsNotSaidToHaveFailed() async throws {
        let rig = try await Rig(1, deadline: .milliseconds(100))
        try await rig.run {
            rig.redis.pause()
            let unknown = await rig.servers[0].admin("/purge", #"{"all": true}"#)
            #expect(unknown.status == 503 && unknown.text.contains("not known"))
            await rig.redis.kill()
            var text = ""
            while !text.contains("nothing was purged") {
                text = await rig.servers[0].admin("/purge", #"{"all": true}"#).text
            }
        }
    }

    @Test func aLimitHoldsForAllServersTogether() async throws {
        let rig = try await Rig(2, ["WEBIMAGE_RATE_LIMIT": "1/m;burst=4"])
        try rig.serve(Self.small)
        try await rig.run {
            var statuses: [Int] = []
            for number in 0..<6 {
                let path = "/_/w:\(number + 5)/plain/\(rig.origin.url("/a.png"))"
                statuses.append(await rig.servers[number % 2].get(path, from: "192.0.2.1").status)
            }
            #expect(statuses == [200, 200, 200, 200, 429, 429])
        }
    }

    /// While purges may be missed, pictures and info behave alike: each asks the origin once, and the cached answer is
    /// served if the origin is down.
    @Test(arguments: [false, true]) func withoutRedisCachedAnswersAreServedIfTheOriginIsDown(isDown: Bool) async throws
    {
        let rig = try await Rig(1, silenceLimit: 500)
        let (server, body) = (rig.servers[0], try TestServer.bytes(Self.small, as: .png))
        rig.origin.serve("/a.png", OriginResponse(headers: [("Cache-Control", "max-age=1000")], body: body))
        try await rig.run {
            let info = "/info/_/plain/\(rig.origin.url("/a.png"))"
            let first = (picture: await server.picture("w:10"), info: await server.get(info))
            let hits = rig.origin.hits("/a.png")
            rig.origin.serve(
                "/a.png",
                isDown
                    ? OriginResponse(status: 503)
                    : OriginResponse(headers: [("Cache-Control", "no-store")], body: body))
            try await rig.loseRedis()
            server.advance(61)
            let answers = (picture: await server.picture("w:10"), info: await server.get(info))
            #expect(answers.picture.bytes == first.picture.bytes && answers.info.text == first.info.text)
            #expect(rig.origin.hits("/a.png") == hits + 2)
            for answer in [answers.picture, answers.info] {
                let status = isDown ? "webimage; hit; detail=stale" : "webimage; fwd=miss"
                #expect(answer.status == 200 && answer.fields[.cacheStatus] == status)
            }
        }
    }

    @Test func whereRedisIsSilentCachedSourcesAreConfirmed() async throws {
        let folder = try ScratchDirectory()
        let rig = try await Rig(1, silenceLimit: 500, ["WEBIMAGE_CACHE_DIR": folder.path])
        let body = try TestServer.bytes(Self.small, as: .png)
        rig.origin.serve(
            "/a.png", OriginResponse(headers: [("Cache-Control", "max-age=1000"), ("ETag", "\"1\"")], body: body))
        try await rig.run {
            _ = await rig.servers[0].picture("w:10")
            try await rig.loseRedis()
            #expect(await rig.servers[0].picture("w:20").status == 200)
            #expect(rig.origin.requests("/a.png").last?.header("If-None-Match") == "\"1\"")
            #expect(rig.origin.hits("/a.png") == 2)
        }
    }

    /// A server that is started again uses its cached originals as before. If Redis was emptied meanwhile, nobody knows
    /// the purges of before, so the origin is asked.
    @Test(arguments: [false, true]) func afterARestartOriginsAreAskedOnlyWhereRedisHasLostItsData(isLost: Bool)
        async throws
    {
        let folder = try ScratchDirectory()
        let variables = ["WEBIMAGE_CACHE_DIR": folder.path]
        let rig = try await Rig(1, variables)
        let body = try TestServer.bytes(Self.small, as: .png)
        rig.origin.serve("/a.png") { request in
            let headers = [("Cache-Control", "max-age=1000"), ("ETag", "\"1\"")]
            let isKnown = request.header("If-None-Match") == "\"1\""
            return OriginResponse(status: isKnown ? 304 : 200, headers: headers, body: isKnown ? [] : body)
        }
        try await rig.run {
            let status = try await rig.servers[0].picture("w:10").image().size.width
            #expect(status == 10)
        }
        await rig.servers[0].endpoint.service.cache.flush()
        await rig.servers[0].manager.drain(within: .seconds(5))
        if isLost {
            await rig.redis.kill()
            try await rig.redis.start()
        }
        // The second restart finds the same list as the first. If it is a new one, sources may still be unconfirmed.
        for number in 1...2 {
            let fleet = try Rig.fleet(rig.redis, "\(number)", .seconds(5), nil)
            let server = try TestServer(variables, origin: rig.origin, fleet: fleet)
            await server.purging.restore()
            let task = Task { await server.purging.followFleet() }
            while !fleet.isInTouch { await Task.yield() }
            #expect(await server.picture("w:\(20 + number)").status == 200)
            task.cancel()
            await task.value
            await server.manager.drain(within: .seconds(5))
            #expect(rig.origin.hits("/a.png") == (isLost ? 1 + number : 1))
        }
        #expect(rig.origin.requests("/a.png").dropFirst().allSatisfy { $0.header("If-None-Match") == "\"1\"" })
    }

    /// When purges may have been lost, a server serves its cached results only after the origin has confirmed that the
    /// source is unchanged.
    @Test func afterRedisLosesItsDataOriginsAreAskedAgain() async throws {
        let folder = try ScratchDirectory()
        let rig = try await Rig(1, ["WEBIMAGE_CACHE_DIR": folder.path])
        let body = try TestServer.bytes(Self.small, as: .png)
        rig.origin.serve("/a.png") { request in
            let headers = [("Cache-Control", "max-age=1000"), ("ETag", "\"1\"")]
            let isKnown = request.header("If-None-Match") == "\"1\""
            return OriginResponse(status: isKnown ? 304 : 200, headers: headers, body: isKnown ? [] : body)
        }
        try await rig.run {
            _ = await rig.servers[0].picture("w:10")
            #expect(await rig.servers[0].picture("w:10").fields[.cacheStatus] == "webimage; hit; detail=memory")
            #expect(rig.origin.hits("/a.png") == 1)
            await rig.redis.kill()
            try await rig.redis.start()
            while rig.origin.hits("/a.png") == 1 {
                #expect(await rig.servers[0].picture("w:10").status == 200)
                await Task.yield()
            }
            // The origin is asked once, or a few times around the moment when the new list is noticed.
            var hits = 0
            while hits != rig.origin.hits("/a.png") {
                hits = rig.origin.hits("/a.png")
                _ = await rig.servers[0].picture("w:10")
            }
            #expect(await rig.servers[0].picture("w:10").fields[.cacheStatus] == "webimage; hit; detail=memory")
            #expect(rig.origin.requests("/a.png").dropFirst().allSatisfy { $0.header("If-None-Match") == "\"1\"" })
        }
    }
}
