import HTTPTypes
import Testing
import WebImage
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

/// URLs that failed are blocked for a while (SDWebImage's M-12).
@Suite struct BlockedURLTests {
    private let url = "http://pictures.test/a.png"

    private func request(_ policy: CachePolicy) -> ImageRequest {
        var request = ImageRequest(url)
        request.caching.policy = policy
        return request
    }

    private func failure(_ bench: TestBench, _ policy: CachePolicy) async -> WebImageError? {
        await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request(policy)) }
    }

    /// A manager without a disk cache, and the origin that it asks.
    private func makeBench(clock: ManualClock = ManualClock()) throws -> (TestBench, ChangingOrigin) {
        let bench = TestBench(clock: clock)
        return (bench, ChangingOrigin(bench.transport, body: try Fixture.png(16, 16), tag: "\"1\""))
    }

    @Test func aFailedURLIsBlockedForFiveMinutes() async throws {
        let clock = ManualClock()
        let (bench, origin) = try makeBench(clock: clock)
        origin.change { $0.outage = .status(404) }
        let first = await failure(bench, .cacheFirst)
        #expect(first?.code == .badStatus)
        let second = await failure(bench, .cacheFirst)
        #expect(second?.code == .blockedURL && (second?.cause as? WebImageError)?.status == 404)
        #expect(bench.transport.hits(url) == 1)
        #expect(bench.manager.failedURLs.list().map(\.url) == [url])
        origin.change { $0.outage = nil }
        var urgent = request(.cacheFirst)
        urgent.retriesFailed = true
        #expect(try await bench.manager.image(for: urgent).source == .network)
        #expect(bench.manager.failedURLs.list().isEmpty, "it went well")
        origin.change { $0.outage = .status(404) }
        _ = try? await bench.manager.image(for: request(.reload))
        clock.advance(by: .seconds(301))
        #expect(await failure(bench, .reload)?.code == .badStatus, "its time is up")
    }

    /// After signing in, a user was once told for five minutes that a picture was missing, because it was before.
    @Test func aFailedURLIsAskedAgainWithOtherHeaders() async throws {
        let clock = ManualClock()
        let (bench, origin) = try makeBench(clock: clock)
        origin.change { $0.outage = .status(404) }
        #expect(await failure(bench, .cacheFirst)?.code == .badStatus)
        bench.manager.downloader.setLimits(maxConcurrent: 7, maxConcurrentPerHost: 7)
        #expect(await failure(bench, .cacheFirst)?.code == .blockedURL, "nothing else would be sent")
        bench.manager.downloader[header: .authorization] = "Bearer x"
        #expect(await failure(bench, .cacheFirst)?.code == .badStatus)
        #expect(await failure(bench, .cacheFirst)?.code == .blockedURL)
        #expect(bench.manager.failedURLs.list().count == 1 && bench.transport.hits(url) == 2)
    }

    @Test func aPictureOverTheLimitsOfOneRequestIsLoadedForTheNext() async throws {
        let (bench, _) = try makeBench()
        var small = request(.cacheFirst)
        small.decoding.limits.pixels = 255
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: small) }
        #expect(error?.code == .badImageData && (error?.cause as? WebImageError)?.code == .limitExceeded)
        let image = try await bench.manager.image(for: request(.cacheFirst)).image
        #expect(image.size == PixelSize(width: 16, height: 16))
        #expect(bench.manager.failedURLs.list().isEmpty)
    }

    @Test func retryAfterBlocksTheURLForItsTime() async throws {
        let clock = ManualClock()
        let (bench, origin) = try makeBench(clock: clock)
        origin.change { $0.outage = .status(503, headers: [.retryAfter: "120"]) }
        let first = await #expect(throws: WebImageError.self) { try await bench.manager.data(for: request(.reload)) }
        #expect(first?.retryAfter == .seconds(120))
        let second = await failure(bench, .reload)
        #expect(second?.code == .blockedURL)
        clock.advance(by: .seconds(121))
        origin.change { $0.outage = nil }
        #expect(try await bench.manager.data(for: request(.reload)).isEmpty == false)
    }

    @Test func aCachedPictureIsServedWhileItsURLIsBlocked() async throws {
        let (bench, origin) = try makeBench()
        _ = try await bench.manager.image(for: request(.cacheFirst))
        origin.change { $0.outage = .status(403) }
        _ = try? await bench.manager.image(for: request(.reload))
        #expect(bench.manager.failedURLs.list().count == 1)
        #expect(try await bench.manager.image(for: request(.cacheFirst)).source == .memory)
    }
}
