import HTTPTypes
import Testing
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Loads with a second tier of bytes after the disk cache.
@Suite struct TierTests {
    private let url = "http://pictures.test/a.png"
    private let folder: TemporaryFolder
    private let tier = MemoryTier()
    private let clock = ManualClock()
    private let picture: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        picture = try Fixture.png(30, 20)
    }

    private var key: CacheKey { ImageRequest(url).originalKey }

    private func makeBench(
        hasDisk: Bool = true, clock: (any LoadClock)? = nil,
        change: (inout ImageManager.Configuration) -> Void = { _ in }
    ) -> TestBench {
        TestBench(disk: hasDisk ? folder.path : nil, clock: clock ?? self.clock) { configuration in
            configuration.tiers = [tier]
            change(&configuration)
        }
    }

    /// Puts the picture into both tiers, and removes it from memory.
    private func fill(_ bench: TestBench, fields: HTTPFields = [.eTag: "\"1\""]) async throws {
        bench.answer(url, with: picture, type: "image/png", fields: fields)
        _ = try await bench.manager.image(for: ImageRequest(url))
        await bench.manager.finishStores()
        bench.manager.memoryCache.removeAll()
    }

    private func disk(_ bench: TestBench) throws -> DiskCache { try #require(bench.manager.diskCache) }

    private func source(
        _ bench: TestBench, _ policy: CachePolicy = .cacheFirst
    ) async throws -> ImageSource {
        bench.manager.memoryCache.removeAll()
        var request = ImageRequest(url)
        request.caching.policy = policy
        return try await bench.manager.image(for: request).source
    }

    // MARK: Reading and writing

    @Test func anOriginalIsPutIntoEveryTier() async throws {
        let bench = makeBench()
        try await fill(bench)
        let entry = try #require(tier.entries[key])
        #expect(entry.body == picture && entry.metadata.url == url && entry.metadata.value(of: "etag") == "\"1\"")
        #expect(entry.metadata.storedAt != nil)
        #expect(try await disk(bench).read(key)?.body == picture)
        #expect(try await source(bench) == .disk)
        #expect(tier.count(.entry) == 1, "only the first load asked it")
    }

    @Test func anEntryOfALaterTierIsServedAndPutIntoTheFirst() async throws {
        let bench = makeBench()
        try await fill(bench)
        try await disk(bench).removeAll()
        #expect(try await source(bench) == .tier)
        await bench.manager.finishStores()
        #expect(bench.transport.hits(url) == 1)
        let entry = try #require(try await disk(bench).read(key))
        #expect(entry.body == picture && entry.metadata.value(of: "etag") == "\"1\"" && entry.metadata.url == url)
        #expect(try await source(bench) == .disk)
        #expect(tier.count(.put) == 1)
    }

    @Test func dataAndKeepOriginalUseTheTiers() async throws {
        let bench = makeBench()
        bench.answer(url, with: picture, type: "image/png")
        #expect(try await bench.manager.data(for: ImageRequest(url)) == picture)
        await bench.manager.finishStores()
        #expect(tier.entries[key]?.body == picture)
        try await disk(bench).removeAll()
        #expect(try await bench.manager.keepOriginal(for: ImageRequest(url)).source == .tier)
        await bench.manager.finishStores()
        #expect(try await disk(bench).read(key)?.body == picture)
        #expect(bench.transport.hits(url) == 1)
    }

    @Test func aManagerWithoutADiskCacheUsesItsTiers() async throws {
        let bench = makeBench(hasDisk: false)
        try await fill(bench)
        #expect(tier.entries[key]?.body == picture)
        #expect(try await source(bench) == .tier)
        #expect(try await source(bench, .cacheOnly) == .tier)
    }

    @Test func aSerializerDecidesOnceForAllTiers() async throws {
        let other = try Fixture.png(3, 2)
        let bench = makeBench { $0.cacheSerializer = CacheSerializer { _, _, _ in other } }
        try await fill(bench)
        #expect(tier.entries[key]?.body == other)
        try await disk(bench).removeAll()
        #expect(try await source(bench) == .tier)
        await bench.manager.finishStores()
        #expect(try await disk(bench).read(key)?.body == other)
    }

    @Test(arguments: [CachePolicy.noStore, .reload]) func aPolicyThatReadsNoCacheAsksNoTier(
        policy: CachePolicy
    ) async throws {
        let bench = makeBench()
        try await fill(bench)
        let asked = tier.count(.entry)
        #expect(try await source(bench, policy) == .network)
        #expect(tier.count(.entry) == asked)
    }

    @Test func noStoreAnswersAreInNoTier() async throws {
        let bench = makeBench()
        try await fill(bench, fields: [.cacheControl: "no-store"])
        #expect(tier.entries.isEmpty && tier.count(.put) == 0)
    }

    @Test func aPrivateAnswerIsNotServedToAnotherUser() async throws {
        let bench = makeBench()
        bench.answer(url, with: picture, type: "image/png", fields: [.cacheControl: "private"])
        var request = ImageRequest(url)
        request.http.credentials = BasicCredentials(user: "anna", password: "1")
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        try await disk(bench).removeAll()
        bench.manager.memoryCache.removeAll()
        request.http.credentials = BasicCredentials(user: "otto", password: "2")
        #expect(try await bench.manager.image(for: request).source == .network)
        #expect(try await source(bench) == .network)
    }

    // MARK: Freshness

    @Test func aFreshEntryOfALaterTierGoesBeforeAStaleOneOfTheFirst() async throws {
        let bench = makeBench()
        try await fill(bench, fields: [.eTag: "\"1\"", .cacheControl: "max-age=60"])
        clock.advance(by: .seconds(100))
        // Another machine has renewed the tier's entry.
        var renewed = try #require(tier.entries[key])
        renewed.metadata.requestTime = clock.wallTime
        renewed.metadata.responseTime = clock.wallTime
        _ = try await tier.put(renewed, for: key)
        #expect(try await source(bench, .protocol) == .tier)
        #expect(bench.transport.hits(url) == 1)
        await bench.manager.finishStores()
        #expect(try await source(bench, .protocol) == .disk)
        #expect(bench.transport.hits(url) == 1)
    }

    @Test func aStaleEntryIsRevalidatedOnceAndRenewedInEveryTier() async throws {
        let bench = makeBench()
        try await fill(bench, fields: [.eTag: "\"1\"", .cacheControl: "max-age=60"])
        clock.advance(by: .seconds(100))
        bench.transport.answer(url, .status(304, headers: [.eTag: "\"1\"", .cacheControl: "max-age=600"]))
        #expect(try await source(bench, .protocol) == .disk)
        await bench.manager.finishStores()
        #expect(tier.entries[key]?.metadata.value(of: "cache-control") == "max-age=600")
        #expect(try await disk(bench).readMetadata(key)?.value(of: "cache-control") == "max-age=600")
        #expect(bench.transport.hits(url) == 2)
    }

    /// Some servers send a weak tag with the body and the same tag as a strong one without. The body is not fetched
    /// again.
    @Test(arguments: [("W/\"1\"", "\"1\""), ("\"1\"", "W/\"1\"")])
    func aTagInAnotherFormRenewsTheEntry(_ first: String, _ second: String) async throws {
        let bench = makeBench()
        try await fill(bench, fields: [.eTag: first, .cacheControl: "max-age=60"])
        bench.transport.answer(url, .status(304, headers: [.eTag: second, .cacheControl: "max-age=60"]))
        for round in 1...2 {
            clock.advance(by: .seconds(100))
            #expect(try await source(bench, .protocol) == .disk)
            await bench.manager.finishStores()
            #expect(bench.transport.hits(url) == 1 + round)
        }
        #expect(tier.entries[key]?.metadata.value(of: "etag") == first)
    }

    @Test func a404RemovesTheEntryFromEveryTier() async throws {
        let bench = makeBench()
        try await fill(bench)
        bench.transport.answer(url, .status(404))
        await #expect(throws: WebImageError.self) { try await source(bench, .revalidate) }
        await bench.manager.finishStores()
        #expect(tier.entries.isEmpty)
        #expect(try await disk(bench).read(key) == nil)
    }

    // MARK: Removing

    @Test func aRemovalGoesToEveryTier() async throws {
        let bench = makeBench()
        try await fill(bench)
        try await bench.manager.cache.remove(ImageRequest(url))
        #expect(tier.entries.isEmpty)
        await #expect(throws: WebImageError.self) { try await source(bench, .cacheOnly) }
    }

    @Test func aFailedRemovalInATierIsAnErrorButRemovesFromDisk() async throws {
        let bench = makeBench()
        try await fill(bench)
        tier.setTrouble { $0 == .remove ? .fails : .none }
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.cache.remove(ImageRequest(url))
        }
        #expect(error?.code == .cacheIO)
        #expect(try await disk(bench).read(key) == nil)
    }

    @Test func anEntryIsNotServedFromATierDuringItsRemoval() async throws {
        let bench = makeBench()
        try await fill(bench)
        tier.setTrouble { $0 == .remove ? .waits : .none }
        let removal = Task { try await bench.manager.cache.remove(ImageRequest(url)) }
        #expect(await eventually { tier.count(.remove) == 1 })
        #expect(try await source(bench) == .network)
        tier.open()
        try await removal.value
    }

    @Test func aRemovalBeatsAPutThatIsUnderWay() async throws {
        let bench = makeBench()
        tier.setTrouble { $0 == .put ? .waits : .none }
        bench.answer(url, with: picture, type: "image/png")
        _ = try await bench.manager.image(for: ImageRequest(url))
        #expect(await eventually { tier.count(.put) == 1 })
        let removal = Task { try await bench.manager.cache.remove(ImageRequest(url)) }
        #expect(await eventually { bench.manager.memoryCache.count == 0 })
        tier.open()
        try await removal.value
        await bench.manager.finishStores()
        #expect(tier.entries.isEmpty && tier.calls.suffix(2) == [.put, .remove])
    }

    @Test func clearingLeavesTheEntriesOfTiers() async throws {
        let bench = makeBench()
        try await fill(bench)
        try await bench.manager.cache.clear()
        #expect(tier.entries.count == 1)
    }

    // MARK: A tier in trouble

    @Test func aTierThatFailsCostsNoPicture() async throws {
        tier.setTrouble { _ in .fails }
        let bench = makeBench()
        bench.answer(url, with: picture, type: "image/png")
        #expect(try await source(bench) == .network)
        await bench.manager.finishStores()
        #expect(try await source(bench) == .disk)
        #expect(tier.entries.isEmpty)
    }

    @Test func aTierThatIsLateIsNotWaitedFor() async throws {
        tier.setTrouble { $0 == .entry ? .waits : .none }
        let bench = makeBench()
        bench.answer(url, with: picture, type: "image/png")
        let load = Task { try await bench.manager.image(for: ImageRequest(url)).source }
        #expect(await eventually { tier.count(.entry) == 1 })
        #expect(bench.transport.hits(url) == 0)
        clock.advance(by: .milliseconds(50))
        #expect(try await load.value == .network)
    }

    @Test func aTierThatNeverAnswersIsSkippedAfterFiveTimeouts() async throws {
        tier.setTrouble { _ in .waitsStubbornly }
        let bench = makeBench()
        var late = 0
        for number in 0..<40 {
            let url = "http://pictures.test/\(number).png"
            bench.answer(url, with: picture, type: "image/png")
            let done = Gate()
            let load = Task {
                defer { done.open() }
                return try await bench.manager.image(for: ImageRequest(url)).source
            }
            while !done.isOpen {
                if tier.count(.entry) > late {
                    late += 1
                    clock.advance(by: .milliseconds(50))
                }
                await Task.yield()
            }
            #expect(try await load.value == .network)
        }
        // After five late answers in a row, the tier is not asked for a second.
        #expect(tier.count(.entry) == 5)
        tier.open()
    }

    /// Bodies from a tier that wait for a decoder count against the same limit as those from the disk.
    @Test func fewEntriesAreReadFromATierWhileDecodersAreBusy() async throws {
        let bench = makeBench(hasDisk: false) { configuration in
            configuration.decodeThreads = 1
            configuration.download.memoryForAll = .mebibytes(1)
        }
        var metadata = DiskMetadata()
        metadata.storedAt = clock.wallTime
        let urls = (0..<20).map { "http://pictures.test/\($0).png" }
        for url in urls {
            let entry = TierEntry(body: picture + [UInt8](repeating: 0, count: 400_000), metadata: metadata)
            _ = try await tier.put(entry, for: ImageRequest(url).originalKey)
        }
        let gate = Gate()
        bench.manager.loader.decoding.executor.run(.high) { gate.wait() }
        let loads = urls.map { url in Task { try await bench.manager.image(for: ImageRequest(url)).source } }
        let memory = bench.manager.loader.decoding.inputMemory
        #expect(await eventually { memory.waitingCount > 0 && memory.waitingCount + tier.count(.entry) == urls.count })
        #expect(tier.count(.entry) <= 4, "\(tier.count(.entry)) were read")
        gate.open()
        for load in loads { #expect(try await load.value == .tier) }
        #expect(await eventually { bench.manager.loader.decoding.inputMemory.used == 0 })
    }

    /// The 33rd read at a time once counted as a miss, although the tier had the original.
    @Test func readsBeyondTheLimitWaitForTheirTurn() async throws {
        let bench = makeBench(hasDisk: false)
        var metadata = DiskMetadata()
        metadata.storedAt = clock.wallTime
        let requests = (0..<100).map { number in
            ImageRequest("http://pictures.test/\(number).png") { $0.caching.policy = .cacheOnly }
        }
        for request in requests {
            _ = try await tier.put(TierEntry(body: picture, metadata: metadata), for: request.originalKey)
        }
        tier.setTrouble { $0 == .entry ? .waits : .none }
        let loads = requests.map { request in Task { try await bench.manager.image(for: request).source } }
        #expect(await eventually { tier.count(.entry) == 32 && bench.manager.runningLoads == 100 })
        tier.setTrouble { _ in .none }
        tier.open()
        for load in loads { #expect(try await load.value == .tier) }
        #expect(tier.count(.entry) == 100 && tier.count(.put) == 100)
    }

    @Test func aTierThatFailedIsAskedAgainAfterAPause() async throws {
        let bench = makeBench(hasDisk: false)
        try await fill(bench)
        tier.setTrouble { $0 == .entry ? .fails : .none }
        for _ in 0..<5 { #expect(try await source(bench) == .network) }
        tier.setTrouble { _ in .none }
        let asked = tier.count(.entry)
        #expect(try await source(bench) == .network)
        #expect(tier.count(.entry) == asked)
        clock.advance(by: .milliseconds(1001))
        #expect(try await source(bench) == .tier)
    }

    // MARK: Both tiers, at random

    /// Whatever fails and whatever is lost, each load gets a version that the origin has had and that is not older than
    /// the last removal. A load that asks the origin gets the newest.
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
    func aRandomWalkServesNoOutdatedVersion(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var bench = makeBench()
        let urls = (0..<3).map { "http://pictures.test/\($0).png" }
        var newest = [1, 1, 1]
        /// The oldest version of each picture that may be shown.
        var oldestAllowed = [1, 1, 1]
        func answer(_ place: Int) throws {
            // The version is the picture's width.
            bench.answer(
                urls[place], with: try Fixture.png(newest[place], 2), type: "image/png",
                fields: [.eTag: "\"\(newest[place])\""])
        }
        for place in urls.indices { try answer(place) }
        for step in 0..<120 {
            let place = Int.random(in: 0..<urls.count, using: &random)
            var request = ImageRequest(urls[place])
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9:
                let policies: [CachePolicy] = [.cacheFirst, .protocol, .revalidate, .reload]
                request.caching.policy = policies.randomElement(using: &random) ?? .cacheFirst
                let shown = try await bench.manager.image(for: request).image.size.width
                #expect(shown >= oldestAllowed[place] && shown <= newest[place], "step \(step)")
                if [.revalidate, .reload].contains(request.caching.policy) {
                    #expect(shown == newest[place], "step \(step)")
                }
                // Without this wait, the next load might get the previous entry.
                await bench.manager.finishStores()
            case 9..<12:
                newest[place] += 1
                try answer(place)
            case 12..<14:
                tier.setTrouble { _ in .none }
                try await bench.manager.cache.remove(request)
                oldestAllowed[place] = newest[place]
            case 14: try await disk(bench).removeAll()
            case 15: bench.manager.memoryCache.removeAll()
            case 16: tier.setTrouble { $0 == .entry || $0 == .metadata ? .fails : .none }
            case 17: tier.setTrouble { $0 == .put ? .failsAfterwards : .none }
            case 18:
                // The clock moves past the pause of a tier that failed.
                tier.setTrouble { _ in .none }
                clock.advance(by: .seconds(60))
            default:
                await bench.manager.drain(within: .zero)
                bench = makeBench()
                for place in urls.indices { try answer(place) }
            }
        }
        await bench.manager.drain(within: .zero)
    }
}
