import Testing

@testable import FleetCoordination

/// A server's reading of the list of purges, while Redis loses parts of the list, all data, or its place to a replica.
struct PurgeReaderTests {
    private struct Server {
        var reader = PurgeReader(start: 1000)

        mutating func read(_ redis: inout ModelRedis, most: Int = 100) {
            var hasMore = true
            while hasMore {
                let last = reader.last
                hasMore = reader.take(
                    redis.read(after: last, most: most, server: "a", newList: "\(redis.now)", gone: 1000), after: last)
                let unsent = reader.unsent.map { ($0.key, $0.value) }
                redis.restore(unsent, newList: "\(redis.now)")
                reader.didSend(unsent)
            }
        }

        func verdict(_ url: String, _ begun: Int) -> PurgeTable.Verdict {
            reader.table.verdict(source: url, begun: begun)
        }
    }

    private func purge(_ url: String, _ redis: inout ModelRedis, most: Int = 1000) -> Int {
        redis.now += 10
        return redis.purge([PurgeMember(.url(url))], newList: "\(redis.now)", life: 1_000_000, most: most)
    }

    @Test func beforeTheListIsReadNothingOldIsCertain() {
        var (server, redis) = (Server(), ModelRedis(now: 2000))
        let time = purge("a", &redis)
        #expect(server.verdict("b", 1000) == .unsure)
        // The list was created with the first purge. What was purged before that is not known.
        redis.now += 10_000
        server.reader = PurgeReader(start: redis.now)
        #expect(server.verdict("b", time + 1) == .unsure)
        server.read(&redis)
        #expect(server.verdict("b", time - 1) == .unsure)
        #expect(server.verdict("b", time) == .current)
        #expect(server.verdict("a", time) == .purged)
        #expect(server.verdict("a", time + 1) == .current)
    }

    @Test func longListsAreReadInPieces() {
        var (server, redis) = (Server(), ModelRedis(now: 2000))
        for number in 0..<50 { _ = purge("\(number)", &redis) }
        server.read(&redis, most: 7)
        #expect(server.reader.table.count == 50)
    }

    @Test func purgesTrimmedDuringAnAbsenceMakeResultsUnsure() {
        var (server, redis) = (Server(), ModelRedis(now: 2000))
        server.read(&redis)
        var times: [Int] = []
        for number in 0..<10 { times.append(purge("\(number)", &redis, most: 4)) }
        server.read(&redis)
        #expect(server.reader.table.count == 4)
        #expect(server.verdict("0", times[0]) == .unsure)
        #expect(server.verdict("other", times[5]) == .unsure)
        #expect(server.verdict("other", times[5] + 1) == .current)
        #expect(server.verdict("9", times[9]) == .purged)
    }

    @Test func afterAWipeNothingOldIsCertainAndPurgesAreToldAgain() {
        var (one, other, redis) = (Server(), Server(), ModelRedis(now: 2000))
        let time = purge("a", &redis)
        one.read(&redis)
        other.read(&redis)
        // The other server does not read this purge before Redis loses it.
        let second = purge("b", &redis)
        one.read(&redis)
        redis.now += 10
        redis.wipe()
        redis.now += 10
        one.read(&redis)
        #expect(redis.purges.count == 2)
        #expect(one.verdict("c", redis.now) == .unsure)
        other.read(&redis)
        #expect(other.verdict("a", time) == .purged)
        #expect(other.verdict("b", second) == .purged)
        #expect(other.verdict("c", redis.now - 20) == .unsure)
        redis.now += 10
        #expect(other.verdict("c", redis.now) == .current)
    }

    /// Once, all known purges were made again, so that results from after them were lost as well.
    @Test func afterAWipeOldPurgesAreNotMadeAgain() {
        var (server, redis) = (Server(), ModelRedis(now: 2000))
        let time = purge("old", &redis)
        redis.now += PurgeReader.recent
        let recent = purge("recent", &redis)
        server.read(&redis)
        redis.wipe()
        redis.now += 10
        server.read(&redis)
        #expect(redis.purges.keys.sorted() == [PurgeMember(.url("recent")).text])
        #expect(server.verdict("old", time) == .purged)
        #expect(server.verdict("old", time + 1) == .unsure)
        #expect(server.verdict("recent", recent + 1) == .purged)
    }

    /// Redis is emptied while no server runs, so that nobody knows the purges that were made before.
    @Test func aServerThatStartsAfterAWipeIsUnsureOfOlderResults() {
        var (first, redis) = (Server(), ModelRedis(now: 2000))
        let time = purge("a", &redis)
        first.read(&redis)
        redis.now += 10
        redis.wipe()
        for _ in 0..<2 {
            redis.now += 10
            var second = Server()
            second.read(&redis)
            #expect(second.verdict("a", time) == .unsure)
            #expect(second.verdict("a", redis.now) == .current)
        }
    }

    /// Other servers may have purged since the last reading, before this server did.
    @Test func theStampIsNoLaterThanWhatWasRead() {
        var (server, redis) = (Server(), ModelRedis(now: 2000))
        server.read(&redis)
        let before = server.reader.stamp
        let unread = purge("a", &redis)
        let own = purge("b", &redis)
        server.reader.add(PurgeMember(.url("b")), at: own)
        #expect(server.reader.stamp == before && before <= unread)
        server.read(&redis)
        #expect(server.reader.stamp == own + 1)
        server.reader.addUnsent(PurgeMember(.url("c")), at: own + 100)
        #expect(server.reader.stamp == own + 101)
    }

    /// A replica takes over that has not received the last purge. A new purge is made before the old one is written
    /// again.
    @Test func afterAFailoverPurgesAreToldAgain() {
        var (one, other, redis) = (Server(), Server(), ModelRedis(now: 2000))
        _ = purge("a", &redis)
        one.read(&redis)
        other.read(&redis)
        var replica = redis
        replica.run = "replica"
        let lost = purge("b", &redis)
        one.read(&redis)
        replica.now = redis.now + 10
        let new = purge("c", &replica)
        other.read(&replica)
        #expect(other.verdict("b", lost) == .current)
        one.read(&replica)
        #expect(one.verdict("c", new) == .purged)
        other.read(&replica)
        #expect(other.verdict("b", lost) == .purged)
        let count = replica.purges
        one.read(&replica)
        #expect(replica.purges == count)
    }

    /// The same where the user may not run INFO. The reader learns from the lost connection that another Redis may
    /// answer now.
    @Test func withoutTheRunOfRedisTheLostConnectionTellsOfAFailover() {
        var (one, other, redis) = (Server(), Server(), ModelRedis(now: 2000))
        redis.run = ""
        _ = purge("a", &redis)
        one.read(&redis)
        other.read(&redis)
        var replica = redis
        let lost = purge("b", &redis)
        one.read(&redis)
        replica.now = redis.now + 10
        _ = purge("c", &replica)
        one.reader.noteReconnection()
        one.read(&replica)
        other.read(&replica)
        #expect(other.verdict("b", lost) == .purged)
        let purges = replica.purges
        one.read(&replica)
        #expect(replica.purges == purges)
    }

    /// The server has read further in the old list than the replica's list reaches.
    @Test func afterAFailoverTheListIsReadFromItsStart() {
        var (server, redis) = (Server(), ModelRedis(now: 2000))
        redis.now = 5000
        _ = purge("a", &redis)
        server.read(&redis)
        var replica = redis
        replica.run = "replica"
        replica.setPurges([], dropped: 0)
        replica.forgetHighest()
        replica.now = 3000
        let time = purge("b", &replica)
        #expect(time < 5000)
        server.read(&replica)
        #expect(server.verdict("b", time) == .purged)
    }

    @Test func purgesWithoutRedisAreToldLater() {
        var (server, redis) = (Server(), ModelRedis(now: 2000))
        server.read(&redis)
        server.reader.addUnsent(PurgeMember(.url("a")), at: 2500)
        #expect(server.verdict("a", 2500) == .purged)
        redis.now = 2600
        server.read(&redis)
        #expect(server.reader.unsent.isEmpty)
        #expect(redis.purges.values.max() == 2600)
        var other = Server()
        other.read(&redis)
        #expect(other.verdict("a", 2500) == .purged)
    }

    @Test func kindsOfANewerVersionMakeAllUnsure() {
        var (server, redis) = (Server(), ModelRedis(now: 2000))
        _ = purge("a", &redis)
        redis.setPurges([.init(text: "region:1", time: 2015)], dropped: 0)
        server.read(&redis)
        #expect(server.verdict("b", 2015) == .unsure)
        #expect(server.verdict("b", 2016) == .current)
    }
}
