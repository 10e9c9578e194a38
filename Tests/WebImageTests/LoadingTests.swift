import Foundation
import HTTPTypes
import Synchronization
import Testing
import WebImage
import WebImageSystem
import WebImageTesting

@Suite struct LoadingTests {
    private let url = "http://pictures.test/a.jpg"

    @Test func aPictureIsLoadedFromTheNetworkThenFromMemory() async throws {
        let bench = TestBench()
        bench.answer(url, with: try Fixture.jpeg(64, 48))
        let request = ImageRequest(url)
        #expect(bench.manager.cachedImage(for: request) == nil)
        let first = try await bench.manager.image(for: request)
        #expect(first.source == .network && first.image.size == PixelSize(width: 64, height: 48))
        #expect(first.header?.format == .jpeg)
        let second = try await bench.manager.image(for: request)
        #expect(second.source == .memory && second.image.size == first.image.size)
        #expect(bench.manager.cachedImage(for: request) != nil)
        #expect(bench.transport.hits(url) == 1)
    }

    /// A hop to another thread costs more than all the work before the request for bytes.
    @MainActor @Test func aLoadBeginsOnTheThreadOfItsCaller() async throws {
        let bench = TestBench()
        let picture = try Fixture.jpeg(16, 12)
        // The thread of the main actor may change at each suspension, but not before the first.
        @Sendable func here() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }
        let begins = Guarded<[ObjectIdentifier]>([])
        bench.transport.answerAll { _ in
            begins.withLock { $0.append(here()) }
            return .bytes(picture, contentType: "image/jpeg")
        }
        let caller = here()
        _ = try await bench.manager.image(for: ImageRequest(url))
        #expect(begins.withLock { $0 } == [caller])
    }

    @Test func twoHundredCallersOfThreeSizesShareOneTransferAndThreeDecodes() async throws {
        let bench = TestBench()
        let gate = Gate()
        bench.transport.answer(url, .bytes(try Fixture.jpeg(640, 480), contentType: "image/jpeg").held(by: gate))
        let sizes = [TargetSize(width: 320), TargetSize(width: 80), nil]
        let counter = CountingTransformer()
        let manager = bench.manager
        let answers = await withTaskGroup(of: PixelSize?.self) { group in
            for index in 0..<200 {
                var request = ImageRequest(url)
                request.size = sizes[index % 3]
                request.transformers = [counter]
                group.addTask { [request] in (try? await manager.image(for: request))?.image.size }
            }
            await bench.transport.waitForHits(url, 1)
            gate.open()
            var answers: [PixelSize?: Int] = [:]
            for await size in group { answers[size, default: 0] += 1 }
            return answers
        }
        #expect(
            answers == [
                PixelSize(width: 320, height: 240): 67, PixelSize(width: 80, height: 60): 67,
                PixelSize(width: 640, height: 480): 66,
            ])
        #expect(bench.transport.hits(url) == 1)
        #expect(counter.count == 3)
        #expect(manager.runningLoads == 0)
    }

    @Test func whenAllButOneCancelTheLastStillGetsThePicture() async throws {
        let bench = TestBench()
        let gate = Gate()
        bench.transport.answer(url, .bytes(try Fixture.jpeg(64, 48), contentType: "image/jpeg").held(by: gate))
        let manager = bench.manager
        let request = ImageRequest(url)
        let leaving = Ledger()
        let tokens = (0..<199).map { _ in manager.load(request) { leaving.take($0) } }
        let staying = Ledger()
        manager.load(request) { staying.take($0) }
        await bench.transport.waitForHits(url, 1)
        for token in tokens { token.cancel() }
        for token in tokens { token.cancel() }
        #expect(leaving.failures == [.cancelled: 199])
        gate.open()
        let result = await staying.finished()
        #expect(try result.get().image.size == PixelSize(width: 64, height: 48))
        #expect(leaving.finishedCount == 199 && staying.finishedCount == 1)
        #expect(bench.transport.cancels(url) == 0)
    }

    @Test func whenAllCancelTheTransferStops() async throws {
        let bench = TestBench()
        bench.transport.answer(
            url, .bytes(try Fixture.jpeg(64, 48), contentType: "image/jpeg").held(by: Gate(), after: 100))
        let manager = bench.manager
        let url = self.url
        let tasks = (0..<20).map { _ in Task { try await manager.image(for: ImageRequest(url)) } }
        await bench.transport.waitForHits(url, 1)
        for task in tasks { task.cancel() }
        for task in tasks {
            let error = await #expect(throws: WebImageError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
        await bench.transport.waitForCancels(url, 1)
        #expect(manager.runningLoads == 0)
    }

    @Test func aTaskThatWasCancelledBeforeItBeganGetsCancelled() async throws {
        let bench = TestBench()
        bench.answer(url, with: try Fixture.jpeg(8, 8))
        let (manager, url) = (bench.manager, url)
        let gate = Gate()
        let task = Task {
            await gate.opened()
            return try await manager.image(for: ImageRequest(url))
        }
        task.cancel()
        gate.open()
        let error = await #expect(throws: WebImageError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func oneFailureAnswersEveryCallerOnce() async throws {
        let bench = TestBench()
        let gate = Gate()
        bench.transport.answer(url, .status(404).held(by: gate))
        let ledger = Ledger()
        for _ in 0..<50 { bench.manager.load(ImageRequest(url)) { ledger.take($0) } }
        await bench.transport.waitForHits(url, 1)
        gate.open()
        _ = await ledger.finished(50)
        #expect(ledger.failures == [.badStatus: 50] && ledger.finishedCount == 50)
    }

    #if SVG
        private static let ofCutSVG = WebImageError.Code.truncatedData
    #else
        private static let ofCutSVG = WebImageError.Code.formatNotBuilt
    #endif

    @Test func bytesThatAreNoPictureAreBadImageDataWithACause() async throws {
        let bench = TestBench()
        let cases: [(String, [UInt8], WebImageError.Code)] = [
            ("html", Array("<!doctype html><p>no</p>".utf8), .unknownFormat), ("empty", [], .unknownFormat),
            ("cut.svg", Array("<svg xmlns='x'>".utf8), Self.ofCutSVG),
        ]
        for (name, bytes, cause) in cases {
            let url = "http://pictures.test/\(name)"
            bench.answer(url, with: bytes)
            let error = await #expect(throws: WebImageError.self) {
                try await bench.manager.image(for: ImageRequest(url))
            }
            #expect(error?.code == .badImageData, "\(name)")
            let found = (error?.cause as? WebImageError)?.code
            #expect(found == cause, "\(name): \(String(describing: found))")
            #expect(error?.location == url)
        }
    }

    /// A transfer that broke off after some bytes was once told as a file that is no picture.
    @Test(arguments: [1, 3, 7]) func aBodyThatBreaksOffAtOnceIsNoUnknownFormat(length: Int) async throws {
        let bench = TestBench()
        let url = "http://pictures.test/a.png"
        bench.transport.answer(
            url, .bytes(try Fixture.png(8, 8), contentType: "image/png").failing(after: length))
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: ImageRequest(url)) }
        #expect(error?.code == .connectionLost)
    }

    @Test func aTimeoutEndsOneCallersWaitOnly() async throws {
        let clock = ManualClock()
        let transport = FakeTransport()
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(
            configuration, coders: .standard, transport: transport, clock: clock, files: FaultlessFiles.posix)
        let gate = Gate()
        transport.answer(url, .bytes(try Fixture.jpeg(8, 8), contentType: "image/jpeg").held(by: gate))
        var hasty = ImageRequest(url)
        hasty.timeout = .seconds(2)
        let (early, late) = (Ledger(), Ledger())
        manager.load(hasty) { early.take($0) }
        manager.load(ImageRequest(url)) { late.take($0) }
        await transport.waitForHits(url, 1)
        clock.advance(by: .seconds(3))
        await #expect(throws: WebImageError.self) { try await early.finished().get() }
        #expect(early.failures == [.deadlineExceeded: 1])
        #expect(throws: WebImageError.self) { try early.result?.get() }
        guard case .failure(let error)? = early.result else { return }
        #expect(error.location == url)
        gate.open()
        _ = try await late.finished().get()
    }

    @Test func eventsTellProgressAndEndOnce() async throws {
        let bench = TestBench()
        bench.transport.answer(url, .bytes(try Fixture.jpeg(256, 256), contentType: "image/jpeg").inPieces(of: 512))
        var finished = 0
        for await event in bench.manager.events(for: ImageRequest(url)) {
            switch event {
            case .progress(let progress):
                #expect(finished == 0)
                #expect(progress.received.bytes > 0)
            case .preview(let image): #expect(image.info.isPartial)
            case .cached: Issue.record("nothing is cached")
            case .finished(let result):
                finished += 1
                #expect(try result.get().source == .network)
            }
        }
        #expect(finished == 1)
    }

    @Test func leavingTheEventsCancelsTheLoad() async throws {
        let bench = TestBench()
        bench.transport.answer(
            url, .bytes(try Fixture.jpeg(64, 64), contentType: "image/jpeg").held(by: Gate(), after: 200))
        for await event in bench.manager.events(for: ImageRequest(url)) {
            if case .progress = event { break }
        }
        await bench.transport.waitForCancels(url, 1)
        #expect(bench.manager.runningLoads == 0)
    }

    @Test func shuttingDownAnswersEveryone() async throws {
        let bench = TestBench()
        bench.transport.answer(url, .bytes([1], contentType: "image/jpeg").held(by: Gate()))
        let ledger = Ledger()
        bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        await bench.transport.waitForHits(url, 1)
        bench.manager.shutDown()
        #expect(ledger.failures == [.shutDown: 1])
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: ImageRequest(url)) }
        #expect(error?.code == .shutDown)
    }
}
