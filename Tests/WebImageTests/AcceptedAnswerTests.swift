import HTTPTypes
import Testing
import WebImage
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

/// Answers that one request accepts and another refuses: neither request decides for the other, and caches respect
/// both.
@Suite struct AcceptedAnswerTests {
    private let url = "http://pictures.test/odd"
    private let fields: HTTPFields = [.cacheControl: "public, max-age=6000"]

    /// A picture with a status that is not accepted by default.
    private func answer() throws -> FakeAnswer {
        .status(
            501, body: try Fixture.png(16, 16),
            headers: [.contentType: "image/png", .cacheControl: "public, max-age=6000"])
    }

    private var lenient: ImageRequest {
        var request = ImageRequest(url)
        request.http.acceptableStatuses = [200, 501]
        return request
    }

    @Test func concurrentRequestsThatAcceptOtherStatusesShareNoTransfer() async throws {
        let bench = TestBench()
        let gate = Gate()
        bench.transport.answer(url, try answer().held(by: gate))
        let (first, second) = (Ledger(), Ledger())
        bench.manager.load(lenient) { first.take($0) }
        bench.manager.load(ImageRequest(url)) { second.take($0) }
        #expect(await eventually { bench.transport.hits(url) == 2 })
        gate.open()
        #expect(try await first.finished().get().image.size.width == 16)
        _ = await second.finished()
        #expect(second.failures == [.badStatus: 1])
    }

    @Test(arguments: [CachePolicy.cacheFirst, .protocol, .cacheOnly])
    func anAcceptedStatusIsNotServedToARequestThatRefusesIt(_ policy: CachePolicy) async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        bench.transport.answer(url, try answer())
        _ = try await bench.manager.image(for: lenient)
        await bench.manager.finishStores()
        #expect(try await bench.manager.image(for: lenient).source == .memory)
        var strict = ImageRequest(url)
        strict.caching.policy = policy
        let code: WebImageError.Code = policy == .cacheOnly ? .cacheMiss : .badStatus
        // From memory.
        #expect(bench.manager.cachedImage(for: strict) == nil)
        await expect(code, of: strict, bench.manager)
        // From disk, in another process, where a request that accepts the status finds the picture.
        let next = TestBench(disk: folder.path)
        next.transport.answer(url, try answer())
        if policy == .cacheOnly { #expect(try await next.manager.image(for: lenient).source == .disk) }
        next.manager.memoryCache.removeAll()
        await expect(code, of: strict, next.manager)
    }

    @Test func aRefusedContentTypeIsNotServedFromMemory() async throws {
        let bench = TestBench()
        bench.answer(url, with: try Fixture.png(16, 16), type: "image/png", fields: fields)
        _ = try await bench.manager.image(for: ImageRequest(url))
        var strict = ImageRequest(url)
        strict.http.acceptableContentTypes = ["image/webp"]
        #expect(bench.manager.cachedImage(for: strict) == nil)
        await expect(.badContentType, of: strict, bench.manager)
        strict.http.acceptableContentTypes = ["image/*"]
        #expect(bench.manager.cachedImage(for: strict) != nil)
        // The manager's default content types may change while the picture is cached.
        bench.manager.downloader.configuration.acceptableContentTypes = ["image/webp"]
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) == nil)
    }

    private func expect(_ code: WebImageError.Code, of request: ImageRequest, _ manager: ImageManager) async {
        let error = await #expect(throws: WebImageError.self) { try await manager.image(for: request) }
        #expect(error?.code == code)
    }
}
