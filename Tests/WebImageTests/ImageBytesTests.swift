import HTTPTypes
import Synchronization
import Testing
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// `bytes(for:)`, which delivers an original's bytes as they arrive.
@Suite struct ImageBytesTests {
    private let url = "http://pictures.test/a.png"
    private let folder: TemporaryFolder
    private let picture: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        picture = try Fixture.png(30, 20)
    }

    private func makeBench(change: (inout ImageManager.Configuration) -> Void = { _ in }) -> TestBench {
        TestBench(disk: folder.path, change: change)
    }

    private func entry(_ bench: TestBench) async throws -> DiskEntry? {
        try await bench.entry(ImageRequest(url))
    }

    @Test(arguments: [0..<10, 95..<205, 300..<Int.max, 1_000_000..<2_000_000, 7..<7])
    func aRangeGivesOnlyItsBytes(_ range: Range<Int>) async throws {
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

    /// Its bytes took the memory of originals that wait for a decoder, so that one slow reader held up all pictures.
    @Test func aSlowReaderOfAnOriginalOnDiskDoesNotHoldUpPictures() async throws {
        let (first, other) = (makeBench(), "http://pictures.test/b.png")
        for url in [url, other] {
            first.transport.answer(url, .bytes(picture, contentType: "image/png"))
            _ = try await first.manager.image(for: ImageRequest(url))
        }
        await first.manager.finishStores()
        let bench = makeBench { $0.download.memoryForAll = ByteCount(picture.count) }
        let stream = try await bench.manager.bytes(for: ImageRequest(url))
        var reader = stream.makeAsyncIterator()
        #expect(stream.source == .disk)
        #expect(try await bench.manager.image(for: ImageRequest(other)).source == .disk)
        var count = 0
        while let piece = try await reader.next() { count += piece.bytes.count }
        #expect(count == picture.count)
    }

    @Test(arguments: [(5..<50, 20..<90, 20..<50), (20..<90, 0..<30, 20..<30), (5..<50, 60..<70, 0..<0)])
    func aRangeOfARangeIsTheirIntersection(_ first: Range<Int>, _ second: Range<Int>, _ both: Range<Int>) async throws {
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

    @Test func eachReaderGetsAllBytes() async throws {
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

    /// Each reader has its own wait, and the request's timeout ends both.
    @Test func theTimeoutEndsBothReadersOfTheSameBytes() async throws {
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

    @Test func theTimeoutEndsAReaderThatWaitsForBytes() async throws {
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

    /// A client that read more slowly than the timeout once got only a part of the picture.
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
}
