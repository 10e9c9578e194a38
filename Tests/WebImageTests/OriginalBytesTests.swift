import HTTPTypes
import Synchronization
import Testing
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Originals without a decoded picture: `data(for:)` and `keepOriginal(for:)`.
@Suite struct OriginalBytesTests {
    private let url = "http://pictures.test/a.png"
    private let folder: TemporaryFolder
    private let picture: [UInt8]
    /// A file with an intact header and damaged pixels.
    private let broken: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        picture = try Fixture.png(30, 20)
        broken = Fixture.damaged(picture)
    }

    private func makeBench(change: (inout ImageManager.Configuration) -> Void = { _ in }) -> TestBench {
        TestBench(disk: folder.path, change: change)
    }

    private func entry(_ bench: TestBench) async throws -> DiskEntry? {
        try await bench.entry(ImageRequest(url))
    }

    private var waiting: ImageRequest {
        var request = ImageRequest(url)
        request.caching.waitsForStore = true
        return request
    }

    // MARK: What is kept

    @Test func dataThatIsAPictureIsKept() async throws {
        let bench = makeBench()
        bench.answer(url, with: picture, type: "image/png")
        #expect(try await bench.manager.data(for: ImageRequest(url)) == picture)
        let entry = try #require(try await entry(bench))
        #expect(entry.body == picture && entry.metadata.format == .png && entry.metadata.url == url)
        #expect(try await bench.manager.image(for: ImageRequest(url)).source == .disk)
        #expect(bench.transport.hits(url) == 1)
    }

    @Test func dataThatIsNoPictureIsGivenAndNotKept() async throws {
        let bench = makeBench()
        bench.answer(url, with: Array("no picture at all, and long enough to tell".utf8), type: "text/plain")
        #expect(try await bench.manager.data(for: ImageRequest(url)).count == 42)
        #expect(try await entry(bench) == nil)
    }

    @Test(arguments: [CachePolicy.noStore, .cacheFirst]) func noStorePolicyAndNoStoreAnswersKeepNothing(
        policy: CachePolicy
    ) async throws {
        let bench = makeBench()
        let fields: HTTPFields = policy == .noStore ? [:] : [.cacheControl: "no-store"]
        bench.answer(url, with: picture, type: "image/png", fields: fields)
        var request = waiting
        request.caching.policy = policy
        let kept = try await bench.manager.keepOriginal(for: request)
        #expect(kept.header.size == PixelSize(width: 30, height: 20) && kept.source == .network)
        #expect(kept.timings.store == nil && kept.storeError == nil)
        #expect(try await entry(bench) == nil)
    }

    @Test func anOriginalIsKeptWithoutAPicture() async throws {
        let bench = makeBench()
        bench.answer(url, with: broken, type: "image/png")
        var request = waiting
        request.includesData = true
        let kept = try await bench.manager.keepOriginal(for: request)
        #expect(kept.timings.store != nil && kept.byteCount?.bytes == broken.count && kept.data == broken)
        #expect(kept.head?.status == 200 && kept.header.format == .png)
        #expect(try await entry(bench)?.body == broken)
        // The original was not decoded: decoding would have failed, and the original would not have been kept.
        bench.manager.shutDown()
        let other = makeBench()
        #expect(try await other.manager.keepOriginal(for: waiting).source == .disk)
        #expect(other.transport.hits(url) == 0)
    }

    @Test func aFullCheckDecodes() async throws {
        let bench = makeBench()
        bench.answer(url, with: broken, type: "image/png")
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.keepOriginal(for: waiting, check: .full)
        }
        #expect(error?.code == .badImageData)
        #expect(try await entry(bench) == nil)
        bench.answer(url, with: picture, type: "image/png")
        var again = waiting
        again.retriesFailed = true
        let kept = try await bench.manager.keepOriginal(for: again, check: .full)
        #expect(kept.timings.store != nil && kept.header.size.width == 30)
        #expect(bench.manager.memoryCache.count == 0)
    }

    #if TIFF
        /// The pages were once looked for in the bytes that a serializer had stored, so that every TIFF counted as
        /// damaged.
        @Test func aFullCheckLooksAtThePagesThatCame() async throws {
            let first = try Image(size: PixelSize(width: 6, height: 4)) { _ in }
            let bench = makeBench()
            let file = try await bench.manager.encode(
                first, andPages: [ImageRequest(data: picture, name: "b")], as: .tiff)
            bench.answer(url, with: file, type: "image/tiff")
            var request = waiting
            let png = picture
            request.caching.serializer = CacheSerializer { _, _, _ in png }
            let kept = try await bench.manager.keepOriginal(for: request, check: .full)
            #expect(kept.header.frameCount == 2 && kept.data == nil && bench.transport.hits(url) == 1)
            #expect(try await entry(bench)?.body == png)
        }
    #endif

    @Test func aFullCheckFetchesTheOriginalOfAPictureInMemory() async throws {
        let bench = makeBench()
        bench.answer(url, with: picture, type: "image/png")
        var shown = ImageRequest(url)
        shown.caching.storesOriginal = false
        _ = try await bench.manager.image(for: shown)
        #expect(try await entry(bench) == nil && bench.manager.memoryCache.count == 1)
        let kept = try await bench.manager.keepOriginal(for: waiting, check: .full)
        #expect(kept.source == .network && kept.timings.store != nil)
        #expect(try await entry(bench)?.body == picture)
    }

    /// A second reader once asked the origin again while the first reader's bytes had arrived but were not yet checked.
    @Test(arguments: [CachePolicy.cacheFirst, .cacheOnly]) func aReaderDuringTheCheckDoesNotAskTheOriginAgain(
        _ policy: CachePolicy
    ) async throws {
        let bench = makeBench { $0.decodeThreads = 1 }
        bench.answer(url, with: picture, type: "image/png")
        // The only decode thread, which would check the bytes, is busy.
        let (begun, gate) = (Gate(), Gate())
        bench.manager.loader.decoding.executor.run(.high) {
            begun.open()
            gate.wait()
        }
        await begun.opened()
        #expect(try await bench.manager.data(for: ImageRequest(url)) == picture)
        let request = ImageRequest(url) { $0.caching.policy = policy }
        let second = Task { try await bench.manager.data(for: request) }
        for _ in 0..<200 { await Task.yield() }
        gate.open()
        #expect(try await second.value == picture)
        #expect(bench.transport.hits(url) == 1)
    }

    @Test func aTruncatedPictureIsNotKeptEvenIfPartialOnesAreAllowed() async throws {
        let bench = makeBench()
        let whole = try Fixture.jpeg(64, 64)
        bench.answer(url, with: Array(whole.prefix(whole.count - 100)))
        var request = waiting
        request.decoding.allowsPartial = true
        await #expect(throws: WebImageError.self) { try await bench.manager.keepOriginal(for: request, check: .full) }
        #expect(try await entry(bench) == nil)
    }

    @Test func bytesThatAreNoPictureAreAnErrorAndNotKept() async throws {
        let bench = makeBench()
        bench.answer(url, with: Array("<html>this is not found</html>".utf8))
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.keepOriginal(for: waiting)
        }
        #expect(error?.code == .badImageData)
        #expect(try await entry(bench) == nil)
    }

    @Test func aBodyThatBreaksOffIsAnErrorAndNotKept() async throws {
        let bench = makeBench()
        bench.transport.answer(url, .bytes(picture, contentType: "image/png").failing(after: picture.count / 2))
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.keepOriginal(for: waiting)
        }
        #expect(error?.code == .connectionLost)
        #expect(try await entry(bench) == nil)
    }

    /// A serializer decides what is stored, and needs the decoded picture for that.
    @Test func keepOriginalStoresTheSerializersBytes() async throws {
        let bench = makeBench {
            $0.cacheSerializer = CacheSerializer { image, _, _ throws(WebImageError) in try image.encoded(as: .bmp) }
        }
        bench.answer(url, with: picture, type: "image/png")
        #expect(try await bench.manager.data(for: ImageRequest(url)) == picture)
        #expect(try await entry(bench) == nil)
        _ = try await bench.manager.keepOriginal(for: waiting)
        #expect(try await entry(bench)?.metadata.format == .bmp)
    }

    @Test func aRemovalDuringTheTransferBeatsTheStore() async throws {
        let bench = makeBench()
        let gate = Gate()
        bench.transport.answer(url, .bytes(picture, contentType: "image/png").held(by: gate, after: 20))
        let load = Task { try await bench.manager.data(for: ImageRequest(url)) }
        await bench.transport.waitForHits(url)
        try await bench.manager.cache.remove(ImageRequest(url))
        gate.open()
        #expect(try await load.value == picture)
        #expect(try await entry(bench) == nil)
    }

    /// A prefetched original that becomes visible while it arrives.
    @Test func loadsThatShareATransferStoreItsOriginalOnce() async throws {
        let bench = makeBench()
        let gate = Gate()
        bench.transport.answer(url, .bytes(picture, contentType: "image/png").held(by: gate, after: 20))
        let kept = Task { [waiting] in try await bench.manager.keepOriginal(for: waiting) }
        await bench.transport.waitForHits(url)
        let shown = Task { [waiting] in try await bench.manager.image(for: waiting) }
        #expect(await eventually { bench.manager.runningLoads > 0 })
        let read = Task { [waiting] in try await bench.manager.data(for: waiting) }
        for _ in 0..<1000 { await Task.yield() }
        gate.open()
        #expect(try await kept.value.storeError == nil)
        #expect(try await shown.value.storeError == nil)
        #expect(try await read.value == picture)
        #expect(try await entry(bench)?.body == picture)
        #expect(bench.manager.loader.originals.announcements == 1)
        #expect(bench.transport.hits(url) == 1)
    }

    /// The store may begin long after the caller has begun to wait for it.
    @Test func theOriginalIsOnDiskWhenTheWaitEnds() async throws {
        let files = FaultyFileSystem()
        let bench = TestBench(disk: folder.path, files: files) { $0.decodeThreads = 1 }
        let (body, decoder) = (Gate(), Gate())
        bench.transport.answer(url, .bytes(picture, contentType: "image/png").held(by: body, after: 40))
        let received = Guarded(0)
        let kept = Task { [waiting] in
            try await bench.manager.keepOriginal(for: waiting) { progress in
                received.withLock { $0 = progress.received.bytes }
            }
        }
        #expect(await eventually { received.withLock { $0 } == 40 })
        for _ in 0..<1000 { await Task.yield() }
        // The header is read; holding the decode thread prevents a check of the rest.
        let isHeld = Guarded(false)
        bench.manager.loader.decoding.executor.run(.low) {
            isHeld.withLock { $0 = true }
            decoder.wait()
        }
        #expect(await eventually { isHeld.withLock { $0 } })
        body.open()
        await bench.transport.waitForRunning(atMost: 0)
        for _ in 0..<1000 { await Task.yield() }
        let write = files.delay(.write)
        decoder.open()
        await write.made()
        write.release()
        #expect(try await kept.value.timings.store != nil)
    }

    @Test func progressIsTold() async throws {
        let bench = makeBench()
        bench.transport.answer(url, .bytes(picture, contentType: "image/png").inPieces(of: 50))
        let last = Guarded(0)
        _ = try await bench.manager.keepOriginal(for: waiting) { progress in
            last.withLock { $0 = max($0, progress.received.bytes) }
        }
        #expect(await eventually { last.withLock { $0 } == picture.count })
    }

    /// The origin answers first with the usual picture, and then with a newer one, 31 pixels wide.
    private func makeBenchOfTwoOriginals() throws -> (TestBench, newer: [UInt8]) {
        let bench = makeBench()
        let newer = try Fixture.png(31, 21)
        bench.transport.answer(
            url, .bytes(picture, contentType: "image/png", headers: [.eTag: "\"1\""]),
            .bytes(newer, contentType: "image/png", headers: [.eTag: "\"2\""]))
        return (bench, newer)
    }

    @Test func keepOriginalWithRefreshStoresTheNewerOriginal() async throws {
        let (bench, newer) = try makeBenchOfTwoOriginals()
        _ = try await bench.manager.keepOriginal(for: waiting)
        var request = waiting
        request.caching.policy = .refresh
        let kept = try await bench.manager.keepOriginal(for: request)
        #expect(kept.source == .network && kept.header.size.width == 31)
        #expect(try await entry(bench)?.body == newer && bench.transport.hits(url) == 2)
    }

    /// The newer original was once decoded in the background, though nobody had asked for a picture.
    @Test func refreshWithoutAPictureDecodesNothing() async throws {
        let (bench, newer) = try makeBenchOfTwoOriginals()
        _ = try await bench.manager.keepOriginal(for: waiting)
        var request = ImageRequest(url)
        request.caching.policy = .refresh
        #expect(try await bench.manager.data(for: request) == picture)
        let disk = try #require(bench.manager.diskCache)
        let key = request.originalKey
        #expect(await eventually { (try? disk.read(key))??.body == newer })
        await bench.manager.finishStores()
        // The background work ends by itself.
        let loader = bench.manager.loader
        #expect(await eventually { loader.table.withLock { $0.preliminaries == 0 && $0.pixelJobs.isEmpty } })
        #expect(bench.manager.memoryCache.count == 0 && bench.transport.hits(url) == 2)
    }

    /// Nobody could end it: the task that asked for the bytes has ended.
    @Test func backgroundWorkAfterAnAnswerWithoutAPictureIsCountedAndCanBeCancelled() async throws {
        let bench = makeBench()
        let gate = Gate()
        bench.transport.answer(
            url, .bytes(picture, contentType: "image/png", headers: [.eTag: "\"1\""]),
            .bytes(picture, contentType: "image/png", headers: [.eTag: "\"2\""]).held(by: gate))
        _ = try await bench.manager.keepOriginal(for: waiting)
        var request = ImageRequest(url)
        request.caching.policy = .refresh
        #expect(try await bench.manager.data(for: request) == picture)
        await bench.transport.waitForHits(url, 2)
        #expect(bench.manager.runningLoads == 1)
        bench.manager.cancelAll()
        #expect(await bench.transport.waitForCancels(url))
        #expect(await eventually { bench.manager.runningLoads == 0 })
        gate.open()
        // The next one begins anew, once the task of the first has noticed its end.
        #expect(await eventually { bench.manager.loader.table.withLock { $0.revalidated.isEmpty } })
        #expect(try await bench.manager.data(for: request) == picture)
        #expect(await bench.transport.waitForHits(url, 3))
    }

    /// The old picture once stayed in memory when its original was replaced without a picture being made.
    @Test func aPictureInMemoryIsNotServedAfterItsOriginalWasReplaced() async throws {
        let (bench, _) = try makeBenchOfTwoOriginals()
        let old = try await bench.manager.image(for: waiting).image.size
        var request = waiting
        request.caching.policy = .reload
        _ = try await bench.manager.keepOriginal(for: request)
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) == nil)
        let response = try await bench.manager.image(for: ImageRequest(url))
        #expect(response.source == .disk && response.image.size.width == 31 && old.width != 31)
    }

    /// Whether an original is stored is decided by work of low priority, for which a visible load once waited.
    @Test func aVisibleLoadRaisesTheWorkThatItWaitsFor() async throws {
        let bench = makeBench { $0.decodeThreads = 1 }
        bench.answer(url, with: picture, type: "image/png")
        let loader = bench.manager.loader
        let gate = Gate()
        loader.decoding.executor.run(.high) { gate.wait() }
        let before = loader.originals.announcements
        #expect(try await bench.manager.data(for: ImageRequest(url)) == picture)
        let isAnnounced = Guarded<Bool?>(nil)
        loader.decoding.executor.run(.normal) {
            isAnnounced.withLock { $0 = loader.originals.announcements > before }
        }
        var request = ImageRequest(url)
        request.priority = .high
        let load = Task { [request] in try await bench.manager.image(for: request).source }
        #expect(
            await eventually {
                let traces = loader.table.withLock { $0.bytesJobs.values.map(\.trace) }
                return traces.flatMap(\.marks).contains { if case .waitsForOther = $0.mark { true } else { false } }
            })
        gate.open()
        #expect(try await load.value == .disk && bench.transport.hits(url) == 1)
        #expect(await eventually { isAnnounced.withLock { $0 != nil } })
        #expect(isAnnounced.withLock { $0 } == true, "other work came before that for which the load waited")
    }

    /// The place of a caller who had left the queue for memory once held up the callers behind it.
    @Test func aCallerWhoLeavesHoldsUpNoOneBehind() async throws {
        let bench = makeBench { $0.download.memoryForAll = .mebibytes(1) }
        let other = "http://pictures.test/small.png"
        let (large, small) = (picture + [UInt8](repeating: 0, count: 600_000), picture)
        bench.answer(url, with: large, type: "image/png")
        bench.answer(other, with: small, type: "image/png")
        for url in [url, other] { _ = try await bench.manager.keepOriginal(for: ImageRequest(url)) }
        await bench.manager.finishStores()
        let memory = bench.manager.loader.decoding.inputMemory
        #expect(memory.take(700_000, .normal))
        let first = Task { try await bench.manager.data(for: ImageRequest(url)) }
        #expect(await eventually { memory.waitingCount == 1 })
        let second = Guarded(0)
        let isDone = Gate()
        let load = Task {
            let data = try await bench.manager.data(for: ImageRequest(other))
            second.withLock { $0 = data.count }
            isDone.open()
        }
        #expect(await eventually { memory.waitingCount == 2 })
        first.cancel()
        #expect(await eventually { isDone.isOpen })
        memory.give(700_000)
        try await load.value
        #expect(second.withLock { $0 } == small.count)
        await #expect(throws: WebImageError.self) { try await first.value }
    }

    // MARK: Headers

    @Test func aFormatHintIsUsedForDetails() async throws {
        let bench = TestBench(coders: CoderRegistry([WhiteCoder()]))
        bench.answer(url, with: [1, 2, 3])
        var request = ImageRequest(url)
        request.caching.policy = .noStore
        request.decoding.formatHint = ImageFormat(rawValue: "white")
        #expect(try await bench.manager.details(for: request).header.size.width == 2)
    }
}
