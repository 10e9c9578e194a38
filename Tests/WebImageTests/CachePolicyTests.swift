import HTTPTypes
import Testing
import WebImage
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

/// The contracts' table of cache policies, with an origin that has validators (RFC 9111, RFC 5861, SDWebImage's D-20
/// and O-03).
@Suite struct CachePolicyTests {
    private let url = "http://pictures.test/a.png"

    private func request(_ policy: CachePolicy, width: Int? = nil) -> ImageRequest {
        var request = ImageRequest(url)
        request.caching.policy = policy
        if let width { request.size = TargetSize(width: width) }
        return request
    }

    private func failure(_ bench: TestBench, _ policy: CachePolicy) async -> WebImageError? {
        await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request(policy)) }
    }

    /// A manager and its origin, which serves a square picture with the given side.
    private func makeBench(
        _ disk: TemporaryFolder?, clock given: ManualClock? = nil, side: Int = 16, tag: String? = "\"1\"",
        fields: HTTPFields = [:]
    ) throws -> (TestBench, ChangingOrigin) {
        // A new process reads the files' modification times, so the manual clock starts at the real time.
        let clock = given ?? ManualClock(wallTime: SystemClock.shared.wallTime)
        let bench = TestBench(disk: disk?.path, clock: clock)
        let origin = ChangingOrigin(bench.transport, body: try Fixture.png(side, side), tag: tag, fields: fields)
        return (bench, origin)
    }

    @Test(arguments: [true, false])
    func protocolServesFreshEntriesAndRevalidatesStaleOnes(hasDisk: Bool) async throws {
        let folder = hasDisk ? try TemporaryFolder() : nil
        let clock = ManualClock(wallTime: SystemClock.shared.wallTime)
        let (bench, origin) = try makeBench(folder, clock: clock, fields: [.cacheControl: "max-age=60"])
        let manager = bench.manager
        #expect(try await manager.image(for: request(.protocol)).source == .network)
        await manager.finishStores()
        #expect(manager.cachedImage(for: request(.protocol)) != nil)
        #expect(try await manager.image(for: request(.protocol)).source == .memory)
        #expect(origin.counts == [1, 0])
        clock.advance(by: .seconds(61))
        #expect(manager.cachedImage(for: request(.protocol)) == nil, "it is stale")
        #expect(try await manager.image(for: request(.protocol)).source == .memory)
        #expect(origin.counts == [1, 1])
        // The 304 made the entry fresh again, for the next caller and for the next process.
        await manager.finishStores()
        #expect(manager.cachedImage(for: request(.protocol)) != nil)
        guard let folder else { return }
        let (second, other) = try makeBench(folder, clock: clock)
        #expect(try await second.manager.image(for: request(.protocol)).source == .disk)
        #expect(other.counts == [0, 0])
    }

    @Test func aPictureThatChangedTakesThePlaceOfTheOldOne() async throws {
        let folder = try TemporaryFolder()
        let (bench, origin) = try makeBench(folder, fields: [.cacheControl: "max-age=0"])
        #expect(try await bench.manager.image(for: request(.protocol)).image.size.width == 16)
        await bench.manager.finishStores()
        let newer = try Fixture.png(20, 20)
        origin.change { ($0.body, $0.tag) = (newer, "\"2\"") }
        let changed = try await bench.manager.image(for: request(.protocol))
        #expect(changed.source == .network && changed.image.size.width == 20)
        await bench.manager.finishStores()
        #expect(bench.manager.cachedImage(for: request(.cacheFirst))?.size.width == 20)
        bench.manager.memoryCache.removeAll()
        let stored = try await bench.manager.image(for: request(.cacheOnly))
        #expect(stored.source == .disk && stored.image.size.width == 20)
        #expect(origin.counts == [2, 0])
    }

    @Test func revalidateAsksEachTimeAndReadsOneOriginalForAllSizes() async throws {
        let folder = try TemporaryFolder()
        let (bench, origin) = try makeBench(folder, fields: [.cacheControl: "max-age=600"])
        #expect(try await bench.manager.image(for: request(.revalidate)).source == .network)
        await bench.manager.finishStores()
        #expect(try await bench.manager.image(for: request(.revalidate)).source == .memory)
        let small = try await bench.manager.image(for: request(.revalidate, width: 4))
        #expect(small.source == .disk && small.image.size.width == 4)
        #expect(origin.counts == [1, 2] && origin.lastFields[.ifNoneMatch] == "\"1\"")
    }

    @Test func refreshShowsTheEntryThenTheNewPicture() async throws {
        let folder = try TemporaryFolder()
        let (first, _) = try makeBench(folder)
        _ = try await first.manager.image(for: request(.refresh))
        await first.manager.finishStores()
        let (bench, origin) = try makeBench(folder)
        // Nothing changed: the image that was shown early is also the final one.
        let unchanged = Ledger()
        bench.manager.load(request(.refresh)) { unchanged.take($0) }
        let same = try await unchanged.finished().get()
        #expect(unchanged.cached.map(\.source) == [.disk] && same.source == .memory && origin.counts == [0, 1])
        #expect(unchanged.cached.first?.image.storage === same.image.storage)
        let newer = try Fixture.png(20, 20)
        origin.change { ($0.body, $0.tag) = (newer, "\"2\"") }
        let changed = Ledger()
        bench.manager.load(request(.refresh)) { changed.take($0) }
        // The image in memory is delivered before `load` returns.
        #expect(changed.cached.map(\.source) == [.memory])
        let new = try await changed.finished().get()
        #expect(new.source == .network && new.image.size.width == 20 && changed.cached.first?.image.size.width == 16)
    }

    @Test func refreshWithoutEventsGivesTheEntryAndRenewsItAfterwards() async throws {
        let folder = try TemporaryFolder()
        let (bench, origin) = try makeBench(folder)
        _ = try await bench.manager.image(for: request(.refresh))
        await bench.manager.finishStores()
        let newer = try Fixture.png(20, 20)
        origin.change { ($0.body, $0.tag) = (newer, "\"2\"") }
        let shown = try await bench.manager.image(for: request(.refresh))
        #expect(shown.source == .memory && shown.image.size.width == 16)
        #expect(await eventually { bench.manager.cachedImage(for: request(.cacheFirst))?.size.width == 20 })
        #expect(origin.counts == [2, 0])
        #expect(await eventually { bench.manager.runningLoads == 0 })
    }

    @Test func refreshWithoutAnEntryIsAPlainLoad() async throws {
        let (bench, origin) = try makeBench(try TemporaryFolder())
        let ledger = Ledger()
        bench.manager.load(request(.refresh)) { ledger.take($0) }
        #expect(try await ledger.finished().get().source == .network)
        #expect(ledger.cached.isEmpty && origin.counts == [1, 0])
    }

    @Test func aFailedRefreshGivesTheEntryThenTheError() async throws {
        let (bench, origin) = try makeBench(nil)
        _ = try await bench.manager.image(for: request(.refresh))
        origin.change { $0.outage = .status(500) }
        let ledger = Ledger()
        bench.manager.load(request(.refresh)) { ledger.take($0) }
        _ = await ledger.finished()
        #expect(ledger.cached.count == 1 && ledger.failures == [.badStatus: 1])
        #expect(bench.manager.cachedImage(for: request(.cacheFirst)) != nil)
    }

    @Test func aCancelDuringARefreshEndsWithCancelled() async throws {
        let (bench, origin) = try makeBench(nil)
        _ = try await bench.manager.image(for: request(.refresh))
        let gate = Gate()
        let body = try Fixture.png(8, 8)
        origin.change { $0.outage = .bytes(body, contentType: "image/png").held(by: gate) }
        let ledger = Ledger()
        let token = bench.manager.load(request(.refresh)) { ledger.take($0) }
        #expect(await bench.transport.waitForHits(url, 2))
        token.cancel()
        _ = await ledger.finished()
        #expect(ledger.failures == [.cancelled: 1])
        #expect(await bench.transport.waitForCancels(url, 1))
        gate.open()
        #expect(bench.manager.runningLoads == 0)
    }

    @Test func staleWhileRevalidateServesTheEntryAndRenewsIt() async throws {
        let clock = ManualClock()
        let fields: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=100"]
        let (bench, origin) = try makeBench(try TemporaryFolder(), clock: clock, fields: fields)
        _ = try await bench.manager.image(for: request(.protocol))
        await bench.manager.finishStores()
        clock.advance(by: .seconds(20))
        let stale = try await bench.manager.image(for: request(.protocol))
        #expect(stale.source == .memory)
        #expect(await eventually { origin.counts == [1, 1] })
        #expect(await eventually { bench.manager.cachedImage(for: request(.protocol)) != nil }, "it was not renewed")
        clock.advance(by: .seconds(200))
        let events = Ledger()
        bench.manager.load(request(.protocol)) { events.take($0) }
        _ = try await events.finished().get()
        #expect(events.cached.isEmpty && origin.counts == [1, 2], "too old to be shown unasked")
    }

    @Test(arguments: [
        ("max-age=0, stale-if-error=600", true), ("max-age=0", false),
        ("max-age=0, must-revalidate, stale-if-error=9", false),
    ])
    func staleIfErrorServesTheEntryWhenTheOriginFails(control: String, mayStandIn: Bool) async throws {
        let (bench, origin) = try makeBench(try TemporaryFolder(), fields: [.cacheControl: control])
        _ = try await bench.manager.image(for: request(.protocol))
        await bench.manager.finishStores()
        for outage in [FakeAnswer.status(503), .failure(WebImageError(.connectionRefused, "nobody is there"))] {
            origin.change { $0.outage = outage }
            let response = try? await bench.manager.image(for: request(.protocol))
            #expect((response != nil) == mayStandIn)
        }
    }

    /// RFC 5861 section 4 also covers an error that comes after the response's head.
    @Test(arguments: [true, false])
    func anEntryStandsInForABodyThatBreaksOff(hasDisk: Bool) async throws {
        let folder = hasDisk ? try TemporaryFolder() : nil
        let (bench, origin) = try makeBench(folder, fields: [.cacheControl: "max-age=0, stale-if-error=600"])
        let manager = bench.manager
        _ = try await manager.image(for: request(.protocol))
        await manager.finishStores()
        let newer = try Fixture.png(64, 64)
        origin.change { $0.outage = .bytes(newer, contentType: "image/png").failing(after: newer.count / 2) }
        let events = Ledger()
        for _ in 0..<3 { manager.load(request(.protocol)) { events.take($0) } }
        let response = try await events.finished(3).get()
        #expect(response.image.size == PixelSize(width: 16, height: 16) && events.failures.isEmpty)
        #expect(response.source == .memory && manager.runningLoads == 0)
        guard hasDisk else { return }
        // The entry also stands in for another size and for the original bytes, neither of which is in memory.
        #expect(try await manager.image(for: request(.protocol, width: 8)).image.size.width == 8)
        var whole = request(.protocol)
        whole.includesData = true
        let original = try #require(try await manager.image(for: whole).data)
        #expect(try await manager.data(for: request(.protocol)) == original && original != newer)
        // Without an entry, the caller gets the transfer's error.
        try await manager.cache.clear(.all)
        #expect(await failure(bench, .revalidate)?.code == .connectionLost)
    }

    @Test func noCacheBindsTheProtocolModeAndVaryBindsEveryMode() async throws {
        let (bench, origin) = try makeBench(
            try TemporaryFolder(), fields: [.cacheControl: "no-cache", .vary: "Accept"])
        let manager = bench.manager
        _ = try await manager.image(for: request(.protocol))
        await manager.finishStores()
        _ = try await manager.image(for: request(.protocol))
        #expect(origin.counts == [1, 1], "no-cache: asked, though nothing has changed")
        manager.memoryCache.removeAll()
        #expect(try await manager.image(for: request(.cacheFirst)).source == .disk)
        manager.memoryCache.removeAll()
        manager.downloader[header: .accept] = "image/png"
        #expect(await failure(bench, .cacheOnly)?.code == .cacheMiss)
        for (index, policy) in [CachePolicy.cacheFirst, .protocol, .revalidate].enumerated() {
            manager.memoryCache.removeAll()
            manager.downloader[header: .accept] = "image/\(index)"
            #expect(try await manager.image(for: request(policy)).source == .network, "it is another request's")
            await manager.finishStores()
        }
        #expect(origin.counts == [4, 1])
    }

    @Test func aCallerThatWaitsForTheStoreGetsTheStaleEntry() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(wallTime: SystemClock.shared.wallTime)
        let (bench, origin) = try makeBench(
            folder, clock: clock, fields: [.cacheControl: "max-age=1, stale-while-revalidate=600"])
        var waiting = request(.protocol)
        waiting.caching.waitsForStore = true
        #expect(try await bench.manager.image(for: waiting).source == .network)
        clock.advance(by: .seconds(10))
        #expect(try await bench.manager.image(for: waiting).source == .memory)
        await bench.manager.finishStores()
        #expect(origin.counts.first == 1)
    }

    @Test func memoryIsMissedWhenVaryingHeadersOrCredentialsChange() async throws {
        let (bench, origin) = try makeBench(nil, fields: [.cacheControl: "max-age=600", .vary: "Accept"])
        let manager = bench.manager
        _ = try await manager.image(for: request(.cacheFirst))
        #expect(try await manager.image(for: request(.cacheFirst)).source == .memory)
        manager.downloader[header: .accept] = "image/png"
        #expect(manager.cachedImage(for: request(.cacheFirst)) == nil)
        #expect(try await manager.image(for: request(.cacheFirst)).source == .network, "Vary names it")
        #expect(manager.cachedImage(for: request(.cacheFirst)) != nil)
        manager.downloader[header: .authorization] = "Bearer b"
        #expect(try await manager.image(for: request(.cacheFirst)).source == .network, "somebody else asks")
        manager.downloader.setLimits(maxConcurrent: 1, maxConcurrentPerHost: 1)
        #expect(try await manager.image(for: request(.cacheFirst)).source == .memory)
        #expect(origin.counts == [3, 0])
    }

    @Test func reloadFromOriginSendsNoCache() async throws {
        let (bench, origin) = try makeBench(nil)
        for policy in [CachePolicy.reload, .reloadFromOrigin] {
            #expect(try await bench.manager.image(for: request(policy)).source == .network)
            #expect(origin.lastFields[.cacheControl] == (policy == .reload ? nil : "no-cache"))
        }
        #expect(origin.counts == [2, 0])
    }

    @Test func aGoneAnswerRemovesTheEntry() async throws {
        let folder = try TemporaryFolder()
        let (bench, origin) = try makeBench(folder)
        _ = try await bench.manager.image(for: request(.cacheFirst))
        await bench.manager.finishStores()
        origin.change { $0.outage = .status(410) }
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.image(for: request(.revalidate))
        }
        #expect(error?.status == 410)
        await bench.manager.finishStores()
        #expect(bench.manager.diskCache?.usage.count == 0)
    }

    @Test func anEntryWithADamagedBodyIsFetchedAgain() async throws {
        let folder = try TemporaryFolder()
        let (first, _) = try makeBench(folder)
        _ = try await first.manager.image(for: request(.revalidate))
        await first.manager.finishStores()
        let path = try #require(await first.manager.diskCache?.path(for: request(.revalidate).originalKey))
        // Damages a byte of the body; the metadata behind the body stays intact.
        var bytes = try FileTree.read(path)
        bytes[20] ^= 1
        try FileTree.write(bytes, to: path)
        let (bench, origin) = try makeBench(folder)
        let response = try await bench.manager.image(for: request(.revalidate))
        #expect(response.source == .network && origin.counts == [1, 1])
    }

    @Test func dataAndDetailsFollowTheCachePolicy() async throws {
        let clock = ManualClock()
        let (bench, origin) = try makeBench(try TemporaryFolder(), clock: clock, fields: [.cacheControl: "max-age=60"])
        _ = try await bench.manager.image(for: request(.protocol))
        await bench.manager.finishStores()
        let data = try await bench.manager.data(for: request(.protocol))
        #expect(try await bench.manager.details(for: request(.protocol)).source == .disk)
        #expect(origin.counts == [1, 0])
        clock.advance(by: .seconds(100))
        #expect(try await bench.manager.data(for: request(.protocol)) == data)
        #expect(origin.counts == [1, 1])
        await bench.manager.finishStores()
        #expect(try await bench.manager.details(for: request(.protocol)).source == .disk)
        #expect(origin.counts == [1, 1])
    }

    @Test func concurrentCallersShareOneRevalidation() async throws {
        let (bench, origin) = try makeBench(try TemporaryFolder(), fields: [.cacheControl: "max-age=0"])
        _ = try await bench.manager.image(for: request(.protocol))
        await bench.manager.finishStores()
        let ledger = Ledger()
        let gate = Gate()
        origin.change { $0.outage = FakeAnswer.status(304, headers: [.eTag: "\"1\""]).held(by: gate) }
        for number in 0..<100 {
            let width = number % 3 == 0 ? nil : 1 + number % 3
            bench.manager.load(request(.protocol, width: width)) { ledger.take($0) }
        }
        gate.open()
        _ = await ledger.finished(100)
        #expect(ledger.failures.isEmpty)
        #expect(bench.transport.hits(url) == 2)
    }

    @Test func aDecryptorChangesTheOriginalKey() throws {
        let plain = request(.cacheFirst)
        var changed = plain
        changed.http.decryptor = .base64
        #expect(changed.originalKey != plain.originalKey)
    }
}
