import HTTPTypes
import Synchronization
import Testing
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Hundreds of callers that start, change and cancel loads from several threads at once. A failing seed can be run
/// again alone, but the threads interleave differently each time.
@Suite(.serialized) struct LoadStormTests {
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func everyCallerGetsOneLastEventAndNothingIsLeft(seed: UInt64) async throws {
        let storm = try Storm(seed: seed)
        try await storm.rage()
        weak let loader = storm.manager?.loader
        weak let downloader = storm.manager?.downloader
        #expect(storm.books.allSatisfy { $0.isFair }, "a caller without one last event")
        #expect(storm.manager?.runningLoads == 0)
        #expect(await eventually { storm.manager?.loader.decoding.memory.used == 0 }, "memory was not given back")
        #expect(await eventually { storm.manager?.downloader.counters.running == 0 })
        storm.release()
        #expect(await eventually { storm.livingRequests == 0 }, "a job or a session lives on")
        #expect(await eventually { loader == nil && downloader == nil }, "a session, a token or a transfer lives on")
    }

    @Test func aCallerThatJoinsDuringACacheMissIsAnswered() async throws {
        let folder = try TemporaryFolder()
        for _ in 0..<50 {
            let bench = TestBench(disk: folder.path)
            let ledger = Ledger()
            for side in 1...40 {
                var request = ImageRequest("http://pictures.test/none")
                request.caching.policy = .cacheOnly
                request.size = TargetSize(width: side)
                bench.manager.load(request) { ledger.take($0) }
            }
            _ = await ledger.finished(40)
            #expect(ledger.failures == [.cacheMiss: 40])
        }
    }

    @Test func aCallMayStartAndCancelLoads() async throws {
        let bench = TestBench()
        bench.transport.answer(
            "http://pictures.test/a", .bytes(try Fixture.png(64, 64), contentType: "image/png").inPieces(of: 64))
        bench.answer("http://pictures.test/b", with: try Fixture.jpeg(8, 8))
        let (first, second) = (CallerBook(), CallerBook())
        let manager = bench.manager
        let token = TokenBox()
        let gate = Gate()
        token.token = manager.load(ImageRequest("http://pictures.test/a")) { event in
            first.take(event)
            if case .progress = event {
                gate.wait()
                token.token?.cancel()
                token.token?.cancel()
            }
            if case .finished = event {
                manager.load(ImageRequest("http://pictures.test/b")) { second.take($0) }
            }
        }
        gate.open()
        #expect(await eventually { second.isFair })
        #expect(first.isFair && first.code == .cancelled && second.code == nil)
    }

    @Test func whenTheStoreIsAwaitedTheAnswersOriginalIsThere() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        for number in 0..<40 {
            let url = "http://pictures.test/\(number)"
            bench.answer(url, with: try Fixture.jpeg(16, 16))
            let request = ImageRequest(url)
            _ = try await bench.manager.image(for: request)
            await bench.manager.finishStores()
            #expect(try await bench.manager.diskCache?.read(request.originalKey) != nil)
        }
    }

    @Test func aCancelledTaskDoesNotWaitForBytesThatOthersWantToo() async throws {
        let bench = TestBench { $0.download.deadlines.firstByte = nil }
        let url = "http://pictures.test/a"
        let gate = Gate()
        bench.transport.answer(url, .bytes(try Fixture.jpeg(64, 48), contentType: "image/jpeg").held(by: gate))
        let (manager, staying) = (bench.manager, Ledger())
        manager.load(ImageRequest(url)) { staying.take($0) }
        await bench.transport.waitForHits(url, 1)
        let bytes = Task { try await manager.data(for: ImageRequest(url)) }
        let details = Task { try await manager.details(for: ImageRequest(url)) }
        bytes.cancel()
        details.cancel()
        let first = await #expect(throws: WebImageError.self) { try await bytes.value }
        let second = await #expect(throws: WebImageError.self) { try await details.value }
        #expect(first?.code == .cancelled && second?.code == .cancelled)
        gate.open()
        _ = try await staying.finished().get()
    }

    @Test func requestsThatDecodeDifferentlyShareATransferButNoRows() async throws {
        let bench = TestBench()
        let url = "http://pictures.test/deep"
        let gate = Gate()
        let deep = try SamplePictures.deepGradient(PixelSize(width: 64, height: 48)).encoded(as: .png)
        bench.transport.answer(url, .bytes(deep, contentType: "image/png").held(by: gate))
        let plain = ImageRequest(url)
        var kept = plain
        kept.decoding.keepsBitDepth = true
        var strict = plain
        strict.decoding.limits.pixels = 100
        var huge = plain
        huge.size = TargetSize(width: 1 << 36, height: 1 << 36, fit: .fill, upscale: true)
        let ledgers = [plain, kept, strict, huge].map { request in
            let ledger = Ledger()
            bench.manager.load(request) { ledger.take($0) }
            return ledger
        }
        await bench.transport.waitForHits(url, 1)
        gate.open()
        #expect(try await ledgers[0].finished().get().image.layout == .rgba8)
        #expect(try await ledgers[1].finished().get().image.layout == .rgba16)
        for ledger in ledgers[2...] {
            _ = await ledger.finished()
            #expect(ledger.failures == [.badImageData: 1])
        }
        #expect(bench.transport.hits(url) == 1)
    }

    @Test func decodesThatWaitForMemoryAllGetTheirTurn() async throws {
        let bench = TestBench {
            $0.decodeMemory = 1
            $0.decodeThreads = 4
        }
        let manager = bench.manager
        let (leaving, staying) = (Ledger(), Ledger())
        for number in 0..<60 {
            let url = "http://pictures.test/\(number)"
            bench.answer(url, with: try Fixture.jpeg(200, 100, progressive: number % 3 == 0))
            let leaves = number % 5 == 4
            let token = manager.load(ImageRequest(url)) { leaves ? leaving.take($0) : staying.take($0) }
            if leaves { token.cancel() }
        }
        _ = await staying.finished(48)
        _ = await leaving.finished(12)
        #expect(staying.failures.isEmpty && leaving.finishedCount == 12)
        #expect(await eventually { manager.loader.decoding.memory.used == 0 })
    }

    @Test func anOrientationBehindThePixelsCountsForTheSize() async throws {
        let bench = TestBench()
        for orientation in Orientation.allCases where orientation != .up {
            let early = try SamplePicture(
                "card", "", width: 120, height: 80, as: .png, orientation: orientation,
                drawing: { size throws(WebImageError) in try SamplePictures.testCard(size) }
            ).encoded()
            let late = try #require(Self.movingOrientationToTheEnd(of: early))
            #expect(late != early)
            for size in [TargetSize(width: 30), TargetSize(width: 20, height: 20, fit: .cover), nil] {
                let images = try await [early, late].asyncMap { bytes in
                    var request = ImageRequest(data: bytes, name: "\(orientation)")
                    request.size = size
                    return try await bench.manager.image(for: request).image
                }
                #expect(images[0].size == images[1].size && images[1].info.orientation == .up)
                #expect(try #require(PixelComparison(images[0], images[1])).differingPixels == 0, "\(orientation)")
            }
        }
    }

    /// Puts the `eXIf` chunk of a PNG between its last `IDAT` and its `IEND`.
    static func movingOrientationToTheEnd(of png: [UInt8]) -> [UInt8]? {
        var (rest, moved, offset) = (Array(png[..<8]), [UInt8](), 8)
        while offset + 12 <= png.count {
            let length = png[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let chunk = png[offset..<offset + 12 + length]
            let type = chunk.dropFirst(4).prefix(4)
            if type.elementsEqual("eXIf".utf8) {
                moved = Array(chunk)
            } else {
                if type.elementsEqual("IEND".utf8) { rest += moved }
                rest += chunk
            }
            offset += 12 + length
        }
        return moved.isEmpty ? nil : rest
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
