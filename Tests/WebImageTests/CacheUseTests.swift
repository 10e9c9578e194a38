import HTTPTypes
import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// What a request lets the caches read and keep (SDWebImage's rows C-17 to C-20 and O-22).
@Suite struct CacheUseTests {
    private let url = "http://pictures.test/a.png"
    private let folder: TemporaryFolder
    private let body: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        body = try Fixture.png(64, 48)
    }

    private func makeBench(files: any FileSystem = PosixFileSystem(), fileThreads: Int = 4) -> TestBench {
        let bench = TestBench(disk: folder.path, files: files) { $0.fileThreads = fileThreads }
        bench.answer(url, with: body, type: "image/png", fields: [.eTag: "\"1\""])
        return bench
    }

    private func request(_ change: (inout ImageRequest.Caching) -> Void, counting: CountingTransformer? = nil)
        -> ImageRequest
    {
        var request = ImageRequest(url, size: TargetSize(width: 16))
        if let counting { request.transformers = [counting] }
        change(&request.caching)
        return request
    }

    @Test func aFinishedPictureOnDiskIsMadeOnce() async throws {
        let (first, second) = (CountingTransformer(), CountingTransformer())
        let bench = makeBench()
        let made = try await bench.manager.image(for: request({ $0.store = .all }, counting: first))
        await bench.manager.finishStores()
        #expect(made.source == .network && first.count == 1)
        #expect(bench.manager.diskCache?.usage.count == 2)
        let next = makeBench()
        let ledger = Ledger()
        let again = request({ $0.store = .all }, counting: second)
        for _ in 0..<20 { next.manager.load(again) { ledger.take($0) } }
        let found = try await ledger.finished(20).get()
        // A caller that is answered first may have found the picture in memory after another caller's read.
        let sources = ledger.responses.map(\.source)
        #expect(sources.contains(.disk) && sources.allSatisfy { $0 == .disk || $0 == .memory })
        #expect(found.image.size == made.image.size && second.count == 0)
        #expect(ledger.failures.isEmpty && next.transport.requests.isEmpty)
        #expect(next.manager.cachedImage(for: again) != nil)
        // All twenty share one read of the picture, but each checks that the original is still the same.
        #expect(next.manager.diskCache?.statistics.hits ?? 0 <= 20 + 1)
        #expect(try #require(PixelComparison(found.image, made.image)).differingPixels == 0)
    }

    /// With the policy `protocol`, every load once encoded and wrote the picture, and none looked for it.
    @Test func aFreshFinishedPictureOnDiskIsMadeOnceUnderTheRulesOfHTTP() async throws {
        for (control, isFresh) in [("max-age=600", true), ("no-cache", false)] {
            let url = "http://pictures.test/\(control).png"
            let (first, second) = (CountingTransformer(), CountingTransformer())
            func request(_ counting: CountingTransformer) -> ImageRequest {
                var request = ImageRequest(url, size: TargetSize(width: 16))
                request.transformers = [counting]
                (request.caching.policy, request.caching.store) = (.protocol, .all)
                return request
            }
            func makeBench() -> TestBench {
                let bench = TestBench(disk: folder.path)
                bench.answer(url, with: body, type: "image/png", fields: [.eTag: "\"1\"", .cacheControl: control])
                return bench
            }
            let bench = makeBench()
            #expect(try await bench.manager.image(for: request(first)).source == .network && first.count == 1)
            await bench.manager.finishStores()
            let next = makeBench()
            let found = try await next.manager.image(for: request(second))
            #expect(second.count == (isFresh ? 0 : 1) && next.transport.requests.isEmpty == isFresh)
            #expect(found.image.size.width == 16 && (found.source == .disk) == isFresh)
            if isFresh { #expect(next.manager.cachedImage(for: request(second)) != nil) }
        }
    }

    /// A pool that decodes faster than it encodes once gathered bitmaps without limit.
    @Test func aFinishedPictureIsNotStoredWhileTooManyWaitToBeEncoded() async throws {
        let bench = makeBench()
        let memory = bench.manager.loader.unencoded.admission
        /// The number of entries on disk after a load of that width.
        func store(_ width: Int, waits: Bool = false) async throws -> Int? {
            var request = request {
                $0.store = .all
                $0.waitsForStore = waits
            }
            request.size = TargetSize(width: width)
            let response = try await bench.manager.image(for: request)
            #expect(response.image.size.width == width && bench.manager.cachedImage(for: request) != nil)
            await bench.manager.finishStores()
            return bench.manager.diskCache?.usage.count
        }
        memory.charge(128 << 20)
        #expect(try await store(16) == 1, "only the original")
        #expect(try await store(8, waits: true) == 2, "somebody waits for it")
        memory.give(128 << 20)
        #expect(await eventually { memory.used == 0 })
        #expect(try await store(4) == 3)
        #expect(await eventually { memory.used == 0 })
    }

    /// A picture that the program stored was once never found under another size.
    @Test func aStoredPictureIsServedForAnInexactSize() async throws {
        let bench = makeBench()
        let stored = request { _ in }
        // A picture that was decoded knows the size of its original.
        let picture = try await bench.manager.image(for: request { $0.policy = .noStore }).image
        try await bench.manager.cache.store(picture, for: stored, in: .memory)
        var other = stored
        other.size = TargetSize(width: 12)
        #expect(bench.manager.cachedImage(for: other) == nil)
        other.caching.sizePrecision = .inexact
        #expect(bench.manager.cachedImage(for: other)?.size.width == 16)
    }

    @Test func anInexactSizeIsServedByAnotherSizeInMemory() async throws {
        let bench = makeBench()
        func ask(_ width: Int, _ fit: ImageFit = .contain, _ precision: SizePrecision = .inexact) async throws -> (
            ImageSource, Int
        ) {
            var request = ImageRequest(url, size: TargetSize(width: width, height: width * 3 / 4, fit: fit))
            request.caching.sizePrecision = precision
            let response = try await bench.manager.image(for: request)
            await bench.manager.finishStores()
            return (response.source, response.image.size.width)
        }
        #expect(try await ask(32) == (.network, 32))
        #expect(try await ask(20) == (.memory, 32), "at most twice as large")
        #expect(try await ask(20, .contain, .exact) == (.disk, 20))
        #expect(try await ask(12) == (.memory, 20), "the smallest that will do")
        #expect(try await ask(40) == (.disk, 40), "none is large enough")
        #expect(try await ask(8) == (.disk, 8), "all are too large")
        var turned = ImageRequest(url, size: TargetSize(width: 20, height: 15))
        (turned.caching.sizePrecision, turned.decoding.keepsBitDepth) = (.inexact, true)
        #expect(bench.manager.cachedImage(for: turned) == nil, "it is made in another way")
        bench.manager.downloader[header: .authorization] = "Bearer a"
        #expect(try await ask(20) == (.network, 20), "somebody else asks")
    }

    @Test func aFinishedPictureOfAnOldOriginalIsMadeAnew() async throws {
        let bench = makeBench()
        _ = try await bench.manager.image(for: request { $0.store = .all })
        await bench.manager.finishStores()
        let newer = try Fixture.png(32, 48)
        bench.answer(url, with: newer, type: "image/png", fields: [.eTag: "\"2\""])
        var reload = ImageRequest(url)
        reload.caching.policy = .reload
        _ = try await bench.manager.image(for: reload)
        await bench.manager.finishStores()
        let next = makeBench()
        let found = try await next.manager.image(for: request { $0.store = .all })
        #expect(found.source == .disk && found.image.size == PixelSize(width: 16, height: 24))
        #expect(next.transport.requests.isEmpty)
    }

    @Test func withoutAnOriginalTheFinishedPictureIsEnough() async throws {
        let small = request {
            $0.store = .all
            $0.storesOriginal = false
        }
        let bench = makeBench()
        _ = try await bench.manager.image(for: small)
        await bench.manager.finishStores()
        #expect(bench.manager.diskCache?.usage.count == 1)
        let next = makeBench()
        #expect(try await next.manager.image(for: small).source == .disk)
        // The original is not on disk, and a request that stores no finished picture does not look for one.
        #expect(try await next.manager.image(for: ImageRequest(url)).source == .network)
    }

    @Test func aRequestMayBypassTheMemoryCache() async throws {
        let bench = makeBench()
        let untouched = request { ($0.query, $0.store) = ([], []) }
        _ = try await bench.manager.image(for: untouched)
        await bench.manager.finishStores()
        #expect(bench.manager.memoryCache.count == 0 && bench.manager.diskCache?.usage.count == 1)
        _ = try await bench.manager.image(for: request { _ in })
        #expect(try await bench.manager.image(for: untouched).source == .disk)
        #expect(try await bench.manager.image(for: request { $0.readsOriginal = false }).source == .memory)
        bench.manager.memoryCache.removeAll()
        #expect(try await bench.manager.image(for: request { $0.readsOriginal = false }).source == .network)
    }

    @Test func aLoadMayWaitUntilItsOriginalIsStored() async throws {
        let bench = makeBench()
        for number in 0..<20 {
            let url = "http://pictures.test/\(number)"
            bench.answer(url, with: body, type: "image/png")
            var request = ImageRequest(url)
            request.caching.waitsForStore = true
            _ = try await bench.manager.image(for: request)
            #expect(try await bench.manager.diskCache?.read(request.originalKey) != nil)
        }
    }

    /// Such callers had no job any more, so `cancelAll` once did not find them.
    @Test func cancelAllEndsCallersThatWaitForTheStore() async throws {
        let files = FaultyFileSystem()
        let (bench, write, ledger) = (makeBench(files: files), files.delay(.write), Ledger())
        let request = request { $0.waitsForStore = true }
        bench.manager.load(request) { ledger.take($0) }
        #expect(
            await eventually { bench.manager.cachedImage(for: request) != nil && bench.manager.runningLoads == 0 })
        bench.manager.cancelAll()
        _ = await ledger.finished()
        #expect(ledger.failures == [.cancelled: 1])
        write.release()
        await bench.manager.finishStores()
        #expect(ledger.finishedCount == 1 && bench.manager.loader.table.withLock { $0.tokens.isEmpty })
    }

    /// A caller that waits for the store once had a load of its own, which decoded, transformed and stored again.
    @Test func callersThatWaitForTheStoreShareALoadWithOthers() async throws {
        let (bench, counting, network) = (makeBench(), CountingTransformer(), Gate())
        bench.transport.answer(url, .bytes(body, contentType: "image/png").held(by: network))
        let ledger = Ledger()
        for waits in [false, true, false] {
            bench.manager.load(request({ $0.waitsForStore = waits }, counting: counting)) { ledger.take($0) }
        }
        #expect(bench.manager.runningLoads == 1)
        network.open()
        _ = await ledger.finished(3)
        #expect(ledger.failures.isEmpty && counting.count == 1)
        #expect(ledger.responses.map { $0.timings.store != nil }.count { $0 } == 1)
    }

    @Test func aCancelDuringTheDiskLookupEndsWithCancelled() async throws {
        let files = FaultyFileSystem()
        let bench = makeBench(files: files, fileThreads: 1)
        let ledger = Ledger()
        // The delayed `open` keeps the lookup on disk running, however long this thread pauses between a load and its
        // cancel.
        let look = files.delay(.open)
        for _ in 0..<50 {
            let token = bench.manager.load(request { $0.store = .all }) { ledger.take($0) }
            token.cancel()
        }
        look.release()
        _ = await ledger.finished(50)
        #expect(ledger.failures == [.cancelled: 50] && bench.manager.runningLoads == 0)
    }

    /// A look-up once kept the priority with which its load had begun.
    @Test func aPriorityThatIsSetDuringTheDiskLookupCounts() async throws {
        var request = request { $0.store = .all }
        let first = makeBench()
        _ = try await first.manager.image(for: request)
        await first.manager.finishStores()
        let bench = makeBench(fileThreads: 1)
        let files = try #require(bench.manager.loader.ioExecutor as? ThreadPool)
        let disk = try #require(bench.manager.diskCache)
        let (gate, ledger) = (Gate(), Ledger())
        let hitsBefore = Guarded<Int?>(nil)
        let isHeld = Guarded(false)
        files.run(.high) {
            isHeld.withLock { $0 = true }
            gate.wait()
        }
        #expect(await eventually { isHeld.withLock { $0 } })
        let waiting = files.waitingCount
        request.priority = .low
        let token = bench.manager.load(request) { ledger.take($0) }
        #expect(await eventually { files.waitingCount > waiting })
        files.run(.normal) { hitsBefore.withLock { $0 = disk.statistics.hits } }
        token.setPriority(.high)
        gate.open()
        #expect(try await ledger.finished().get().source == .disk)
        #expect(await eventually { hitsBefore.withLock { $0 != nil } })
        #expect(hitsBefore.withLock { $0 } ?? 0 > 0, "other work came before the look-up")
    }

    /// A task that was cancelled during the lookup on disk was once answered twice.
    @Test func aTaskCancelledDuringTheDiskLookupIsAnsweredOnce() async throws {
        let bench = makeBench()
        let (manager, request) = (bench.manager, request { $0.store = .all })
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let task = Task { try? await manager.image(for: request) }
                    for _ in 0..<number % 7 { await Task.yield() }
                    task.cancel()
                    _ = await task.value
                }
            }
        }
        #expect(await eventually { manager.runningLoads == 0 })
    }

    @Test func aPictureInMemoryIsNotDecodedAgainForItsBytes() async throws {
        let (bench, counting) = (makeBench(), CountingTransformer())
        var request = request({ $0.waitsForStore = true }, counting: counting)
        let first = try await bench.manager.image(for: request)
        #expect(first.timings.store != nil && first.head?.status == 200 && first.head?.headers[.eTag] == "\"1\"")
        request.includesData = true
        let both = try await bench.manager.image(for: request)
        #expect(both.source == .memory && both.data == body && both.byteCount == ByteCount(body.count))
        #expect(both.image.storage === first.image.storage && counting.count == 1)
        // Without the bytes on disk, the picture is fetched and decoded again.
        try await bench.manager.cache.clear(.disk)
        let again = try await bench.manager.image(for: request)
        #expect(again.source == .network && again.data == body && counting.count == 2)
        bench.manager.memoryCache.removeAll()
        let read = try await bench.manager.image(for: request)
        #expect(read.source == .disk && read.head?.headers[.eTag] == "\"1\"" && read.timings.store == nil)
    }

    @Test func theManagersCacheFindsAndRemovesALoadedPicture() async throws {
        let bench = makeBench()
        let request = ImageRequest(url)
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        #expect(try await bench.manager.cache.contains(request) == .all)
        try await bench.manager.cache.remove(request)
        #expect(try await bench.manager.cache.contains(request) == [])
    }
}
