// The Swift snippets of the guide to testing, word for word: see DocumentationSnippets.swift. Unlike the other snippets they are
// tests themselves.
import Testing
import WebImage
import WebImageTesting

// TestingWithoutANetwork.md
@Suite private struct TestingWithoutANetwork {
    func makeManager(_ transport: FakeTransport? = nil, retries: Int = 0) -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        configuration.download.retry = RetryPolicy(retries: retries, firstDelay: .zero)
        return ImageManager(configuration: configuration, transport: transport)
    }

    @Test func aPictureIsLoadedOnce() async throws {
        let jpeg = try SamplePictures.sunset(PixelSize(width: 120, height: 80)).encoded(as: .jpeg)
        let transport = FakeTransport()
        transport.answer("https://example.com/a.jpg", .bytes(jpeg, contentType: "image/jpeg"))
        let manager = makeManager(transport)
        let request = ImageRequest("https://example.com/a.jpg")
        let first = try await manager.image(for: request)
        #expect(first.image.size == PixelSize(width: 120, height: 80))
        #expect(try await manager.image(for: request).source == .memory)
        #expect(transport.hits("https://example.com/a.jpg") == 1)
    }

    @Test func aConnectionThatBreaksIsAnError() async throws {
        let jpeg = try SamplePictures.sunset(PixelSize(width: 120, height: 80)).encoded(as: .jpeg)
        let transport = FakeTransport()
        transport.answer("https://example.com/a.jpg", .bytes(jpeg, contentType: "image/jpeg").failing(after: 500))
        let manager = makeManager(transport)
        let error = await #expect(throws: WebImageError.self) {
            try await manager.image(for: ImageRequest("https://example.com/a.jpg"))
        }
        #expect(error?.code == .connectionLost)
    }

    @Test func aLoadRunsUntilItsPictureHasArrived() async throws {
        let jpeg = try SamplePictures.sunset(PixelSize(width: 120, height: 80)).encoded(as: .jpeg)
        let gate = Gate()
        let transport = FakeTransport()
        let answer = FakeAnswer.bytes(jpeg, contentType: "image/jpeg")
        transport.answer("https://example.com/a.jpg", answer.held(by: gate, after: 500))
        let manager = makeManager(transport)
        let load = Task { try await manager.image(for: ImageRequest("https://example.com/a.jpg")) }
        await transport.waitForHits("https://example.com/a.jpg")
        // The transfer waits at the gate: here a test can check what the program shows meanwhile.
        #expect(manager.runningLoads == 1)
        gate.open()
        #expect(try await load.value.source == .network)
    }

    @Test func aBodyThatBrokeOffIsContinued() async throws {
        let jpeg = try SamplePictures.sunset(PixelSize(width: 600, height: 400)).encoded(as: .jpeg)
        let origin = try OriginServer()
        let file = OriginResponse.bytes(jpeg, contentType: "image/jpeg", etag: "\"1\"")
        origin.serve("/a.jpg", file.with(.cut(at: .byte(5000))), file)
        let manager = makeManager(retries: 1)
        let response = try await manager.image(for: ImageRequest(origin.url("/a.jpg")))
        #expect(response.image.size == PixelSize(width: 600, height: 400))
        #expect(origin.requests("/a.jpg").map { $0.header("Range") } == [nil, "bytes=5000-"])
    }
}
