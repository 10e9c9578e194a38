import Testing
import WebImage

/// The rows of `ComingFromThumbor.md` whose options do not have thumbor's names.
@Suite struct ThumborEquivalentsTests {
    /// `full-fit-in/WxH`: the picture covers the size without being cropped. A small one is enlarged, as in thumbor.
    @Test(arguments: [
        ("z:0.001/mw:32/mh:12", 32, 24), ("z:0.001/mw:20/mh:30", 40, 30), ("z:0.001/mw:96/mh:96", 128, 96),
    ]) func aFullFitCoversTheSize(options: String, width: Int, height: Int) async throws {
        let server = try TestServer()
        try server.serve()
        let image = try await server.picture(options + "/f:png").image()
        #expect(image.size == PixelSize(width: width, height: height))
    }

    /// thumbor turns counterclockwise.
    @Test func rotate90OfThumborIs270() async throws {
        let server = try TestServer()
        try server.serve()
        let upright = try await server.picture("f:png").image()
        let turned = try await server.picture("rot:270/f:png").image()
        #expect(turned.size == PixelSize(width: 48, height: 64))
        #expect(turned.pixel(0, 0) == upright.pixel(63, 0))
        #expect(turned.pixel(0, 63) == upright.pixel(0, 0))
        #expect(turned.pixel(0, 0) != turned.pixel(0, 63))
    }
}
