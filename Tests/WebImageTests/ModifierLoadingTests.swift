import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// A request's modifier is asked when its load begins, before anything is looked up or joined.
@Suite struct ModifierLoadingTests {
    private let url = "http://pictures.test/a.png"

    /// A modifier that sets a header field and counts its calls. A gate can hold it.
    private final class Signer: Sendable {
        private let counted = Guarded(0)
        let gate: Gate?

        init(gate: Gate? = nil) { self.gate = gate }

        var count: Int { counted.withLock { $0 } }

        var modifier: RequestModifier {
            RequestModifier(name: "sign") { request in
                self.counted.withLock { $0 += 1 }
                await self.gate?.opened()
                var request = request
                request.headers[.authorization] = "Bearer a"
                return request
            }
        }
    }

    private func makeBench(
        _ modifier: RequestModifier, disk: String? = nil, clock: any LoadClock = SystemClock.shared,
        fields: HTTPFields = [:]
    ) throws -> TestBench {
        let bench = TestBench(disk: disk, clock: clock) { $0.download.requestModifier = modifier }
        bench.answer(url, with: try Fixture.png(16, 16), type: "image/png", fields: fields)
        return bench
    }

    @Test func anAsyncModifierRunsOncePerLoadAndItsHeadersAreSent() async throws {
        let signer = Signer()
        let bench = try makeBench(signer.modifier)
        #expect(try await bench.manager.image(for: ImageRequest(url)).source == .network)
        #expect(signer.count == 1)
        #expect(bench.transport.requests.map { $0.headers[.authorization] } == ["Bearer a"])
        // `cachedImage` is synchronous, so it cannot wait for the modifier.
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) == nil)
        #expect(try await bench.manager.image(for: ImageRequest(url)).source == .memory)
        #expect(signer.count == 2 && bench.transport.hits(url) == 1)
    }

    /// The background's request once forgot what the modifier had set: the modifier was called again, and the whole
    /// picture was loaded again, as if for another user.
    @Test func aRevalidationInTheBackgroundKnowsWhatTheModifierHasSet() async throws {
        let folder = try TemporaryFolder()
        let signer = Signer()
        let bench = TestBench(disk: folder.path)
        let picture = FakeAnswer.bytes(try Fixture.png(16, 16), contentType: "image/png", headers: [.eTag: "\"1\""])
        bench.transport.answer(url, picture, .status(304))
        var request = ImageRequest(url)
        request.http.requestModifier = signer.modifier
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        request.caching.policy = .refresh
        #expect(try await bench.manager.image(for: request).image.size.width == 16)
        #expect(await eventually { bench.transport.hits(url) == 2 && bench.manager.runningLoads == 0 })
        #expect(bench.transport.requests.last?.headers[.ifNoneMatch] == "\"1\"")
        #expect(bench.transport.requests.last?.headers[.authorization] == "Bearer a")
        #expect(signer.count == 2)
    }

    @Test func loadsWithEqualModifiedRequestsAreShared() async throws {
        let gate = Gate()
        let signer = Signer(gate: gate)
        let bench = try makeBench(signer.modifier)
        let ledger = Ledger()
        for _ in 0..<10 { bench.manager.load(ImageRequest(url)) { ledger.take($0) } }
        #expect(await eventually { signer.count == 10 })
        gate.open()
        _ = try await ledger.finished(10).get()
        #expect(ledger.failures.isEmpty && bench.transport.hits(url) == 1)
    }

    @Test func aPublicPictureInMemoryIsServedWithoutTheModifier() async throws {
        let signer = Signer()
        let bench = try makeBench(signer.modifier, fields: [.cacheControl: "public, max-age=60"])
        _ = try await bench.manager.image(for: ImageRequest(url))
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) != nil)
        #expect(try await bench.manager.image(for: ImageRequest(url)).source == .memory)
        #expect(signer.count == 1)
    }

    @Test func aSynchronousModifierIsAskedForMemoryLookups() async throws {
        let user = Guarded("anna")
        let bench = try makeBench(
            .changing(name: "sign") { request in request.headers[.authorization] = user.withLock { $0 } })
        _ = try await bench.manager.image(for: ImageRequest(url))
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) != nil)
        user.withLock { $0 = "otto" }
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) == nil)
        #expect(try await bench.manager.image(for: ImageRequest(url)).source == .network)
    }

    @Test func aCancelWhileTheModifierRunsIsAnsweredAtOnce() async throws {
        let gate = Gate()
        let signer = Signer(gate: gate)
        let bench = try makeBench(signer.modifier)
        let ledger = Ledger()
        let token = bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        #expect(await eventually { signer.count == 1 })
        token.cancel()
        _ = await ledger.finished()
        #expect(ledger.failures == [.cancelled: 1])
        gate.open()
        // After the drain nothing runs, and no request was sent.
        await bench.manager.drain(within: .seconds(60))
        #expect(bench.transport.requests.isEmpty && ledger.finishedCount == 1)
    }

    @Test func theTimeoutOfALoadIncludesTheModifiersTime() async throws {
        let clock = ManualClock()
        let gate = Gate()
        let signer = Signer(gate: gate)
        let bench = try makeBench(signer.modifier, clock: clock)
        var request = ImageRequest(url)
        request.timeout = .seconds(5)
        let ledger = Ledger()
        bench.manager.load(request) { ledger.take($0) }
        #expect(await eventually { signer.count == 1 })
        clock.advance(by: .seconds(5))
        _ = await ledger.finished()
        #expect(ledger.failures == [.deadlineExceeded: 1])
        gate.open()
    }

    /// For bytes, the time once began only after the modifier had answered.
    @Test func theTimeoutOfBytesIncludesTheModifiersTime() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let signer = Signer(gate: gate)
        let bench = try makeBench(signer.modifier, clock: clock)
        var request = ImageRequest(url)
        request.timeout = .seconds(5)
        let load = Task { [request] in try await bench.manager.data(for: request).count }
        #expect(await eventually { signer.count == 1 && clock.waitingCount == 1 })
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: WebImageError.self) { try await load.value }
        #expect(error?.code == .deadlineExceeded && bench.transport.requests.isEmpty)
        gate.open()
    }

    @Test func aRequestThatTheModifierRefusesIsNotSent() async throws {
        let bench = try makeBench(RequestModifier(name: "never") { _ in nil })
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: ImageRequest(url)) }
        #expect(error?.code == .requestRefused && bench.transport.requests.isEmpty)
        let bytes = await #expect(throws: WebImageError.self) { try await bench.manager.data(for: ImageRequest(url)) }
        #expect(bytes?.code == .requestRefused)
    }

    @Test func aDrainedManagerFailsLoadsWithoutAskingTheModifier() async throws {
        let signer = Signer()
        let bench = try makeBench(signer.modifier)
        await bench.manager.drain(within: .zero)
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: ImageRequest(url)) }
        #expect(error?.code == .shutDown && signer.count == 0)
    }
}
