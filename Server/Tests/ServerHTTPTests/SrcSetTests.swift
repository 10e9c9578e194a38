import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// `/srcset`: signed URLs of a picture in several widths.
@Suite struct SrcSetTests {
    @Test func infoAndSetsOfSourcesAreSigned() async throws {
        let keys = ["IMGPROXY_KEY": "0a0b", "IMGPROXY_SALT": "0c0d"]
        let server = try TestServer(keys)
        try server.serve("/a.png", PixelSize(width: 640, height: 480))
        let grammar = server.endpoint.settings.grammar
        let source = "plain/\(server.origin.url("/a.png"))"
        #expect(await server.get("/info/_/\(source)").status == 403)
        #expect(await server.get("/info" + grammar.signed("/" + source)).status == 200)
        #expect(await server.get(grammar.signed("/info/" + source)).status == 200)
        #expect(await server.get("/srcset/_/w:20:40/\(source)").status == 403)
        let set = await server.get(grammar.signed("/srcset/w:20:40/q:50/" + source))
        #expect(set.status == 200, "\(set.text)")
        #expect(set.text.contains("\"blurhash\":"))
        // The server accepts each URL of the set.
        let list = try #require(set.text.split(separator: "\"srcset\":\"").last?.prefix { $0 != "\"" })
        let urls = list.split(separator: ", ").map { $0.split(separator: " ")[0] }
        #expect(urls.count == 2)
        for (url, width) in zip(urls, [20, 40]) {
            let picture = await server.get(String(url))
            #expect(try await picture.image().size.width == width)
        }
    }

    @Test(arguments: [
        ("w:100:640:900:2000", "", [100, 640]), ("w:100:900", "el:1", [100, 900]), ("w:900:2000", "", [640]),
        ("w:100:400", "dpr:2", [200, 640]), ("w:100:900", "rot:90", [100, 480]), ("w:50:100", "pd:0:10", [70, 120]),
    ])
    func aSetNamesTheWidthsThatItsPicturesHave(_ widths: String, _ option: String, _ reached: [Int]) async throws {
        let server = try TestServer()
        try server.serve("/a.png", PixelSize(width: 640, height: 480))
        let options = option.isEmpty ? "" : option + "/"
        let set = await server.get("/srcset/_/\(widths)/\(options)plain/\(server.origin.url("/a.png"))")
        #expect(set.status == 200, "\(set.text)")
        let list = try #require(set.text.split(separator: "\"srcset\":\"").last?.prefix { $0 != "\"" })
        let pictures = list.split(separator: ", ").map { $0.split(separator: " ") }
        #expect(pictures.map { $0[1] } == reached.map { "\($0)w" })
        for (picture, width) in zip(pictures, reached) {
            #expect(try await server.get(String(picture[0])).image().size.width == width)
        }
    }

    /// The first character of the separator was once taken for the whole.
    @Test func aSetHasTheSeparatorOfTheConfiguration() async throws {
        let server = try TestServer(["IMGPROXY_ARGUMENTS_SEPARATOR": "_-", "IMGPROXY_PATH_PREFIX": "/img"])
        try server.serve("/a.png", PixelSize(width: 640, height: 480))
        let set = await server.get("/img/srcset/_/w_-20_-40/el_-1/plain/\(server.origin.url("/a.png"))")
        #expect(set.text.contains("/img/_/el_-1/w_-20/plain/") && set.text.contains(" 40w"), "\(set.text)")
    }

    /// imgproxy rounds a crop to pixels of the JPEG or WebP that its decoder has scaled down, and so do our pictures.
    /// The widths in sets were once off by one.
    @Test(arguments: [
        ("c:487:413/h:49", ImageFormat.png, 58), ("c:487:413/h:49", .jpeg, 57), ("c:487:413:sm/h:49", .jpeg, 57),
        ("c:470:797/h:111/rot:90", .jpeg, 66), ("c:843:1019/h:89", .webp, 73), ("c:888:324/h:179/rot:90", .webp, 490),
    ])
    func aSetNamesTheWidthsOfCroppedPictures(_ options: String, _ format: ImageFormat, _ width: Int) async throws {
        let server = try TestServer()
        try server.serve("/a", PixelSize(width: 975, height: 1376), as: format)
        let set = await server.get("/srcset/_/w:600/\(options)/plain/\(server.origin.url("/a"))")
        let list = try #require(set.text.split(separator: "\"srcset\":\"").last?.prefix { $0 != "\"" })
        let picture = list.split(separator: " ")
        #expect(picture.count == 2 && picture[1] == "\(width)w", "\(list)")
        #expect(try await server.get(String(picture[0])).image().size.width == width)
    }

    /// Compressed with gzip: `<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'/>`
    private static let compressedDrawing: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xB3, 0x29, 0x2E, 0x4B, 0x57, 0xA8, 0xC8,
        0xCD, 0xC9, 0x2B, 0xB6, 0x55, 0xCF, 0x28, 0x29, 0x29, 0xB0, 0xD2, 0xD7, 0x2F, 0x2F, 0x2F, 0xD7, 0x2B,
        0x37, 0xD6, 0xCB, 0x2F, 0x4A, 0xD7, 0x37, 0x32, 0x30, 0x30, 0xD0, 0x07, 0xAA, 0x50, 0x57, 0x28, 0xCF,
        0x4C, 0x29, 0xC9, 0xB0, 0x55, 0x37, 0x32, 0x50, 0x57, 0xC8, 0x48, 0xCD, 0x4C, 0xCF, 0x28, 0xB1, 0x55,
        0x37, 0x34, 0x50, 0xD7, 0xB7, 0x03, 0x00, 0x45, 0x61, 0xC9, 0x6F, 0x40, 0x00, 0x00, 0x00,
    ]

    /// A vector drawing has every width that is asked for. A compressed one was once taken for a picture of pixels.
    @Test(arguments: [false, true]) func aSetOfADrawingHasAllWidths(isCompressed: Bool) async throws {
        let server = try TestServer()
        let drawing =
            "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'><rect width='9' height='9'/></svg>"
        let body = isCompressed ? Self.compressedDrawing : Array(drawing.utf8)
        server.origin.serve("/a.svg", .init(headers: [("Content-Type", "image/svg+xml")], body: body))
        let set = await server.get("/srcset/_/w:20:40/plain/\(server.origin.url("/a.svg"))@png")
        #expect(set.text.contains(" 40w"), "\(set.text)")
    }

    /// A source that is sent unchanged has its own width, whatever is asked for. An icon is at most 256 pixels wide.
    @Test(arguments: [
        ("skp:png/", "", "640w"), ("raw:1/", "", "640w"), ("", "@svg", "20w"), ("f:ico/", "", "256w"),
        ("skp:png/f:jpg/", "", "500w"),
    ])
    func aSetOfAnUnscaledPictureHasOneWidth(_ options: String, _ suffix: String, _ width: String) async throws {
        let server = try TestServer()
        try server.serve("/a", PixelSize(width: 640, height: 480))
        if suffix == "@svg" {
            let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'/>"
            server.origin.serve("/a", .init(headers: [("Content-Type", "image/svg+xml")], body: Array(drawing.utf8)))
        }
        let set = await server.get("/srcset/_/w:500:600/\(options)plain/\(server.origin.url("/a"))\(suffix)")
        let list = try #require(set.text.split(separator: "\"srcset\":\"").last?.prefix { $0 != "\"" })
        #expect(list.split(separator: ", ").first?.split(separator: " ").last == width[...], "\(list)")
        #expect(list.split(separator: ", ").count == (width == "500w" ? 2 : 1), "\(list)")
    }

    @Test func aSetOfURLsThatExpireExpiresWithThem() async throws {
        let server = try TestServer()
        try server.serve("/a.png", PixelSize(width: 640, height: 480))
        let source = "plain/\(server.origin.url("/a.png"))"
        let set = await server.get("/srcset/_/w:20:40/exp:\(server.now + 100)/\(source)")
        let seconds = set.fields[.cacheControl]?.split(separator: ",").first.flatMap { Int($0.dropFirst(8)) }
        #expect(set.status == 200 && (90...100).contains(seconds ?? 0), "\(set.fields[.cacheControl] ?? "")")
    }

    @Test(arguments: ["w:0", "w:x", "h:20", "w", "w:99999", "w:" + (1...33).map(String.init).joined(separator: ":")])
    func setsThatMakeNoSenseAreInvalid(widths: String) async throws {
        let server = try TestServer()
        #expect(await server.get("/srcset/_/\(widths)/plain/\(server.origin.url("/a.png"))").status == 404)
    }

    /// With presets only, there is no option `w`, and such a set was once an `Invalid URL`.
    @Test func withOnlyPresetsASetHasAPictureForEachPreset() async throws {
        let server = try TestServer([
            "IMGPROXY_ONLY_PRESETS": "1", "IMGPROXY_KEY": "0a0b", "IMGPROXY_SALT": "0c0d",
            "IMGPROXY_PRESETS": "small=w:20,large=w:40,same=rs:fit:40:40,huge=w:4000,default=q:50",
        ])
        try server.serve()
        let grammar = server.endpoint.settings.grammar
        let source = "plain/\(server.origin.url("/a.png"))"
        let set = await server.get(grammar.signed("/srcset/large:small:same:huge/" + source))
        #expect(set.status == 200, "\(set.text)")
        let list = try #require(set.text.split(separator: "\"srcset\":\"").last?.prefix { $0 != "\"" })
        let pictures = list.split(separator: ", ").map { $0.split(separator: " ") }
        #expect(pictures.map { $0[1] } == ["20w", "40w", "64w"])
        #expect(pictures.map { $0[0].split(separator: "/")[1] } == ["small", "large", "huge"])
        for (picture, width) in zip(pictures, [20, 40, 64]) {
            #expect(try await server.get(String(picture[0])).image().size.width == width)
        }
    }

    /// A picture with a watermark is published. Its signature must not give anybody the picture without the watermark.
    @Test func theSignatureOfAPictureOpensNoSet() async throws {
        let server = try TestServer([
            "IMGPROXY_ONLY_PRESETS": "1", "IMGPROXY_KEY": "0a0b", "IMGPROXY_SALT": "0c0d",
            "IMGPROXY_PRESETS": "mark=q:10,small=w:20",
        ])
        try server.serve()
        let picture = server.endpoint.settings.grammar.signed("/mark:small/plain/\(server.origin.url("/a.png"))")
        #expect(await server.get(picture).status == 200)
        #expect(await server.get("/srcset" + picture).status == 403)
    }

    @Test(arguments: ["w:20:40", "small:nope", "small:", ""])
    func withOnlyPresetsASetTakesNothingElse(first: String) async throws {
        let server = try TestServer([
            "IMGPROXY_ONLY_PRESETS": "1", "IMGPROXY_PRESETS": "small=w:20", "IMGPROXY_DEVELOPMENT_ERRORS_MODE": "1",
        ])
        try server.serve()
        let answer = await server.get("/srcset/_/\(first)/plain/\(server.origin.url("/a.png"))")
        #expect(answer.status == 404, "\(first)")
        if !first.isEmpty { #expect(answer.text.contains("must begin with the names of presets"), "\(answer.text)") }
    }
}
