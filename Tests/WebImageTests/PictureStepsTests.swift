import Synchronization
import Testing
import WebImageCodecs
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Pictures made from the same bytes share their common steps.
@Suite struct PictureStepsTests {
    /// A transformer that adds a number to each red sample and counts its calls.
    private final class Adding: ImageTransformer {
        let key: String
        private let amount: UInt8
        private let isBroken: Bool
        private let calls = Guarded(0)

        init(_ key: String, _ amount: UInt8, isBroken: Bool = false) {
            (self.key, self.amount, self.isBroken) = (key, amount, isBroken)
        }

        var count: Int { calls.withLock { $0 } }
        var sum: Int { Int(amount) }

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

    /// Starts all loads before the bytes arrive, and returns their results.
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

    @Test func chainsShareTheirCommonFirstSteps() async throws {
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

    @Test func chainsOfDifferentSizesShareNoSteps() async throws {
        let one = Adding("one", 1)
        let (_, ends) = try await load(
            [request([one], width: 32), request([one], width: 16), request([], width: 32)],
            of: try Fixture.jpeg(64, 48))
        #expect(try ends.map { try $0.get().image.size.width } == [32, 16, 32])
        #expect(one.count == 2)
    }

    @Test func aFailedStepEndsOnlyTheChainsThatContainIt() async throws {
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

    @Test func framesGoThroughTheStepsOfTheirOwnRequest() async throws {
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

    @Test func aCancelledChainLeavesNoUnfinishedPicture() async throws {
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

    /// A key keeps the decode apart from the steps. Its text is the one that caches have always used.
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

    // MARK: - Pictures made of pictures

    private func manager(of bytes: [UInt8], _ type: String = "image/jpeg") -> TestBench {
        let bench = TestBench { $0.decodeThreads = 2 }
        bench.answer(url, with: bytes, type: type)
        return bench
    }

    @Test func aPictureInMemoryIsTheBeginningOfAChain() async throws {
        let bench = manager(of: try Fixture.jpeg(40, 30))
        let (one, two, three) = (Adding("one", 10), Adding("two", 20), Adding("three", 40))
        let plain = try red(.success(try await bench.manager.image(for: request([]))))
        let first = try await bench.manager.image(for: request([one]))
        #expect(first.source == .memory && first.timings.transform != nil)
        #expect(try red(.success(first)) == plain + 10)
        let second = try await bench.manager.image(for: request([one, two, three]))
        #expect(try red(.success(second)) == plain + 70 && one.count == 1 && two.count == 1 && three.count == 1)
        // Each load counts one miss, no matter what its picture was made from.
        #expect(bench.manager.memoryCache.statistics.misses == 3)
        // The picture is cached like any other.
        #expect(bench.manager.cachedImage(for: request([one, two, three])) != nil)
        #expect(bench.transport.requests.count == 1)
        // Another size, and another order, are other pictures.
        #expect(try await bench.manager.image(for: request([one], width: 20)).source != .memory)
        _ = try await bench.manager.image(for: request([two, one]))
        #expect(one.count == 3 && two.count == 2)
    }

    @Test func callersShareOneTransformOfAPictureInMemory() async throws {
        let bench = manager(of: try Fixture.jpeg(40, 30))
        _ = try await bench.manager.image(for: request([]))
        let (gate, calls) = (Gate(), Adding("counted", 1))
        let held = ImageRequest(url) { $0.transformers = [HeldStep(gate), calls] }
        let ledger = Ledger()
        for _ in 0..<5 { bench.manager.load(held) { ledger.take($0) } }
        // Meanwhile one caller leaves, and another loads a different size without waiting for the held step.
        bench.manager.load(held) { ledger.take($0) }.cancel()
        #expect(try await bench.manager.image(for: request([], width: 8)).image.size.width == 8)
        gate.open()
        _ = await ledger.finished(6)
        #expect(calls.count == 1 && ledger.failures == [.cancelled: 1])
        #expect(bench.manager.runningLoads == 0)
    }

    /// A caller that wants the bytes, too, once joined the others, which have none, and got nil.
    @Test func aCallerThatWantsTheBytesGetsThem() async throws {
        let bench = manager(of: try Fixture.jpeg(40, 30))
        _ = try await bench.manager.image(for: request([]))
        let gate = Gate()
        let step = HeldStep(gate)
        let held = ImageRequest(url) { $0.transformers = [step] }
        var withData = held
        withData.includesData = true
        let (plain, whole) = (Ledger(), Ledger())
        bench.manager.load(held) { plain.take($0) }
        await step.waitUntilReached()
        bench.manager.load(withData) { whole.take($0) }
        gate.open()
        #expect(try await plain.finished().get().data == nil)
        #expect(try await whole.finished().get().data == Fixture.jpeg(40, 30))
    }

    /// The transformer of one caller once kept the original of all from being stored.
    @Test func aBrokenStepDoesNotKeepTheOriginalFromBeingStored() async throws {
        let folder = try TemporaryFolder()
        for isAlone in [false, true] {
            let bench = TestBench(disk: folder.path)
            let network = Gate()
            let url = "\(url)?\(isAlone)"
            bench.transport.answer(
                url, .bytes(try Fixture.jpeg(64, 48), contentType: "image/jpeg").held(by: network, after: 20))
            let (broken, stored) = (Ledger(), Ledger())
            bench.manager.load(ImageRequest(url) { $0.transformers = [Adding("broken", 1, isBroken: true)] }) {
                broken.take($0)
            }
            if !isAlone {
                bench.manager.load(ImageRequest(url) { $0.caching.waitsForStore = true }) { stored.take($0) }
            }
            await bench.transport.waitForHits(url)
            network.open()
            await #expect(throws: WebImageError.self) { try await broken.finished().get() }
            if !isAlone { #expect(try await stored.finished().get().timings.store != nil) }
            await bench.manager.finishStores()
            let disk = try #require(bench.manager.diskCache)
            #expect(try await disk.contains(ImageRequest(url).originalKey) != isAlone)
        }
    }

    @Test func aBrokenStepOfAPictureInMemoryIsTheError() async throws {
        let bench = manager(of: try Fixture.jpeg(40, 30))
        _ = try await bench.manager.image(for: request([]))
        let broken = request([Adding("broken", 1, isBroken: true)])
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: broken) }
        #expect(error?.code == .transformFailed && bench.manager.cachedImage(for: broken) == nil)
    }

    /// A caller that comes while another caller's picture is being made continues from it, without a decode of its own.
    @Test func aLateCallerContinuesFromAnotherCallersPicture() async throws {
        let coder = CountingCoder()
        let bench = manager(of: [7, 40])
        let (gate, more) = (Gate(), Adding("more", 5))
        let step = HeldStep(gate)
        func request(_ steps: [any ImageTransformer]) -> ImageRequest {
            ImageRequest(url) {
                $0.transformers = steps
                $0.decoding.coder = coder
                $0.caching.query = []
            }
        }
        let (first, late, gone) = (Ledger(), Ledger(), Ledger())
        bench.manager.load(request([step])) { first.take($0) }
        await step.waitUntilReached()
        bench.manager.load(request([step, more])) { late.take($0) }
        bench.manager.load(request([step, more, more])) { gone.take($0) }.cancel()
        #expect(bench.manager.runningLoads >= 2)
        gate.open()
        let (one, two) = (try await first.finished(1).get(), try await late.finished(1).get())
        #expect(try red(.success(two)) == red(.success(one)) + 5)
        #expect(coder.decodes == 1 && step.count == 1 && more.count == 1 && gone.failures == [.cancelled: 1])
        #expect(two.source == .network && bench.manager.runningLoads == 0)
    }

    @Test func theFirstCallerMayCancelWhileOthersContinue() async throws {
        let bench = manager(of: try Fixture.jpeg(40, 30))
        let (gate, more) = (Gate(), Adding("more", 5))
        let step = HeldStep(gate)
        func request(_ steps: [any ImageTransformer]) -> ImageRequest {
            ImageRequest(url) { $0.transformers = steps }
        }
        let (first, late) = (Ledger(), Ledger())
        let token = bench.manager.load(request([step])) { first.take($0) }
        await step.waitUntilReached()
        bench.manager.load(request([step, more])) { late.take($0) }
        token.cancel()
        gate.open()
        _ = try await late.finished(1).get()
        #expect(first.failures == [.cancelled: 1] && step.count == 1 && more.count == 1)
        #expect(bench.manager.runningLoads == 0)
    }

    /// Random chains of up to three steps, in three sizes, some of them cancelled. Every caller is answered once, with
    /// the pixels of its own chain.
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func everyChainHasItsOwnPixels(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let bench = manager(of: [7, 40])
        let steps = [Adding("one", 1), Adding("ten", 10), Adding("fifty", 50)]
        let coder = GreyCoder()
        var ends: [(ledger: Ledger, sum: Int, width: Int)] = []
        for turn in 0..<150 {
            let chain = (0..<random.below(4)).map { _ in steps[random.below(3)] }
            let width = 10 * (1 + random.below(3))
            let forgets = random.below(4) == 0
            let request = ImageRequest(url) {
                $0.size = TargetSize(width: width)
                $0.transformers = chain
                $0.decoding.coder = coder
                if forgets { $0.caching.query = [] }
            }
            let ledger = Ledger()
            let token = bench.manager.load(request) { ledger.take($0) }
            if random.below(5) == 0 { token.cancel() }
            ends.append((ledger, 7 + chain.reduce(0) { $0 + $1.sum }, width))
            if turn % 10 == 9 { _ = await ends[random.below(ends.count)].ledger.finished() }
            if random.below(20) == 0 { bench.manager.memoryCache.removeAll() }
        }
        for end in ends {
            switch await end.ledger.finished() {
            case .success(let response):
                #expect(try red(.success(response)) == UInt8(truncatingIfNeeded: end.sum))
                #expect(response.image.size.width == end.width)
            case .failure(let error): #expect(error.code == .cancelled)
            }
            #expect(end.ledger.finishedCount == 1)
        }
        #expect(await eventually { bench.manager.runningLoads == 0 && bench.manager.loader.decoding.memory.used == 0 })
    }

    @Test func anAnimationsFramesGoThroughAllSteps() async throws {
        let bench = manager(of: BlinkingGIF.file(width: 4, height: 4, frames: 3), "image/gif")
        let (one, two) = (Adding("one", 10), Adding("two", 20))
        let plain = try await bench.manager.image(for: request([])).image
        let made = try await bench.manager.image(for: request([one, two])).image
        let animation = try #require(made.animation)
        for index in 0..<3 {
            let wanted = try await #require(plain.animation).frame(at: index).withPixels { $0[0] &+ 30 }
            #expect(try await animation.frame(at: index).withPixels { $0[0] } == wanted)
        }
    }
}

/// A transformer that waits at a gate. A test can wait until it is reached.
private final class HeldStep: ImageTransformer {
    let key = "held"
    private let gate: Gate
    private let reached = Gate()
    private let calls = Guarded(0)

    init(_ gate: Gate) { self.gate = gate }

    var count: Int { calls.withLock { $0 } }

    func waitUntilReached() async { await reached.opened() }

    func transform(_ image: Image) throws(WebImageError) -> Image {
        calls.withLock { $0 += 1 }
        reached.open()
        gate.wait()
        return image
    }
}

/// A coder that counts its decodes.
private final class CountingCoder: WholeImageCoder {
    let decodableFormats: Set<ImageFormat> = [ImageFormat(rawValue: "grey")]
    let key = "counting"
    private let calls = Guarded(0)

    var decodes: Int { calls.withLock { $0 } }

    func decode(_ bytes: [UInt8], _ options: DecodeOptions) throws(WebImageError) -> Image {
        calls.withLock { $0 += 1 }
        return try GreyCoder().decode(bytes, options)
    }
}
