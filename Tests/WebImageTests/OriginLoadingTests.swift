import Testing
import WebImage
import WebImageTesting

/// Loads over real sockets.
@Suite struct OriginLoadingTests {
    private static func manager() -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        configuration.download.deadlines = DownloadDeadlines(connect: nil, firstByte: nil, idle: nil)
        configuration.download.retry = .never
        return ImageManager(configuration: configuration)
    }

    @Test func twoHundredCallersCostTheOriginOneHit() async throws {
        let server = try OriginServer()
        let gate = Gate()
        server.serve(
            "/a.jpg", .bytes(try Fixture.jpeg(640, 480), contentType: "image/jpeg").with(.hold(gate, at: .byte(1000))))
        let manager = Self.manager()
        let url = server.url("/a.jpg")
        let widths = await withTaskGroup(of: Int?.self) { group in
            for index in 0..<200 {
                var request = ImageRequest(url)
                request.size = [nil, TargetSize(width: 320), TargetSize(width: 64)][index % 3]
                group.addTask { [request] in (try? await manager.image(for: request))?.image.size.width }
            }
            await server.waitForHeld("/a.jpg", 1)
            gate.open()
            var widths: [Int?: Int] = [:]
            for await width in group { widths[width, default: 0] += 1 }
            return widths
        }
        #expect(widths == [640: 67, 320: 67, 64: 66])
        #expect(server.hits("/a.jpg") == 1)
    }

    @Test func theLastOfTwoHundredStillGetsItsPicture() async throws {
        let server = try OriginServer()
        let gate = Gate()
        server.serve(
            "/a.jpg", .bytes(try Fixture.jpeg(64, 64), contentType: "image/jpeg").with(.hold(gate, at: .afterHead)))
        let manager = Self.manager()
        let url = server.url("/a.jpg")
        let others = Ledger()
        let tokens = (0..<199).map { _ in manager.load(ImageRequest(url), onEvent: others.take) }
        let last = Ledger()
        manager.load(ImageRequest(url), onEvent: last.take)
        await server.waitForHeld("/a.jpg", 1)
        for token in tokens { token.cancel() }
        _ = await others.finished(199)
        #expect(others.failures == [.cancelled: 199])
        gate.open()
        #expect(try await last.finished().get().image.size == PixelSize(width: 64, height: 64))
        #expect(server.hits("/a.jpg") == 1)
    }

    @Test func whenNobodyWaitsTheConnectionIsClosed() async throws {
        let server = try OriginServer()
        server.serve(
            "/a.jpg", .bytes(try Fixture.jpeg(64, 64), contentType: "image/jpeg").with(.stall(at: .byte(100))))
        let manager = Self.manager()
        let url = server.url("/a.jpg")
        let tasks = (0..<50).map { _ in Task { try await manager.image(for: ImageRequest(url)) } }
        await server.waitForHeld("/a.jpg", 1)
        for task in tasks { task.cancel() }
        #expect(await server.waitForClosed("/a.jpg", 1))
        #expect(await server.waitForOpenConnections(atMost: 0))
    }

    @Test func aBodyThatIsCutIsAnErrorEvenWhenThePictureIsWhole() async throws {
        let server = try OriginServer()
        let bytes = try Fixture.jpeg(64, 64)
        server.serve(
            "/a.jpg",
            .bytes(bytes, contentType: "image/jpeg").with(framing: .falseLength(bytes.count + 100)).with(
                .cut(at: .byte(bytes.count))))
        let error = await #expect(throws: WebImageError.self) {
            try await Self.manager().image(for: ImageRequest(server.url("/a.jpg")))
        }
        #expect(error?.code == .truncatedBody && error?.location == server.url("/a.jpg"))
    }

    @Test func theSmallSamplesOfTheDemoAreLoadedWhole() async throws {
        let server = try OriginServer()
        let manager = Self.manager()
        // Large pictures are left out: a debug build draws them slowly, and they would test nothing more.
        for picture in SamplePictures.demo where picture.displaySize.pixelCount ?? .max < 600_000 {
            server.serve(
                "/\(picture.fileName)", .bytes(try picture.encoded(), contentType: picture.format.mimeType ?? ""))
            let response = try await manager.image(for: ImageRequest(server.url("/\(picture.fileName)")))
            #expect(response.image.size == picture.displaySize && response.header?.format == picture.format)
            #expect(!response.image.info.isPartial)
        }
    }
}
