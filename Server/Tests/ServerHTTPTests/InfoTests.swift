import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct InfoTests {
    @Test func infoTellsWhatAPictureIsFromItsHeader() async throws {
        let server = try TestServer()
        try server.serve("/a.png", PixelSize(width: 640, height: 480))
        let answer = await server.get("/info/_/plain/\(server.origin.url("/a.png"))")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.fields[.contentType] == "application/json")
        #expect(
            answer.text.hasPrefix(#"{"format":"png","mime_type":"image/png","width":640,"height":480,"size":"#),
            "\(answer.text)")
    }

    @Test func infoTellsColoursAndPlaceholders() async throws {
        let server = try TestServer()
        try server.serve()
        let path = "size:0/f:0/d:0/avg:1/p:3/bh:4:3/th:1/a:1/pn:1/plain/\(server.origin.url("/a.png"))"
        let answer = await server.get("/info/_/\(path)")
        for name in ["average", "palette", "blurhash", "thumb_hash", "alpha", "pages_number"] {
            #expect(answer.text.contains("\"\(name)\":"), "\(name): \(answer.text)")
        }
        #expect(!answer.text.contains("width"))
    }

    @Test(arguments: ["chs:crc32", "c:x", "c:1:1:zz", "nope:1", "bh:0", "p:65", "p:1", "rs:fit:1:1"])
    func invalidInfoOptionsAreRefused(
        option: String
    ) async throws {
        let server = try TestServer()
        try server.serve()
        let answer = await server.get("/info/_/\(option)/plain/\(server.origin.url("/a.png"))")
        #expect(answer.status == 404)
        #expect(answer.text == "Invalid URL")
    }

    @Test func infoIsServedStaleIfTheSourceIsDown() async throws {
        let server = try TestServer(["WEBIMAGE_STALE_IF_ERROR": "1000", "WEBIMAGE_STALE_WHILE_REVALIDATE": "0"])
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        let path = "/info/_/plain/\(server.origin.url("/a.png"))"
        let first = await server.get(path)
        server.origin.serve("/a.png", OriginResponse(status: 503, body: []))
        server.advance(101)
        let stale = await server.get(path)
        #expect(stale.status == 200 && stale.text == first.text)
        #expect(stale.fields[.cacheStatus] == "webimage; hit; detail=stale")
        server.advance(1000)
        #expect(await server.get(path).status == 502)
    }

    @Test func infoIsCachedUntilItExpires() async throws {
        let server = try TestServer(["WEBIMAGE_STALE_WHILE_REVALIDATE": "0"])
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        let path = "/info/_/avg:1/plain/\(server.origin.url("/a.png"))"
        let first = await server.get(path)
        #expect(first.fields[.cacheStatus] == "webimage; fwd=miss" && first.fields[.contentDisposition] == nil)
        let tag = try #require(first.fields[.eTag])
        #expect(await server.get(path).fields[.cacheStatus] == "webimage; hit; detail=memory")
        #expect(await server.get(path, [.ifNoneMatch: tag]).status == 304)
        // Other options give another answer.
        #expect(await server.get(path.replacing("avg:1", with: "avg:0")).text != first.text)
        let hits = server.origin.hits("/a.png")
        try server.serve("/a.png", PixelSize(width: 32, height: 48), headers: [("Cache-Control", "max-age=100")])
        #expect(await server.get(path).text == first.text)
        server.advance(101)
        #expect(await server.get(path).text.contains("\"width\":32"))
        #expect(server.origin.hits("/a.png") == hits + 1)
    }

    @Test func aPurgeRemovesCachedInfo() async throws {
        let server = try TestServer()
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        let path = "/info/_/plain/\(server.origin.url("/a.png"))"
        _ = await server.get(path)
        try server.serve("/a.png", PixelSize(width: 32, height: 48))
        let purge = await server.admin("/purge", #"{"urls": ["\#(server.origin.url("/a.png"))"]}"#)
        #expect(purge.status == 200, "\(purge.text)")
        #expect(await server.get(path).text.contains("\"width\":32"))
    }

    @Test func digestsAreThoseOfTheFile() async throws {
        let server = try TestServer()
        server.origin.serve("/a.png", OriginResponse(body: try TestServer.bytes(.init(width: 8, height: 8), as: .png)))
        let url = server.origin.url("/a.png")
        let answer = await server.get("/info/_/f:0/d:0/s:0/chs:md5:sha1:sha256:sha512/plain/\(url)")
        let bytes = try TestServer.bytes(.init(width: 8, height: 8), as: .png)
        let sha256 = Digest.sha256(bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(answer.text.contains("\"sha256\":\"\(sha256)\""), "\(answer.text)")
        let lengths = answer.text.split(separator: "\"").filter { $0.count >= 32 }.map(\.count)
        #expect(lengths == [32, 40, 64, 128])
        #expect(server.origin.hits("/a.png") == 1)
    }

    @Test func coloursMayBeThoseOfAPart() async throws {
        let server = try TestServer()
        // The left half is red, the right one blue.
        let image = try Image(size: PixelSize(width: 40, height: 20), alpha: .opaque) { bytes in
            for pixel in 0..<800 {
                let color: UInt32 = pixel % 40 < 20 ? 0xFF00_00FF : 0xFFFF_0000
                bytes.storeBytes(of: color.littleEndian, toByteOffset: pixel * 4, as: UInt32.self)
            }
        }
        server.origin.serve("/a.png", OriginResponse(body: try image.encoded(as: .png, EncodeOptions())))
        func average(_ options: String) async -> String {
            await server.get("/info/_/f:0/d:0/s:0/avg:1\(options)/plain/\(server.origin.url("/a.png"))").text
        }
        #expect(await average("/c:20:20:we") == #"{"average":{"R":255,"G":0,"B":0}}"#)
        #expect(await average("/crop:0.5:0:ea") == #"{"average":{"R":0,"G":0,"B":255}}"#)
        #expect(await average("") == #"{"average":{"R":128,"G":0,"B":128}}"#)
    }

    @Test func dominantColoursAreToldByMood() async throws {
        let server = try TestServer()
        // Most of the picture is a vivid red, the rest a dull dark green.
        let image = try Image(size: PixelSize(width: 40, height: 20), alpha: .opaque) { bytes in
            for pixel in 0..<800 {
                let color: UInt32 = pixel % 40 < 30 ? 0xFF14_14DC : 0xFF32_4632
                bytes.storeBytes(of: color.littleEndian, toByteOffset: pixel * 4, as: UInt32.self)
            }
        }
        server.origin.serve("/a.png", OriginResponse(body: try image.encoded(as: .png, EncodeOptions())))
        let url = server.origin.url("/a.png")
        let found = await server.get("/info/_/f:0/d:0/s:0/dc:1/plain/\(url)").text
        #expect(
            found == #"{"dominant_colors":{"vibrant":{"R":220,"G":20,"B":20},"dark_muted":{"R":50,"G":70,"B":50}}}"#)
        let built = await server.get("/info/_/f:0/d:0/s:0/dc:1:1/plain/\(url)").text
        for name in ["vibrant", "muted", "light_vibrant", "dark_vibrant", "light_muted", "dark_muted"] {
            #expect(built.contains("\"\(name)\":"))
        }
    }

    @Test func cameraFactsAreTold() async throws {
        let server = try TestServer()
        // A TIFF header, and one directory with the tag Make, followed by its text.
        let exif: [UInt8] =
            Array("II*".utf8) + [0, 8, 0, 0, 0, 1, 0, 0x0F, 1, 2, 0, 6, 0, 0, 0, 26, 0, 0, 0, 0, 0, 0, 0]
            + Array("NIKON".utf8) + [0]
        var image = try SamplePictures.sunset(PixelSize(width: 32, height: 24))
        image = image.replacingMetadata(ImageMetadata(exif: exif))
        let bytes = try image.encoded(as: .jpeg, EncodeOptions(keepsMetadata: true))
        server.origin.serve("/a.jpg", OriginResponse(body: bytes))
        let answer = await server.get("/info/_/f:0/d:0/s:0/exif:1/plain/\(server.origin.url("/a.jpg"))")
        #expect(answer.text == #"{"exif":{"Make":"NIKON"}}"#)
    }

    /// A PNG with several data chunks, whose EXIF comes last.
    @Test func cameraFactsBehindThePictureAreToldToo() async throws {
        let exif: [UInt8] =
            Array("II*".utf8) + [0, 8, 0, 0, 0, 1, 0, 0x0F, 1, 2, 0, 6, 0, 0, 0, 26, 0, 0, 0, 0, 0, 0, 0]
            + Array("NIKON".utf8) + [0]
        let image = try SamplePictures.sunset(PixelSize(width: 900, height: 700))
        var bytes = try image.replacingMetadata(ImageMetadata(exif: exif))
            .encoded(as: .png, EncodeOptions(keepsMetadata: true))
        let name = Array("eXIf".utf8)
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: name) }) - 4
        let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        let chunk = bytes[start..<start + length + 12]
        bytes.removeSubrange(chunk.indices)
        bytes.insert(contentsOf: chunk, at: bytes.count - 12)
        for options in ["", "chs:sha1/"] {
            // The transfer is held before the EXIF, so that only the header is known at first.
            let (server, gate) = (try TestServer(), Gate())
            server.origin.serve(
                "/a.png", OriginResponse(body: bytes, behaviours: [.hold(gate, at: .byte(bytes.count / 2))]))
            let url = server.origin.url("/a.png")
            async let answer = server.get("/info/_/f:0/d:0/s:0/\(options)exif:1/plain/\(url)")
            #expect(await server.origin.waitForHits("/a.png", 1, timeout: .seconds(20)))
            gate.open()
            let text = await answer.text
            #expect(server.origin.hits("/a.png") == 1)
            #expect(
                text.contains(#""exif":{"Make":"NIKON"}"#) && text.contains("hashsums") != options.isEmpty, "\(text)")
        }
    }

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

    /// A digest that is asked for many times over is calculated once.
    @Test func repeatedDigestsAreOne() async throws {
        let server = try TestServer()
        try server.serve()
        let asked = [String](repeating: "md5", count: 500).joined(separator: ":")
        let answer = await server.get("/info/_/chs:\(asked)/plain/\(server.origin.url("/a.png"))")
        #expect(answer.status == 200 && answer.text.ranges(of: "md5").count == 1, "\(answer.text)")
    }

    /// A description whose source is stale is answered at once, and renewed for later requests.
    @Test func staleDescriptionsAreRenewedInTheBackground() async throws {
        let server = try TestServer()
        try server.serve("/a.png", headers: [("Cache-Control", "max-age=10, stale-while-revalidate=100")])
        let path = "/info/_/plain/\(server.origin.url("/a.png"))"
        #expect(await server.get(path).text.contains(#""width":64"#))
        try server.serve("/a.png", PixelSize(width: 128, height: 96))
        server.advance(20)
        let stale = await server.get(path)
        #expect(stale.text.contains(#""width":64"#))
        #expect(stale.fields[.cacheStatus] == "webimage; hit; detail=stale")
        await server.origin.waitForHits("/a.png", 2)
        while !(await server.get(path).text.contains(#""width":128"#)) { await Task.yield() }
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

    @Test func theSigningPageExistsOnlyInDevelopment() async throws {
        let plain = try TestServer()
        #expect(await plain.get("/").text == "webimage-server")
        #expect(await plain.get("/sign?path=%2Fw%3A1%2Fplain%2Fx").status == 404)
        let open = try TestServer([
            "WEBIMAGE_DEVELOPMENT": "1", "IMGPROXY_KEY": "0a", "IMGPROXY_SALT": "0b", "IMGPROXY_PATH_PREFIX": "/img",
        ])
        let page = await open.get("/img/")
        #expect(page.fields[.contentType] == "text/html; charset=utf-8")
        #expect(page.text.contains("const prefix = \"/img\""))
        let signed = await open.get("/img/sign?path=%2Fw%3A1%2Fplain%2Fx").text
        #expect(signed == open.endpoint.settings.grammar.signed("/w:1/plain/x"))
    }

    /// The times of the stages are for developers. A server without these settings does not tell them.
    @Test(arguments: ["WEBIMAGE_DEVELOPMENT", "IMGPROXY_ENABLE_DEBUG_HEADERS", nil])
    func timeIsToldByStage(_ setting: String?) async throws {
        let server = try TestServer(setting.map { [$0: "1"] } ?? [:])
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        let made = await server.picture("w:10").fields[HTTPField.Name.named("Server-Timing")]
        #expect((made == nil) == (setting == nil))
        if let made {
            let names = made.split(separator: ", ").map { $0.prefix { $0 != ";" } }
            #expect(names.contains("fetch") && names.contains("decode") && names.contains("encode"))
            #expect(made.split(separator: ", ").allSatisfy { $0.contains(";dur=") })
        }
        let kept = await server.picture("w:10").fields[HTTPField.Name.named("Server-Timing")]
        #expect(kept == nil, "nothing was made")
    }

    @Test func metricsCountAnswersByStatusErrorAndCache() async throws {
        let server = try TestServer()
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        _ = await server.picture("w:10")
        _ = await server.picture("w:10")
        _ = await server.picture("nope:1")
        let text = server.endpoint.metricsText
        for line in [
            "requests_total 3", "status_codes_total{status=\"200\"} 2", "status_codes_total{status=\"404\"} 1",
            "errors_total{type=\"path_parsing\"} 1", "webimage_cache_requests_total{result=\"memory\"} 1",
            "webimage_cache_requests_total{result=\"miss\"} 1", "request_duration_seconds_count 3",
            "requests_in_progress 0", "webimage_decoders_crashed_total 0",
        ] { #expect(text.split(separator: "\n").contains(line[...]), "\(line)") }
        #expect(!text.contains("webimage_decoders_started_total 0\n"), "the server's pictures are decoded apart")
    }

    /// A 304 and the answer to a HEAD once counted as many bytes as the picture has.
    @Test func onlyBytesThatAreSentAreCounted() async throws {
        let server = try TestServer()
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        let path = "/_/w:10/plain/\(server.origin.url("/a.png"))"
        let first = await server.get(path)
        let tag = try #require(first.fields[.eTag])
        #expect(await server.get(path, [.ifNoneMatch: tag]).status == 304)
        #expect(await server.get(path, method: .head).status == 200)
        let line = "webimage_result_bytes_total{format=\"png\"} \(first.bytes.count)"
        #expect(server.endpoint.metricsText.split(separator: "\n").contains(line[...]))
    }
}
