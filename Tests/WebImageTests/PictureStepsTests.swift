import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Pictures that are made of the same bytes share what they have in common.
@Suite struct PictureStepsTests {
    /// Adds a number to each red sample, and counts its calls.
    private final class Adding: ImageTransformer {
        let key: String
        private let amount: UInt8
        private let isBroken: Bool
        private let calls = Guarded(0)

        init(_ key: String, _ amount: UInt8, isBroken: Bool = false) {
            (self.key, self.amount, self.isBroken) = (key, amount, isBroken)
        }

        var count: Int { calls.withLock { $0 } }

        func transform(_ image: Image) throws(WebImageError) -> Image {
            calls.withLock { $0 += 1 }
            if isBroken { throw WebImageError(.transformFailed, "as asked for") }
            let source = image.withPixels { Array($0) }
            return try Image(size: image.size, alpha: .opaque) { bytes in
                for place in source.indices { bytes[place] = place % 4 == 0 ? source[place] &+ amount : source[place] }
            }
        }
    }

    private let url = "http://pictures.test/a.jpg"

    private func red(_ result: Result<ImageResponse, WebImageError>) throws -> UInt8 {
        try result.get().image.withPixels { $0[0] }
    }

    private func request(_ steps: [Adding], width: Int? = nil) -> ImageRequest {
        var request = ImageRequest(url)
        request.transformers = steps
        request.size = width.map { TargetSize(width: $0) }
        return request
    }

    /// Starts all loads before the first byte comes, and gives their ends.
    private func load(
        _ requests: [ImageRequest], of bytes: [UInt8], type: String = "image/jpeg"
    ) async throws -> (bench: TestBench, ends: [Result<ImageResponse, WebImageError>]) {
        let bench = TestBench()
        let network = Gate()
        bench.transport.answer(url, .bytes(bytes, contentType: type).held(by: network, after: 20))
        let ledgers = requests.map { request in
            let ledger = Ledger()
            bench.manager.load(request) { ledger.take($0) }
            return ledger
        }
        await bench.transport.waitForHits(url)
        network.open()
        var ends: [Result<ImageResponse, WebImageError>] = []
        for ledger in ledgers { ends.append(await ledger.finished()) }
        #expect(bench.transport.hits(url) == 1)
        return (bench, ends)
    }

    @Test func chainsThatBeginAlikeAreMadeOnceUpToWhereTheyPart() async throws {
        let (one, two, three) = (Adding("one", 1), Adding("two", 2), Adding("three", 4))
        let jpeg = try Fixture.jpeg(64, 48)
        let requests = [
            request([]), request([one]), request([one, two]), request([one, three]), request([one, two, three]),
        ]
        let (bench, ends) = try await load(requests, of: jpeg)
        let plain = try red(ends[0])
        #expect(try ends.map { try red($0) } == [plain, plain + 1, plain + 3, plain + 5, plain + 7])
        #expect(one.count == 1 && two.count == 1 && three.count == 2)
        for (request, end) in zip(requests, ends) {
            let response = try end.get()
            #expect(bench.manager.cachedImage(for: request)?.storage === response.image.storage)
            #expect((response.timings.transform == nil) == request.transformers.isEmpty)
        }
        #expect(await eventually { bench.manager.loader.decoding.memory.used == 0 })
    }

    @Test func sizesAreNotMixed() async throws {
        let one = Adding("one", 1)
        let (_, ends) = try await load(
            [request([one], width: 32), request([one], width: 16), request([], width: 32)],
            of: try Fixture.jpeg(64, 48))
        #expect(try ends.map { try $0.get().image.size.width } == [32, 16, 32])
        #expect(one.count == 2)
    }

    @Test func aStepThatFailsEndsOnlyThoseThatNeedIt() async throws {
        let (one, broken, three) = (Adding("one", 1), Adding("broken", 0, isBroken: true), Adding("three", 4))
        let (bench, ends) = try await load(
            [request([one, broken]), request([one, broken, three]), request([one, three])],
            of: try Fixture.jpeg(64, 48))
        for end in ends.prefix(2) {
            #expect(throws: WebImageError.self) { try end.get() }
            if case .failure(let error) = end { #expect(error.code == .transformFailed) }
        }
        #expect(try ends[2].get().image.size.width == 64)
        #expect(one.count == 1 && broken.count == 1 && three.count == 1)
        #expect(await eventually { bench.manager.loader.decoding.memory.used == 0 })
    }

    @Test func theFramesOfAnAnimationGoThroughTheStepsOfTheirOwn() async throws {
        let (one, two) = (Adding("one", 1), Adding("two", 2))
        let gif = BlinkingGIF.file(width: 4, height: 4, frames: 2)
        let (_, ends) = try await load([request([one]), request([one, two]), request([])], of: gif, type: "image/gif")
        var reds: [[UInt8]] = []
        for end in ends {
            let animation = try #require(try end.get().image.animation)
            var row: [UInt8] = []
            for index in 0..<2 { row.append(try await animation.frame(at: index).withPixels { $0[0] }) }
            reds.append(row)
        }
        #expect(reds[0] == reds[2].map { $0 &+ 1 } && reds[1] == reds[2].map { $0 &+ 3 })
    }

    @Test func nobodyIsAnsweredWithAPictureThatWasLeftHalfWay() async throws {
        let (one, two) = (Adding("one", 1), Adding("two", 2))
        let bench = TestBench()
        let network = Gate()
        bench.transport.answer(
            url, .bytes(try Fixture.jpeg(64, 48), contentType: "image/jpeg").held(by: network, after: 20))
        let (left, stays) = (Ledger(), Ledger())
        let token = bench.manager.load(request([one, two])) { left.take($0) }
        bench.manager.load(request([one])) { stays.take($0) }
        await bench.transport.waitForHits(url)
        token.cancel()
        network.open()
        _ = try await stays.finished().get()
        #expect(bench.manager.cachedImage(for: request([one, two])) == nil && two.count == 0)
    }

    /// A key tells the decode from the steps, and its text what caches have known it by.
    @Test func aKeyHasADecodePartAndSteps() {
        var recipe = PictureRecipe()
        recipe.size = TargetSize(width: 40)
        recipe.transformers = [Adding("one", 1), Adding("t3:x;", 2)]
        let key = PictureKey(recipe)
        #expect(key.decode == "g1:2;s4:40x0;" && key.steps == ["one", "t3:x;"])
        #expect(key.text == "g1:2;s4:40x0;t3:one;t5:t3:x;;")
        recipe.transformers = []
        #expect(PictureKey(recipe) == PictureKey(decode: key.decode))
    }
}
