import Testing
import WebImageCache
import WebImageCore
import WebImageTesting

@testable import WebImage

/// Removals from the caches, and lookups, while a load is running or its store is pending.
@Suite struct LoadRemovalTests {
    private let files = FaultyFileSystem()
    private let folder: TemporaryFolder
    private let bench: TestBench
    private let first = ImageRequest("http://pictures.test/first.png")
    private let second = ImageRequest("http://pictures.test/second.png")

    init() throws {
        folder = try TemporaryFolder()
        bench = TestBench(disk: folder.path, files: files) { $0.fileThreads = 2 }
        bench.answer(first.url, with: try Fixture.png(16, 16), type: "image/png")
        bench.answer(second.url, with: try Fixture.png(64, 48), type: "image/png")
    }

    /// The request with a serializer that opens `arrival` and then holds the store of the original until `end` opens.
    private func waiting(_ request: ImageRequest, _ arrival: Gate, _ end: Gate) -> ImageRequest {
        var request = request
        request.caching.serializer = CacheSerializer { _, data, _ in
            arrival.open()
            end.wait()
            return data
        }
        return request
    }

    @Test(arguments: [false, true]) func aRemoveBeatsTheStoreOfALoadThatHasNotBegun(isClear: Bool) async throws {
        let manager = bench.manager
        let (arrival, end) = (Gate(), Gate())
        _ = try await manager.image(for: first)
        await manager.finishStores()
        _ = try await manager.image(for: waiting(second, arrival, end))
        await arrival.opened()
        if isClear { try await manager.cache.clear() } else { try await manager.cache.remove(second) }
        end.open()
        await manager.finishStores()
        #expect(manager.cachedImage(for: second) == nil)
        #expect(try await manager.cache.contains(second) == [])
        #expect(try await manager.cache.contains(first) == (isClear ? [] : .all))
    }

    @Test(arguments: [CacheLayers.memory, .disk, .all])
    func aPictureRemovedWhileItIsMadeIsNotStored(layers: CacheLayers) async throws {
        let manager = bench.manager
        let transformer = WaitingTransformer()
        var request = second
        request.transformers = [transformer]
        request.caching.store = .all
        let load = Task { [request] in try await manager.image(for: request) }
        await transformer.arrival.opened()
        try await manager.cache.remove(request, from: layers)
        transformer.end.open()
        #expect(try await load.value.image.size.width == 64)
        await manager.finishStores()
        #expect(try await manager.cache.contains(request) == CacheLayers.all.subtracting(layers))
        #expect(manager.diskCache?.usage.count == (layers == .memory ? 2 : 0))
        // A load after the removal is stored as usual.
        request.caching.policy = .reload
        let again = try await manager.image(for: request)
        await manager.finishStores()
        #expect(try await manager.cache.contains(request) == .all, "it came from \(again.source)")
    }

    @Test func anOriginalIsFoundBeforeItIsOnDisk() async throws {
        let write = files.delay(.write)
        _ = try await bench.manager.image(for: first)
        await write.made()
        var small = first
        small.size = TargetSize(width: 8)
        let response = try await bench.manager.image(for: small)
        #expect(response.source == .disk && response.image.size.width == 8)
        #expect(bench.transport.hits(first.url) == 1)
        write.release()
    }

    @Test func theCacheFindsALoadedOriginalBeforeItIsOnDisk() async throws {
        let (manager, bytes) = (bench.manager, try Fixture.png(16, 16))
        let write = files.delay(.write)
        _ = try await manager.image(for: first)
        await write.made()
        let cache = manager.cache
        #expect(try await cache.contains(first) == .all)
        #expect(try await cache.data(for: first) == bytes)
        #expect(try await cache.image(for: first, in: .disk)?.data == nil)
        var whole = first
        whole.includesData = true
        let found = try #require(try await cache.image(for: whole, in: .disk))
        #expect(found.source == .disk && found.data == bytes && found.metadata?.url == first.url)
        // A removal that overtakes the write also hides the entry at once.
        try await cache.remove(first, from: .disk)
        #expect(try await cache.contains(first) == .memory)
        #expect(try await cache.data(for: first) == nil)
        write.release()
        await manager.finishStores()
        #expect(try await cache.contains(first) == .memory && manager.diskCache?.usage.count == 0)
    }

    @Test func aRemoveFromTheCacheOfOriginalsBeatsALoadThatHasBegun() async throws {
        let originals = ImageCache(configuration: .init(disk: DiskCacheConfiguration(directory: folder.path + "/o")))
        let transformer = WaitingTransformer()
        var request = second
        request.transformers = [transformer]
        request.caching.originalCache = originals
        let load = Task { [request] in try await bench.manager.image(for: request) }
        await transformer.arrival.opened()
        try await originals.remove(request)
        transformer.end.open()
        _ = try await load.value
        await bench.manager.finishStores()
        #expect(originals.usage.disk?.count == 0)
        #expect(try await originals.contains(second) == [])
    }

    /// A program that removes a picture because it has changed once got the old picture from a transfer that ran already,
    /// and it was not stored.
    @Test(arguments: [false, true]) func aLoadAfterARemovalSharesNothingFromBefore(isClear: Bool) async throws {
        let manager = bench.manager
        let gate = Gate()
        let (older, newer) = (try Fixture.png(10, 10), try Fixture.png(20, 20))
        let url = first.url
        bench.transport.answer(
            url, .bytes(older, contentType: "image/png", headers: [.eTag: "\"1\""]).held(by: gate, after: 10),
            .bytes(newer, contentType: "image/png", headers: [.eTag: "\"2\""]))
        let before = Task { try await manager.image(for: first).image.size.width }
        #expect(await bench.transport.waitForHits(url))
        if isClear { try await manager.cache.clear() } else { try await manager.cache.remove(first) }
        #expect(try await manager.image(for: first).image.size.width == 20)
        gate.open()
        #expect(try await before.value == 10)
        await manager.finishStores()
        // The older picture, which is made later, does not replace the newer one.
        #expect(manager.cachedImage(for: first)?.size.width == 20)
        #expect(try await manager.diskCache?.read(first.originalKey)?.body == newer)
        #expect(bench.transport.hits(url) == 2)
    }

    /// The picture that was made meanwhile from the old original once stayed in memory.
    @Test func aReloadReplacesAPictureThatWasMadeAfterARemovalFromMemory() async throws {
        let manager = bench.manager
        let gate = Gate()
        bench.transport.answer(
            first.url, .bytes(try Fixture.png(10, 10), contentType: "image/png", headers: [.eTag: "\"1\""]),
            .bytes(try Fixture.png(20, 20), contentType: "image/png", headers: [.eTag: "\"2\""]).held(by: gate))
        _ = try await manager.image(for: first)
        await manager.finishStores()
        var reload = first
        reload.caching.policy = .reload
        let newer = Task { [reload] in try await manager.image(for: reload).image.size.width }
        #expect(await bench.transport.waitForHits(first.url, 2))
        try await manager.cache.remove(first, from: .memory)
        #expect(try await manager.image(for: first).image.size.width == 10)
        gate.open()
        #expect(try await newer.value == 20)
        await manager.finishStores()
        #expect(try await manager.image(for: first).image.size.width == 20)
    }

    @Test func loadsAfterARemovalShareTheirWork() async throws {
        let gate = Gate()
        bench.transport.answer(
            first.url, .bytes(try Fixture.png(10, 10), contentType: "image/png").held(by: gate, after: 10))
        let before = Task { try await bench.manager.data(for: first).count }
        #expect(await bench.transport.waitForHits(first.url))
        // Of another picture, and only from memory: neither concerns the transfer.
        try await bench.manager.cache.remove(second)
        try await bench.manager.cache.remove(first, from: .memory)
        let picture = Task { try await bench.manager.image(for: first).image.size.width }
        #expect(await eventually { bench.manager.downloader.counters.joined == 1 })
        try await bench.manager.cache.remove(first)
        let (one, other) = (
            Task { try await bench.manager.image(for: first).image.size.width },
            Task { try await bench.manager.data(for: first).count }
        )
        #expect(await eventually { bench.manager.downloader.counters.joined == 2 })
        gate.open()
        let widths = [try await picture.value, try await one.value]
        let counts = [try await before.value, try await other.value]
        #expect(widths == [10, 10] && counts[0] == counts[1] && bench.transport.hits(first.url) == 2)
    }

    @Test func removalsAreRememberedForAWhile() {
        var removals = Removals()
        let (a, b) = (CacheKey("a"), CacheKey("b"))
        let begin = removals.last
        #expect(!removals.hasRemoved(a, from: .all, since: begin))
        removals.note(a, from: .memory)
        #expect(
            removals.hasRemoved(a, from: .memory, since: begin) && !removals.hasRemoved(a, from: .disk, since: begin))
        #expect(!removals.hasRemoved(b, from: .all, since: begin))
        #expect(!removals.hasRemoved(a, from: .all, since: removals.last))
        removals.note(nil, from: .all)
        #expect(removals.hasRemoved(b, from: .disk, since: begin))
        let later = removals.last
        // A program that follows the removals of others may learn of many during a load, whose picture once was not
        // stored anywhere then.
        for number in 0..<Removals.maxKept - 1 { removals.note(CacheKey("\(number)"), from: .all) }
        for _ in 0..<10_000 { removals.note(a, from: .memory) }
        #expect(!removals.hasRemoved(b, from: .all, since: later))
        #expect(!removals.hasRemoved(a, from: .disk, since: later) && removals.hasRemoved(a, from: .all, since: later))
        let recent = removals.last
        removals.note(b, from: .disk)
        #expect(removals.hasRemoved(CacheKey("c"), from: .all, since: later), "too long ago to be known")
        #expect(
            removals.hasRemoved(b, from: .disk, since: recent) && !removals.hasRemoved(a, from: .all, since: recent))
    }
}

/// A transformer that opens `arrival` when it is called and waits until `end` opens.
private struct WaitingTransformer: ImageTransformer {
    let key = "waiting"
    let arrival = Gate()
    let end = Gate()

    func transform(_ image: Image) -> Image {
        arrival.open()
        end.wait()
        return image
    }
}
