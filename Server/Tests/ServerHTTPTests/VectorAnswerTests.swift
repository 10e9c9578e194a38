import HTTPTypes
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// SVG files are served as SVG, without scripts, unless another format is asked for.
@Suite struct VectorAnswerTests {
    private static let drawing =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"30\"><script>alert(1)</script>"
        + "<rect width=\"40\" height=\"30\" onclick=\"x\" fill=\"red\"/></svg>"
    private static let harmless =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"30\">"
        + "<rect width=\"40\" height=\"30\" fill=\"red\"/></svg>"

    private func server(_ variables: [String: String] = [:], _ text: String = drawing) throws -> TestServer {
        let server = try TestServer(variables)
        for name in ["/a.svg", "/a"] {
            server.origin.serve(
                name, OriginResponse(headers: [("Cache-Control", "max-age=100")], body: Array(text.utf8)))
        }
        return server
    }

    @Test(arguments: ["/a.svg", "/a"], ["w:10", "f:svg/w:10"])
    func anSVGIsPassedOnWithoutScripts(_ name: String, _ options: String) async throws {
        let server = try server()
        let answer = await server.picture(options, name)
        #expect(answer.status == 200 && answer.text == Self.harmless)
        #expect(answer.fields[.contentType] == "image/svg+xml")
        #expect(answer.fields[.contentDisposition] == "inline; filename=\"a.svg\"")
        #expect(answer.fields[.contentSecurityPolicy]?.contains("sandbox") == true)
        // If the name or the options tell that it is an SVG, it is fetched once and never drawn.
        if name == "/a.svg" || options.hasPrefix("f:") { #expect(server.origin.hits(name) == 1) }
        #expect(await server.picture(options, name).fields[.cacheStatus] == "webimage; hit; detail=memory")
    }

    /// A drawing that would be too large is not needed, whatever the URL says.
    @Test(arguments: ["/a.svg", "/a"]) func aDrawingThatCouldNotBeDrawnIsPassedOn(_ name: String) async throws {
        let answer = await (try server()).picture("el:1/w:10000", name)
        #expect(answer.status == 200 && answer.text == Self.harmless)
    }

    @Test func anotherFormatIsDrawn() async throws {
        let answer = await (try server()).picture("w:20/f:png", "/a.svg")
        #expect(try await answer.image().size == PixelSize(width: 20, height: 15))
    }

    @Test func settingsForceRasterizingOrSkipSanitizing() async throws {
        let drawn = await (try server(["IMGPROXY_ALWAYS_RASTERIZE_SVG": "1"])).picture("w:20", "/a.svg")
        #expect(drawn.fields[.contentType] == "image/png")
        let asked = await (try server(["IMGPROXY_ALWAYS_RASTERIZE_SVG": "1"])).picture("w:20/f:svg", "/a.svg")
        #expect(asked.text == Self.harmless)
        let kept = await (try server(["IMGPROXY_SANITIZE_SVG": "0"])).picture("w:20", "/a.svg")
        #expect(kept.text == Self.drawing)
    }

    @Test func aPhotographDoesNotBecomeADrawing() async throws {
        let server = try TestServer()
        try server.serve("/a.svg")
        #expect(await server.picture("f:svg", "/a.svg").status == 422)
        #expect(await server.picture("w:10", "/a.svg").fields[.contentType] == "image/png")
        #expect(server.origin.hits("/a.svg") == 2)
    }

    @Test(arguments: ["<svg><g></svg>", "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)"])
    func aDamagedSVGIsRefused(_ text: String) async throws {
        let answer = await (try server([:], text)).picture("", "/a.svg")
        #expect(answer.status == 422 && !answer.text.contains("alert"))
    }

    @Test func aPaletteAndPassesOfPNGsAreSettings() async throws {
        let server = try TestServer([
            "IMGPROXY_PNG_QUANTIZE": "true", "IMGPROXY_PNG_QUANTIZATION_COLORS": "16",
            "IMGPROXY_PNG_INTERLACED": "true",
        ])
        try server.serve()
        let bytes = await server.picture("w:40").bytes
        // The header's bit depth, colour type and interlacing.
        #expect([bytes[24], bytes[25], bytes[28]] == [4, 3, 1])
    }

    private static func options(_ colors: Int) -> EncodeOptions {
        var options = EncodeOptions()
        options.paletteColors = colors
        return options
    }

    /// The bit depth and the colour type in the header of a PNG.
    private static func kind(_ bytes: [UInt8]) -> [UInt8] { [bytes[24], bytes[25]] }

    @Test(arguments: [(2, 1), (4, 2), (16, 4), (250, 8)]) func aPictureWithAPaletteKeepsAPalette(
        _ colors: Int, _ bits: UInt8
    )
        async throws
    {
        let server = try TestServer()
        let source = try SamplePictures.sunset(PixelSize(width: 64, height: 48)).encoded(
            as: .png, Self.options(colors))
        server.origin.serve("/a.png", OriginResponse(body: source))
        #expect(Self.kind(await server.picture("w:40").bytes) == [bits, 3])
        #expect(await server.picture("w:40/f:jpg").fields[.contentType] == "image/jpeg")
        let gif = try SamplePictures.sunset(PixelSize(width: 64, height: 48)).encoded(as: .gif, EncodeOptions())
        server.origin.serve("/a.gif", OriginResponse(body: gif))
        #expect(Self.kind(await server.picture("w:40/f:png", "/a.gif").bytes) == [8, 3])
    }

    @Test func aDrawingThatIsTooLargeIsMadeSmaller() async throws {
        let text = Self.harmless.replacing("width=\"40\" height=\"30\"", with: "width=\"4000\" height=\"3000\"")
        let server = try server(["IMGPROXY_MAX_SRC_RESOLUTION": "0.03"], text)
        #expect(try await server.picture("f:png", "/a.svg").image().size == PixelSize(width: 200, height: 150))
        #expect(try await server.picture("f:png/w:100", "/a.svg").image().size == PixelSize(width: 100, height: 75))
        #expect(try await server.picture("f:png/w:400", "/a.svg").image().size == PixelSize(width: 200, height: 150))
        #expect(await server.picture("f:png/w:400/el:1", "/a.svg").status == 422)
    }

    @Test func theEffortOfEncodersIsASetting() async throws {
        func size(_ format: String, _ variables: [String: String]) async throws -> Int {
            let server = try TestServer(variables)
            try server.serve("/a.png", PixelSize(width: 320, height: 240))
            return await server.picture("w:300/f:\(format)").bytes.count
        }
        #expect(try await size("webp", ["IMGPROXY_WEBP_EFFORT": "0"]) > size("webp", ["IMGPROXY_WEBP_EFFORT": "6"]))
        #expect(try await size("webp", ["IMGPROXY_WEBP_PRESET": "text"]) != size("webp", [:]))
    }
}
