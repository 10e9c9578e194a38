import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

/// Callers that stop waiting, by a timeout or by cancelling.
@Suite struct CancelAndTimeoutTests {
    private let url = "http://pictures.test/a.png"

    /// The error that ends a call when the request's time is over and the origin has not answered completely.
    private func end(
        of call: @escaping @Sendable (ImageManager, ImageRequest) async throws(WebImageError) -> Void
    ) async throws -> WebImageError? {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        let gate = Gate()
        bench.transport.answer(url, .bytes(try Fixture.png(8, 8), contentType: "image/png").held(by: gate, after: 4))
        var request = ImageRequest(url)
        request.timeout = .seconds(5)
        let task = Task { [request] in
            do throws(WebImageError) {
                try await call(bench.manager, request)
                return WebImageError?.none
            } catch {
                return error
            }
        }
        #expect(await bench.transport.waitForHits(url))
        clock.advance(by: .seconds(6))
        let error = await task.value
        gate.open()
        return error
    }

    @Test func bytesEndWithTheRequestsTime() async throws {
        let error = try await end { manager, request throws(WebImageError) in _ = try await manager.data(for: request) }
        #expect(error?.code == .deadlineExceeded && error?.location == url)
    }

    @Test func detailsEndWithTheRequestsTime() async throws {
        let error = try await end { manager, request throws(WebImageError) in
            _ = try await manager.details(for: request)
        }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test func aCallerThatWaitsForTheStoreMayCancel() async throws {
        let folder = try TemporaryFolder()
        let files = FaultyFileSystem()
        let bench = TestBench(disk: folder.path, files: files)
        bench.answer(url, with: try Fixture.png(8, 8), type: "image/png")
        let write = files.delay(.write)
        var request = ImageRequest(url)
        request.caching.waitsForStore = true
        let load = Task { [request] in try await bench.manager.image(for: request) }
        await write.made()
        load.cancel()
        let error = await #expect(throws: WebImageError.self) { try await load.value }
        #expect(error?.code == .cancelled)
        write.release()
        await bench.manager.finishStores()
        #expect(bench.manager.diskCache?.usage.count == 1, "the store goes on")
    }
}
