import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct WatermarkAnswerTests {
    private static func greenMark() throws -> Image {
        try Image(size: PixelSize(width: 4, height: 4)) { bytes in
            for index in stride(from: 0, to: bytes.count, by: 4) {
                bytes.storeBytes(of: 0xff00_ff00, toByteOffset: index, as: UInt32.self)
            }
        }
    }

    /// As in imgproxy, the mark keeps its size on an icon, which is reduced to 256 pixels before the mark is drawn.
    @Test func aWatermarkIsDrawnAfterTheFormatsLimit() async throws {
        let server = try TestServer(watermark: try Self.greenMark())
        try server.serve()
        let icon = try await server.picture("w:512/el:1/wm:1:soea:2:3/f:ico").image()
        #expect(icon.size == PixelSize(width: 256, height: 192))
        for (x, y) in [(250, 185), (253, 188)] { #expect(icon.pixel(x, y) == [0, 255, 0, 255]) }
        #expect(icon.pixel(249, 185) != [0, 255, 0, 255])
        // A smaller icon is not enlarged.
        #expect(try await server.picture("w:32/wm:1/f:ico").image().size.width == 32)
    }

    @Test func aWatermarkIsDrawnAtTheRequestedPlace() async throws {
        let server = try TestServer(watermark: try Self.greenMark())
        try server.serve()
        let marked = try await server.picture("wm:1:soea:2:3/f:png").image()
        #expect(marked.pixel(64 - 4 - 2, 48 - 4 - 3) == [0, 255, 0, 255])
        #expect(marked.pixel(61, 44) == [0, 255, 0, 255])
        let plain = try await server.picture("f:png").image()
        #expect(marked.pixel(62, 45) == plain.pixel(62, 45))
        #expect(marked.pixel(57, 41) == plain.pixel(57, 41))
        let tiled = try await server.picture("wm:1:re:4:4/f:png").image()
        let green = (0..<64).filter { tiled.pixel($0, Self.firstGreenRow(tiled)) == [0, 255, 0, 255] }
        #expect(green.count == 32)
    }

    private static func firstGreenRow(_ image: Image) -> Int {
        (0..<8).first { y in (0..<8).contains { image.pixel($0, y) == [0, 255, 0, 255] } } ?? 0
    }
}
