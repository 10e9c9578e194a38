import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// A chain of transforms that has no waiters left stops at its next row. It once kept its thread until the chain's end.
@Suite struct AbandonedTransformTests {
    /// A transform that counts the rows it makes, and blocks once, at row ``heldRow`` of the first picture, until
    /// `open()`.
    private final class HeldRows: Sendable {
        private let made = Guarded(0)
        private let reached = Gate()
        private let gate = Gate()

        static let heldRow = 10

        var count: Int { made.withLock { $0 } }

        func waitUntilReached() async { await reached.opened() }
        func open() { gate.open() }

        var step: ImageTransform {
            .customPixels(id: "held") { [self] stretch in
                made.withLock { $0 += 1 }
                if stretch.y == Self.heldRow {
                    reached.open()
                    gate.wait()
                }
            }
        }
    }

    private let url = "http://pictures.test/a.png"
    private let size = PixelSize(width: 32, height: 48)

    private func bench(threads: Int = 2) throws -> TestBench {
        let bench = TestBench { $0.decodeThreads = threads }
        bench.answer(url, with: try Fixture.png(size.width, size.height), type: "image/png")
        return bench
    }

    private func request(_ steps: [any ImageTransformer]) -> ImageRequest {
        ImageRequest(url) { $0.transformers = steps }
    }

    @Test func theLastCancelEndsTheTransformAtTheNextRow() async throws {
        let (bench, rows, ledger) = (try bench(), HeldRows(), Ledger())
        let token = bench.manager.load(request([rows.step])) { ledger.take($0) }
        await rows.waitUntilReached()
        token.cancel()
        rows.open()
        #expect(await eventually { bench.manager.loader.decoding.memory.used == 0 })
        #expect(rows.count == HeldRows.heldRow + 1)
        #expect(ledger.failures == [.cancelled: 1] && bench.manager.cachedImage(for: request([rows.step])) == nil)
    }

    @Test func aCancelledTransformOfAPictureInMemoryEndsAtTheNextRow() async throws {
        let (bench, rows, ledger) = (try bench(threads: 1), HeldRows(), Ledger())
        _ = try await bench.manager.image(for: request([]))
        let token = bench.manager.load(request([rows.step])) { ledger.take($0) }
        await rows.waitUntilReached()
        token.cancel()
        rows.open()
        // The only decode thread is free again once the next picture is made.
        _ = try await bench.manager.image(for: request([ImageTransform.invert]))
        #expect(rows.count == HeldRows.heldRow + 1 && ledger.failures == [.cancelled: 1])
    }

    @Test func aCallerAfterTheLastCancelGetsThePicture() async throws {
        let (bench, rows, gone, late) = (try bench(), HeldRows(), Ledger(), Ledger())
        let token = bench.manager.load(request([rows.step])) { gone.take($0) }
        await rows.waitUntilReached()
        token.cancel()
        bench.manager.load(request([rows.step])) { late.take($0) }
        rows.open()
        #expect(try await late.finished().get().image.size == size)
        #expect(await eventually { bench.manager.loader.decoding.memory.used == 0 })
        #expect(rows.count == HeldRows.heldRow + 1 + size.height)
        #expect(gone.failures == [.cancelled: 1] && late.finishedCount == 1 && bench.manager.runningLoads == 0)
    }

    /// A job that continues from another job's picture once kept the priority of its first caller.
    @Test func aCallerWithFurtherStepsMayLowerItsPriority() async throws {
        let (bench, rows, ledger) = (try bench(), HeldRows(), Ledger())
        var (first, more) = (request([rows.step]), request([rows.step, ImageTransform.invert]))
        (first.priority, more.priority) = (.low, .high)
        func priorities() -> [LoadPriority] {
            bench.manager.loader.table.withLock { $0.bytesJobs.values.map(\.priority) }
        }
        bench.manager.load(first) { ledger.take($0) }
        await rows.waitUntilReached()
        let token = bench.manager.load(more) { ledger.take($0) }
        #expect(priorities() == [.high])
        token.setPriority(.veryLow)
        #expect(priorities() == [.low])
        rows.open()
        _ = await ledger.finished(2)
        #expect(ledger.responses.count == 2 && rows.count == size.height)
    }

    /// This includes a caller that needs the picture only as the input of further steps.
    @Test func remainingCallersGetThePictureOfACancelledCaller() async throws {
        let (bench, rows, gone, stays, more) = (try bench(), HeldRows(), Ledger(), Ledger(), Ledger())
        let token = bench.manager.load(request([rows.step])) { gone.take($0) }
        await rows.waitUntilReached()
        bench.manager.load(request([rows.step])) { stays.take($0) }
        bench.manager.load(request([rows.step, ImageTransform.invert])) { more.take($0) }
        token.cancel()
        rows.open()
        #expect(try await stays.finished().get().image.size == size)
        #expect(try await more.finished().get().image.size == size)
        #expect(rows.count == size.height && gone.failures == [.cancelled: 1])
        #expect(bench.transport.hits(url) == 1)
    }

    @Test func aTransformerThatThrowsCancelledIsATransformFailure() async throws {
        let bench = try bench()
        let step = ImageTransform.custom(id: "refuses") { (_) throws(WebImageError) in throw .cancelled }
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request([step])) }
        #expect(error?.code == .transformFailed)
    }
}
