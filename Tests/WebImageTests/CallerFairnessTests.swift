import Synchronization
import Testing
import WebImageCodecs
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// No caller waits for work that only another caller wants.
@Suite struct CallerFairnessTests {
    /// A transformer that blocks its thread until a gate opens.
    private struct HoldingTransformer: ImageTransformer {
        let begun = Gate()
        let gate = Gate()
        let key = "holding"

        func transform(_ image: Image) throws(WebImageError) -> Image {
            begun.open()
            gate.wait()
            return image
        }
    }

    /// A coder that blocks its thread at each frame until a gate opens.
    private final class HoldingCoder: ImageCoder, AnimationEncoder {
        static let format = ImageFormat(rawValue: "held")
        let begun = Gate()
        let gate = Gate()
        let frames = Atomic(0)
        let decodableFormats: Set<ImageFormat> = []
        let encodableFormats: Set<ImageFormat> = [format]

        func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder { throw WebImageError(.unsupportedFeature, "it only writes") }

        func makeAnimationEncoder(
            _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
        ) throws(WebImageError) -> (any AnimationEncoder)? { self }

        func add(_ frame: Image, delay: Duration) throws(WebImageError) {
            frames.add(1, ordering: .relaxed)
            begun.open()
            gate.wait()
        }

        func finish() throws(WebImageError) -> [UInt8] { [] }
    }

    private let url = "http://pictures.test/a.jpg"

    /// All pictures made from the same bytes were once finished on one thread, in order.
    @Test func aPlainPictureDoesNotWaitForTheTransformerOfAnother() async throws {
        let bench = TestBench { $0.decodeThreads = 2 }
        let (network, holding) = (Gate(), HoldingTransformer())
        bench.transport.answer(
            url, .bytes(try Fixture.jpeg(64, 48), contentType: "image/jpeg").held(by: network, after: 100))
        var transformed = ImageRequest(url)
        transformed.transformers = [holding]
        let (late, soon) = (Ledger(), Ledger())
        bench.manager.load(transformed) { late.take($0) }
        bench.manager.load(ImageRequest(url)) { soon.take($0) }
        await bench.transport.waitForHits(url)
        network.open()
        #expect(try await soon.finished().get().image.size.width == 64)
        await holding.begun.opened()
        #expect(late.finishedCount == 0)
        holding.gate.open()
        _ = try await late.finished().get()
        #expect(bench.transport.hits(url) == 1)
        #expect(await eventually { bench.manager.loader.decoding.memory.used == 0 })
    }

    /// A manager whose only decode thread is held by a picture's transformer.
    private func heldBench(_ ledger: Ledger) async throws -> (TestBench, HoldingTransformer) {
        let bench = TestBench { $0.decodeThreads = 1 }
        let holding = HoldingTransformer()
        bench.answer(url, with: try Fixture.jpeg(16, 16))
        var first = ImageRequest(url)
        first.transformers = [holding]
        bench.manager.load(first) { ledger.take($0) }
        await holding.begun.opened()
        return (bench, holding)
    }

    /// Encodes once queued behind all decodes that were there before.
    @Test func anEncodeGoesBeforeDecodesThatHaveNotBegun() async throws {
        let ledger = Ledger()
        let (bench, holding) = try await heldBench(ledger)
        for number in 0..<5 {
            let request = ImageRequest(data: try Fixture.jpeg(16, 16), name: "\(number)")
            bench.manager.load(request) { ledger.take($0) }
        }
        let manager = bench.manager
        // Runs on the executor that encodes use, and returns how many loads had finished by then.
        let loadsBefore = Task { try await manager.onDecodeExecutor { ledger.finishedCount } }
        let pool = try #require(bench.manager.loader.decoding.executor as? ThreadPool)
        // The five decodes and the encode.
        #expect(await eventually { pool.waitingCount == 6 })
        holding.gate.open()
        // The first load may have been answered, but none of the five has begun.
        #expect(try await loadsBefore.value <= 1)
        _ = await ledger.finished(6)
    }

    @Test func anEncodeThatIsCancelledWhileItWaitsIsNotDone() async throws {
        let ledger = Ledger()
        let (bench, holding) = try await heldBench(ledger)
        let manager = bench.manager
        let encode = Task { () -> WebImageError.Code? in
            do throws(WebImageError) {
                _ = try await manager.encode(Fixture.gradient(8, 8), as: .png)
                return nil
            } catch { return error.code }
        }
        let pool = try #require(bench.manager.loader.decoding.executor as? ThreadPool)
        #expect(await eventually { pool.waitingCount == 1 })
        encode.cancel()
        // The thread is still held: the answer does not wait for it.
        #expect(await encode.value == .cancelled)
        holding.gate.open()
        _ = try await ledger.finished().get()
    }

    /// A cancelled encode once went on to the animation's last frame.
    @Test func anEncodeThatIsCancelledEndsBeforeTheNextFrame() async throws {
        let coder = HoldingCoder()
        var configuration = ImageManager.Configuration()
        (configuration.disk, configuration.decodeThreads) = (nil, 1)
        let manager = ImageManager(configuration: configuration, coders: CoderRegistry([coder]))
        let animation = DrawnAnimation.image(
            (0..<5).map { _ in Fixture.gradient(8, 8) }, delay: .milliseconds(50))
        let encode = Task { () -> WebImageError.Code? in
            do throws(WebImageError) {
                _ = try await manager.encode(animation, as: HoldingCoder.format)
                return nil
            } catch { return error.code }
        }
        await coder.begun.opened()
        encode.cancel()
        #expect(await encode.value == .cancelled)
        coder.gate.open()
        // There is only one decode thread, so this returns after the encode.
        try await manager.onDecodeExecutor {}
        #expect(coder.frames.load(ordering: .relaxed) == 1)
    }

    /// Whole files were once read and held while they waited for a decoder: 622 MB where 64 were allowed.
    @Test func filesThatWaitForADecoderAreNotRead() async throws {
        let folder = try TemporaryFolder()
        let body = try Fixture.gradient(200, 150).encoded(as: .pnm)
        let count = 12
        func makeBench() -> TestBench {
            let bench = TestBench(disk: folder.path) {
                $0.decodeThreads = 1
                $0.download.memoryForAll = ByteCount(3 * body.count + 10_000)
            }
            for number in 0..<count {
                bench.answer("\(url)?\(number)", with: body, type: "image/x-portable-pixmap")
            }
            return bench
        }
        let before = makeBench()
        for number in 0..<count { _ = try await before.manager.image(for: ImageRequest("\(url)?\(number)")) }
        await before.manager.finishStores()

        let bench = makeBench()
        let holding = HoldingTransformer()
        var first = ImageRequest("\(url)?0")
        first.transformers = [holding]
        let (held, ledger) = (Ledger(), Ledger())
        bench.manager.load(first) { held.take($0) }
        await holding.begun.opened()
        for number in 1..<count {
            bench.manager.load(ImageRequest("\(url)?\(number)")) { ledger.take($0) }
        }
        let loader = bench.manager.loader
        // One file is being decoded and two more fit into the memory. The others wait before their bytes are read.
        #expect(await eventually { loader.decoding.inputMemory.waitingCount == count - 3 })
        #expect(loader.decoding.inputMemory.used <= bench.manager.downloader.configuration.memoryForAll.bytes)
        holding.gate.open()
        _ = await ledger.finished(count - 1)
        _ = try await held.finished().get()
        #expect(ledger.failures.isEmpty && ledger.responses.allSatisfy { $0.source == .disk })
        #expect(await eventually { loader.decoding.inputMemory.used == 0 })
    }

    /// When its manager was gone, such a load once stored the received bytes without asking the serializer.
    @Test func aLoadThatOutlivesItsManagerStoresWhatTheSerializerSays() async throws {
        let folder = try TemporaryFolder()
        let (network, transport) = (Gate(), FakeTransport())
        let body = try Fixture.jpeg(16, 16)
        transport.answer(url, .bytes(body, contentType: "image/jpeg").held(by: network, after: 10))
        let ledger = Ledger()
        var token: LoadToken?
        do {
            var configuration = ImageManager.Configuration()
            configuration.disk = DiskCacheConfiguration(directory: folder.path)
            configuration.cacheSerializer = CacheSerializer { _, _, _ in [1, 2, 3] }
            let manager = ImageManager(
                configuration, coders: .standard, transport: transport, clock: SystemClock.shared,
                files: PosixFileSystem())
            token = manager.load(ImageRequest(url)) { ledger.take($0) }
            await transport.waitForHits(url)
        }
        network.open()
        _ = try await ledger.finished().get()
        let loader = try #require(token?.loader)
        try await loader.originals.finish()
        let stored = try await loader.caches.own.diskCache?.read(ImageRequest(url).originalKey)
        #expect(stored?.body == [1, 2, 3])
    }
}
