import PipeCoder
import Testing
import WebImageCodecs
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Whole loads whose decoders run at the other end of a pipe.
@Suite struct PipeLoadingTests {
    private let url = "http://pictures.test/a"

    private func load(
        _ bytes: [UInt8], by coders: CoderRegistry, _ change: (inout ImageRequest.Options) -> Void
    ) async throws -> Image {
        let transport = FakeTransport()
        transport.answer(url, .bytes(bytes, contentType: "image/png"))
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(
            configuration, coders: coders, transport: transport, clock: SystemClock.shared, files: PosixFileSystem())
        let request = ImageRequest(url, change)
        return try await manager.image(for: request).image
    }

    @Test func aPictureDecodedThroughAPipeIsTheSame() async throws {
        let jpeg = try Fixture.jpeg(400, 300, progressive: true)
        for width in [nil, 40, 300] {
            var images: [Image] = []
            for coders in [CoderRegistry.standard, PipeCoder.registry()] {
                images.append(try await load(jpeg, by: coders) { $0.size = width.map { TargetSize(width: $0) } })
            }
            #expect(images[0].size == images[1].size && images[0].size.width == width ?? 400)
            #expect(images[0].withPixels { Array($0) } == images[1].withPixels { Array($0) })
        }
    }

    @Test func anAnimationDecodedThroughAPipeIsTheSame() async throws {
        let gif = BlinkingGIF.file(width: 8, height: 8, frames: 5)
        var rows: [[[UInt8]]] = []
        for coders in [CoderRegistry.standard, PipeCoder.registry()] {
            let image = try await load(gif, by: coders) { $0.size = TargetSize(width: 4) }
            let animation = try #require(image.animation)
            var row: [[UInt8]] = []
            for index in [4, 0, 2] { row.append(try await animation.frame(at: index).withPixels { Array($0) }) }
            rows.append(row)
        }
        #expect(rows[0] == rows[1] && rows[0][0].prefix(3) == [255, 0, 0])
    }

    @Test func aBrokenPictureFailsTheSameThroughAPipe() async throws {
        let cut = Array(try Fixture.jpeg(64, 64).prefix(700))
        for coders in [CoderRegistry.standard, PipeCoder.registry()] {
            let error = await #expect(throws: WebImageError.self) { try await load(cut, by: coders) { _ in } }
            #expect(error?.code == .badImageData && (error?.cause as? WebImageError)?.code == .truncatedData)
        }
    }
}
