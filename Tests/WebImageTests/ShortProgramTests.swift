import Testing
import WebImage
import WebImageSystem
import WebImageTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Ten short programs as a new user would write them.
@Suite struct ShortProgramTests {
    private let folder: TemporaryFolder
    private let bench: TestBench
    private var manager: ImageManager { bench.manager }
    private let urls = (0..<3).map { "https://pictures.test/\($0).jpg" }

    init() throws {
        folder = try TemporaryFolder()
        bench = TestBench(disk: folder.path + "/cache")
        for url in urls { bench.answer(url, with: try Fixture.jpeg(64, 48)) }
    }

    @Test func aPictureIsLoadedByItsURL() async throws {
        let image = try await manager.image(for: "https://pictures.test/0.jpg").image
        #expect(image.size == PixelSize(width: 64, height: 48))
    }

    @Test func aThumbnailOfAURL() async throws {
        let url = try #require(URL(string: urls[0]))
        let image = try await manager.image(for: url, size: TargetSize(width: 16)).image
        #expect(image.size == PixelSize(width: 16, height: 12))
    }

    @Test func aThumbnailAsBytesForAnAnswerOfAServer() async throws {
        let response = try await manager.image(for: ImageRequest(urls[0], size: TargetSize(width: 16)))
        let bytes = try await manager.encode(response.image, as: .png)
        #expect(ImageFormat(sniffing: bytes) == .png)
    }

    @Test func aRequestWithOptions() async throws {
        let request = ImageRequest(urls[0]) {
            $0.size = TargetSize(width: 16, height: 16, fit: .cover)
            $0.http.headers[.authorization] = "Bearer abc"
            $0.priority = .high
        }
        #expect(try await manager.image(for: request).image.size == PixelSize(width: 16, height: 16))
    }

    @Test func aListOfPicturesAsTheyArrive() async throws {
        var widths: [Int: Int] = [:]
        for await picture in manager.images(for: urls) {
            widths[picture.index] = try picture.result.get().image.size.width
        }
        #expect(widths == [0: 64, 1: 64, 2: 64])
    }

    @Test func theEventsOfALoad() async throws {
        var steps: [String] = []
        for try await event in manager.events(for: "https://pictures.test/0.jpg") {
            switch event {
            case .progress: steps.append("progress")
            case .finished(let result): steps.append("\(try result.get().image.size)")
            default: break
            }
        }
        #expect(steps.last == "64x48")
    }

    @Test func anOriginalIsKeptForLater() async throws {
        _ = try await manager.keepOriginal(for: ImageRequest(urls[0]))
        await manager.finishStores()
        let request = ImageRequest(urls[0]) { $0.caching.policy = .cacheOnly }
        #expect(try await manager.image(for: request).source == .disk)
    }

    @Test func aPictureStoredInTheCacheByHand() async throws {
        try await manager.cache.store(Fixture.gradient(8, 8), for: "avatar-42")
        #expect(try await manager.cache.image(for: "avatar-42")?.image.size.width == 8)
        try await manager.cache.remove("avatar-42")
    }

    @Test func aFileMadeSmaller() async throws {
        let (source, target) = (folder.path + "/large.jpg", folder.path + "/small.png")
        try await Fixture.gradient(100, 50).write(to: URL(fileURLWithPath: source))
        let image = try await manager.image(for: ImageRequest(path: source, size: TargetSize(width: 10))).image
        try await image.write(to: URL(fileURLWithPath: target))
        #expect(try await Image(contentsOf: URL(fileURLWithPath: target)).size == PixelSize(width: 10, height: 5))
    }

    @Test func publicOnlyRefusesALoopbackAddress() async throws {
        var configuration = ImageManager.Configuration()
        configuration.addressPolicy = .publicOnly
        configuration.disk = nil
        let careful = ImageManager(configuration: configuration)
        let error = await #expect(throws: WebImageError.self) {
            try await careful.image(for: "http://127.0.0.1/admin.png")
        }
        #expect(error?.code == .addressRefused)
    }
}
