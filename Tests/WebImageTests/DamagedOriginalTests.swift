import Testing
import WebImageTesting

@testable import WebImage

/// Originals on disk with an intact header and damaged pixels.
@Suite struct DamagedOriginalTests {
    private let url = "http://pictures.test/a.png"
    private let folder: TemporaryFolder
    private let picture: [UInt8]
    private let broken: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        picture = try Fixture.png(30, 20)
        broken = Fixture.damaged(picture)
    }

    private func makeBench() -> TestBench { TestBench(disk: folder.path) }

    private func entry(_ bench: TestBench) async throws -> DiskEntry? {
        try await bench.entry(ImageRequest(url))
    }

    /// An original that was stored after reading only its header is fetched again once its pixels turn out to be
    /// damaged.
    @Test func aDamagedOriginalIsReplaced() async throws {
        let bench = makeBench()
        bench.transport.answer(
            url, .bytes(broken, contentType: "image/png"), .bytes(picture, contentType: "image/png"))
        #expect(try await bench.manager.data(for: ImageRequest(url)) == broken)
        #expect(try await entry(bench)?.body == broken)
        #expect(try await bench.manager.image(for: ImageRequest(url)).source == .network)
        #expect(bench.transport.hits(url) == 2)
        let second = try await entry(bench)?.body
        #expect(second == picture)
    }

    /// A truncated original is fetched again, even though a caller accepted the partial picture.
    @Test func halfAPictureIsReplaced() async throws {
        let bench = makeBench()
        let whole = try Fixture.jpeg(400, 300)
        bench.transport.answer(
            url, .bytes(Array(whole[..<(whole.count / 2)]), contentType: "image/jpeg"),
            .bytes(whole, contentType: "image/jpeg"))
        _ = try await bench.manager.data(for: ImageRequest(url))
        await bench.manager.finishStores()
        var request = ImageRequest(url)
        request.decoding.allowsPartial = true
        let half = try await bench.manager.image(for: request)
        #expect(half.source == .disk && half.partialError != nil)
        await bench.manager.finishStores()
        let second = try await bench.manager.image(for: request)
        #expect(second.source == .network && second.partialError == nil)
    }

    /// If the second copy is damaged, too, the load fails and the URL is blocked. A load from the caches only fails at
    /// once.
    @Test(arguments: [CachePolicy.cacheFirst, .cacheOnly]) func aDamagedOriginalIsAnErrorOnce(_ policy: CachePolicy)
        async throws
    {
        let bench = makeBench()
        bench.answer(url, with: broken, type: "image/png")
        _ = try await bench.manager.data(for: ImageRequest(url))
        #expect(try await entry(bench)?.body == broken)
        var request = ImageRequest(url)
        request.caching.policy = policy
        for code in [WebImageError.Code.badImageData, policy == .cacheOnly ? .cacheMiss : .blockedURL] {
            let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
            #expect(error?.code == code)
            await bench.manager.finishStores()
        }
        #expect(bench.transport.hits(url) == (policy == .cacheOnly ? 1 : 2))
    }
}
