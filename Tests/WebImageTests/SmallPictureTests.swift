import Synchronization
import Testing
import WebImage
import WebImageCore
import WebImageSystem
import WebImageTesting

/// A small picture whose bytes are in memory is decoded on the thread of the task that asks.
@Suite struct SmallPictureTests {
    /// Records the threads that make decoders.
    private final class Notes: Sendable {
        private let threads = Guarded<[UInt]>([])

        var all: [UInt] { threads.withLock { $0 } }

        func note() { threads.withLock { $0.append(CurrentThread.id) } }
    }

    /// A standard coder that records on which thread its decoders are made.
    private struct NotingCoder: ImageCoder {
        let coder: any ImageCoder
        let notes: Notes
        let timeDependsOnlyOnPixels: Bool

        var decodableFormats: Set<ImageFormat> { coder.decodableFormats }

        func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            notes.note()
            return try coder.makeDecoder(options, plan: plan)
        }
    }

    private struct Tint: ImageTransformer {
        let key = "tint"

        func transform(_ image: Image) throws(WebImageError) -> Image { image }
    }

    private let notes = Notes()

    private func request(
        _ bytes: [UInt8], as format: ImageFormat = .png, timeDependsOnlyOnPixels: Bool = true
    ) throws -> ImageRequest {
        var request = ImageRequest(data: bytes, name: "picture")
        let coder = try CoderRegistry.standard.encoder(for: format)
        request.decoding.coder = NotingCoder(
            coder: coder, notes: notes, timeDependsOnlyOnPixels: timeDependsOnlyOnPixels)
        return request
    }

    /// - Returns: for each decoder that was made, whether the calling thread made it.
    @concurrent private func decode(_ request: ImageRequest, with bench: TestBench = TestBench()) async throws -> [Bool]
    {
        let here = CurrentThread.id
        let response = try await bench.manager.image(for: request)
        let bytes = try #require(request.inlineData)
        let alone = try bytes.withUnsafeBytes { try CoderRegistry.standard.decode($0) }.image
        if request.size == nil {
            #expect(response.image.withPixels { Array($0) } == alone.withPixels { Array($0) })
        }
        return notes.all.map { $0 == here }
    }

    @Test func theCallingTaskDecodesASmallPicture() async throws {
        #expect(try await decode(request(Fixture.png(256, 256))) == [true])
        var scaled = try request(Fixture.jpeg(256, 192), as: .jpeg)
        scaled.size = TargetSize(width: 64)
        #expect(try await decode(scaled) == [true, true])
    }

    /// The main actor must not be blocked by decoding.
    @MainActor @Test func anActorDoesNotDecode() async throws {
        let here = CurrentThread.id
        let bench = TestBench()
        _ = try await bench.manager.image(for: request(Fixture.png(20, 20)))
        #expect(notes.all.count == 1 && notes.all[0] != here)
    }

    /// An event loop that runs tasks must not be blocked by decoding, either.
    @Test func aTaskOnAnotherExecutorDoesNotDecode() async throws {
        let bench = TestBench()
        let request = try request(Fixture.png(20, 20))
        let here = try await Task(executorPreference: EventLoop()) {
            let here = CurrentThread.id
            _ = try await bench.manager.image(for: request)
            return here
        }.value
        #expect(notes.all.count == 1 && notes.all[0] != here)
    }

    private final class EventLoop: TaskExecutor {
        private let thread = ThreadPool(name: "loop", width: 1)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            thread.run(.normal) { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test func aClosuresCallerDoesNotDecode() async throws {
        let bench = TestBench()
        let ended = Gate()
        let here = CurrentThread.id
        bench.manager.load(try request(Fixture.png(20, 20))) { event in
            if case .finished = event { ended.open() }
        }
        await ended.opened()
        #expect(notes.all.count == 1 && notes.all[0] != here)
    }

    /// If the header, once read, shows that the picture is too large, the decode begins again on another thread.
    @Test func morePixelsAreDecodedElsewhere() async throws {
        #expect(try await decode(request(Fixture.png(300, 300))) == [true, false])
    }

    @Test func severalScansAreDecodedElsewhere() async throws {
        let bytes = try Fixture.jpeg(100, 100, progressive: true)
        #expect(try await decode(request(bytes, as: .jpeg)) == [true, false])
    }

    @Test func aChainIsWorkedOffElsewhere() async throws {
        var request = try request(Fixture.png(20, 20))
        request.transformers = [Tint()]
        #expect(try await decode(request) == [true, false])
    }

    @Test func manyBytesAreDecodedElsewhere() async throws {
        let noise = try Image(size: PixelSize(width: 200, height: 200), alpha: .opaque) { bytes in
            var random = SeededGenerator(seed: 3)
            for place in bytes.indices {
                bytes[place] = place % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &random)
            }
        }
        #expect(try await decode(request(noise.encoded(as: .png))) == [false])
    }

    @Test func aDecoderThatMayTakeLongRunsElsewhere() async throws {
        #expect(try await decode(request(Fixture.png(20, 20), timeDependsOnlyOnPixels: false)) == [false])
    }

    /// A task does not decode beside busy decode threads, so that no more decoders work than there are threads.
    @Test func aTaskDecodesNothingWhileAllThreadsAreBusy() async throws {
        let bench = TestBench { $0.decodeThreads = 1 }
        let (begun, gate) = (Gate(), Gate())
        var slow = ImageRequest(data: [1], name: "slow")
        slow.decoding.coder = GatedCoder(begun: begun, gate: gate)
        let other = Task { [slow] in try await bench.manager.image(for: slow) }
        await begun.opened()
        let small = try request(Fixture.png(20, 20))
        let task = Task { try await decode(small, with: bench) }
        #expect(await eventually { bench.manager.runningLoads == 2 })
        gate.open()
        #expect(try await task.value == [false])
        _ = try? await other.value
    }

    /// A decoder that waits at a gate.
    private struct GatedCoder: ImageCoder {
        let begun: Gate
        let gate: Gate
        let decodableFormats: Set<ImageFormat> = [ImageFormat(rawValue: "gated")]

        func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            begun.open()
            gate.wait()
            throw WebImageError(.corruptData, "nothing is there")
        }
    }
}
