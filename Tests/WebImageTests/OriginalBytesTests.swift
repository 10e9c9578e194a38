import HTTPTypes
import Synchronization
import Testing
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Originals that nobody makes a picture of: `data(for:)`, `bytes(for:)`, `keepOriginal(for:)`.
@Suite struct OriginalBytesTests {
    private let url = "http://pictures.test/a.png"
    private let folder: TemporaryFolder
    private let picture: [UInt8]
    /// A header that is right, and pixels that are not.
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

    @Test(arguments: [CachePolicy.noStore, .cacheFirst]) func policyAndAnswerSayWhatIsKept(
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
        // It was not decoded: else it would have failed, and nothing be kept.
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

    @Test func aFullCheckOfWhatMemoryHasBringsTheOriginalAllTheSame() async throws {
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

    /// A second reader once asked the origin again when the first one's bytes had come and nobody had looked yet whether they
    /// were a picture.
    @Test(arguments: [CachePolicy.cacheFirst, .cacheOnly]) func whoComesWhileAnOriginalIsLookedAtDoesNotAskForItAgain(
        _ policy: CachePolicy
    ) async throws {
        let bench = makeBench { $0.decodeThreads = 1 }
        bench.answer(url, with: picture, type: "image/png")
        // The one thread that could look at it is busy.
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

    @Test func halfAPictureIsNotKeptWhoeverWouldTakeIt() async throws {
        let bench = makeBench()
        let whole = try Fixture.jpeg(64, 64)
        bench.answer(url, with: Array(whole.prefix(whole.count - 100)))
        var request = waiting
        request.decoding.allowsPartial = true
        await #expect(throws: WebImageError.self) { try await bench.manager.keepOriginal(for: request, check: .full) }
        #expect(try await entry(bench) == nil)
    }

    @Test func whatIsNoPictureIsAnErrorAndNotKept() async throws {
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

    /// A serializer may want to keep less than what came: it has to be asked, and asking takes the picture.
    @Test func whereASerializerDecidesItIsAsked() async throws {
        let bench = makeBench {
            $0.cacheSerializer = CacheSerializer { image, _, _ throws(WebImageError) in try image.encoded(as: .bmp) }
        }
        bench.answer(url, with: picture, type: "image/png")
        #expect(try await bench.manager.data(for: ImageRequest(url)) == picture)
        #expect(try await entry(bench) == nil)
        _ = try await bench.manager.keepOriginal(for: waiting)
        #expect(try await entry(bench)?.metadata.format == .bmp)
    }

    @Test func aRemovalMeanwhileBeatsTheStore() async throws {
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

    /// The store may be announced long after somebody has begun to wait for it.
    @Test func itIsOnDiskWhenTheWaitEnds() async throws {
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
        // The header is read, and nobody can look at the rest.
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

    @Test func whatMayBeOldIsAskedAboutFirst() async throws {
        let bench = makeBench()
        let newer = try Fixture.png(31, 21)
        bench.transport.answer(
            url, .bytes(picture, contentType: "image/png", headers: [.eTag: "\"1\""]),
            .bytes(newer, contentType: "image/png", headers: [.eTag: "\"2\""]))
        _ = try await bench.manager.keepOriginal(for: waiting)
        var request = waiting
        request.caching.policy = .refresh
        let kept = try await bench.manager.keepOriginal(for: request)
        #expect(kept.source == .network && kept.header.size.width == 31)
        #expect(try await entry(bench)?.body == newer && bench.transport.hits(url) == 2)
    }

    // MARK: As they come

    @Test(arguments: [0..<10, 95..<205, 300..<Int.max, 1_000_000..<2_000_000, 7..<7])
    func aPartOfThemIsGivenAlone(_ range: Range<Int>) async throws {
        let bench = makeBench()
        bench.transport.answer(url, .bytes(picture, contentType: "image/png").inPieces(of: 100))
        let stream = try await bench.manager.bytes(for: ImageRequest(url))[range]
        let wanted = range.clamped(to: 0..<picture.count)
        var all: [UInt8] = []
        for try await piece in stream {
            #expect(piece.range.lowerBound == wanted.lowerBound + all.count && piece.range.count == piece.bytes.count)
            all += piece.bytes
        }
        #expect(all == Array(picture[wanted]) && stream.length?.bytes == picture.count)
    }

    @Test(arguments: [(5..<50, 20..<90, 20..<50), (20..<90, 0..<30, 20..<30), (5..<50, 60..<70, 0..<0)])
    func aPartOfAPartIsWhatBothHave(_ first: Range<Int>, _ second: Range<Int>, _ both: Range<Int>) async throws {
        let bench = makeBench()
        bench.transport.answer(url, .bytes(picture, contentType: "image/png"))
        var all: [UInt8] = []
        for try await piece in try await bench.manager.bytes(for: ImageRequest(url))[first][second] {
            all += piece.bytes
        }
        #expect(all == Array(picture[both]))
    }

    @Test func bytesComeInOrderAndAreKept() async throws {
        let bench = makeBench()
        bench.transport.answer(
            url, .bytes(picture, contentType: "image/png", headers: [.eTag: "\"1\""]).inPieces(of: 100))
        let stream = try await bench.manager.bytes(for: ImageRequest(url))
        #expect(stream.source == .network && stream.length?.bytes == picture.count)
        #expect(stream.head?.status == 200 && stream.head?.headers[.eTag] == "\"1\"")
        var all: [UInt8] = []
        for try await piece in stream {
            #expect(piece.range == all.count..<all.count + piece.bytes.count && !piece.bytes.isEmpty)
            all += piece.bytes
        }
        #expect(all == picture)
        #expect(try await entry(bench)?.body == picture)
    }

    @Test func letEachReaderHaveAllOfThem() async throws {
        let bench = makeBench()
        bench.answer(url, with: picture, type: "image/png")
        let stream = try await bench.manager.bytes(for: ImageRequest(url))
        for _ in 0..<2 {
            var all: [UInt8] = []
            for try await piece in stream { all += piece.bytes }
            #expect(all == picture)
        }
    }

    @Test func leavingTheBytesEndsTheTransfer() async throws {
        let bench = makeBench()
        let gate = Gate()
        bench.transport.answer(url, .bytes(picture, contentType: "image/png").held(by: gate, after: 30))
        do {
            let stream = try await bench.manager.bytes(for: ImageRequest(url))
            var iterator = stream.makeAsyncIterator()
            #expect(try await iterator.next()?.range.lowerBound == 0)
        }
        await bench.transport.waitForCancels(url)
        gate.open()
        #expect(try await entry(bench) == nil)
    }

    @Test func bytesThatBreakOffEndInTheError() async throws {
        let bench = makeBench()
        bench.transport.answer(url, .bytes(picture, contentType: "image/png").failing(after: 40))
        let stream = try await bench.manager.bytes(for: ImageRequest(url))
        var count = 0
        let error = await #expect(throws: WebImageError.self) {
            for try await piece in stream { count += piece.bytes.count }
        }
        #expect(count == 40 && error?.code == .connectionLost)
    }

    @Test func anOriginThatRefusesIsTheError() async throws {
        let bench = makeBench()
        bench.transport.answer(url, .status(403))
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.bytes(for: ImageRequest(url)) }
        #expect(error?.code == .badStatus && error?.status == 403)
    }

    /// Each waits for itself: the time of one ends the waits of both.
    @Test func theTimeHoldsForTwoReadersOfTheSameBytes() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        let gate = Gate()
        defer { gate.open() }
        bench.transport.answer(url, .bytes(picture, contentType: "image/png").held(by: gate, after: 30))
        var request = ImageRequest(url)
        request.timeout = .seconds(5)
        let stream = try await bench.manager.bytes(for: request)
        let readers = (0..<2).map { _ in
            Task { () -> WebImageError? in
                do { for try await _ in stream {} } catch { return error as? WebImageError }
                return nil
            }
        }
        clock.advance(by: .seconds(6))
        for reader in readers { #expect(await reader.value?.code == .deadlineExceeded) }
    }

    @Test func theTimeOfTheRequestHoldsForItsBytes() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        let gate = Gate()
        defer { gate.open() }
        bench.transport.answer(url, .bytes(picture, contentType: "image/png").held(by: gate, after: 30))
        var request = ImageRequest(url)
        request.timeout = .seconds(5)
        let stream = try await bench.manager.bytes(for: request)
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next()?.bytes.count == 30)
        let rest = Task { [iterator] in
            var iterator = iterator
            return try await iterator.next()
        }
        clock.advance(by: .seconds(6))
        let error = await #expect(throws: WebImageError.self) { try await rest.value }
        #expect(error?.code == .deadlineExceeded)
    }

    /// Once a client that took longer than the timeout got a part of the picture.
    @Test func theTimeCountsUntilTheTransferHasEnded() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        bench.transport.answer(url, .bytes(picture, contentType: "image/png"))
        var request = ImageRequest(url)
        request.timeout = .seconds(5)
        let stream = try await bench.manager.bytes(for: request)
        var whole: [UInt8] = []
        for try await piece in stream { whole += piece.bytes }
        clock.advance(by: .seconds(6))
        var again: [UInt8] = []
        for try await piece in stream { again += piece.bytes }
        #expect(whole == picture && again == picture)
    }

    // MARK: Headers

    @Test func aHintTellsTheFormatOfAHeaderToo() async throws {
        let bench = TestBench()
        let manager = ImageManager(
            ImageManager.Configuration(), coders: CoderRegistry([WhiteCoder()]), transport: bench.transport,
            clock: SystemClock.shared, files: PosixFileSystem())
        bench.answer(url, with: [1, 2, 3])
        var request = ImageRequest(url)
        request.caching.policy = .noStore
        request.decoding.formatHint = ImageFormat(rawValue: "white")
        #expect(try await manager.details(for: request).header.size.width == 2)
    }
}
