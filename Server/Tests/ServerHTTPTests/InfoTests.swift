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

    /// The old description was served for a day.
    @Test(arguments: [404, 200]) func infoOfASourceThatIsGoneOrPrivateIsNotServedAgain(_ status: Int) async throws {
        let server = try TestServer(["WEBIMAGE_STALE_WHILE_REVALIDATE": "1000"])
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        let path = "/info/_/plain/\(server.origin.url("/a.png"))"
        let first = await server.get(path)
        if status == 404 {
            server.origin.serve("/a.png", OriginResponse(status: 404))
        } else {
            try server.serve("/a.png", PixelSize(width: 9, height: 9), headers: [("Cache-Control", "no-store")])
        }
        server.advance(101)
        #expect(await server.get(path).text == first.text)
        while await server.get(path).text == first.text { await Task.yield() }
        let last = await server.get(path)
        #expect(last.status == status && (status == 404 || last.text.contains("\"width\":9")))
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
        // By rounding, the saturation of these is a little more than 1.
        for (color, mood) in [(0xFF00_0064 as UInt32, "dark_vibrant"), (0xFF76_76FF, "light_vibrant")] {
            let plain = try Image(size: PixelSize(width: 8, height: 8), alpha: .opaque) { bytes in
                for pixel in 0..<64 {
                    bytes.storeBytes(of: color.littleEndian, toByteOffset: pixel * 4, as: UInt32.self)
                }
            }
            server.origin.serve("/\(mood).png", OriginResponse(body: try plain.encoded(as: .png, EncodeOptions())))
            let colors = await server.get("/info/_/f:0/d:0/s:0/dc:1/plain/\(server.origin.url("/\(mood).png"))")
            #expect(colors.text.contains(mood))
        }
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
