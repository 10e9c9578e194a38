import HTTPTypes
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct PictureAnswerTests {
    @Test func aPictureComesInItsSizeAndFormat() async throws {
        let server = try TestServer()
        try server.serve()
        let answer = await server.picture("rs:fill:32:32/f:webp")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.fields[.contentType] == "image/webp")
        #expect(answer.fields[.contentDisposition] == "inline; filename=\"a.webp\"")
        #expect(answer.fields[.cacheControl] == "max-age=31536000, public")
        #expect(answer.fields[.contentSecurityPolicy]?.contains("sandbox") == true)
        #expect(answer.fields[.vary] == nil)
        let image = try await answer.image()
        #expect(image.size == PixelSize(width: 32, height: 32))
        #expect(image.info.format == .webp)
    }

    @Test(arguments: [
        ("w:32", 32, 24), ("rs:force:10:20", 10, 20), ("w:32/pd:3", 38, 30), ("w:16/rot:90", 16, 21),
        ("w:32/h:32/ex:1", 32, 32), ("c:20:10", 20, 10), ("w:16/dpr:2", 32, 24), ("s:128:128", 64, 48),
        ("s:128:128:1", 128, 96), ("w:32/bl:2/sh:1/pix:4", 32, 24), ("c:20:20:sm", 20, 20), ("t:10/w:32", 32, 24),
        ("w:30/ar:0", 30, 23), ("mh:10/rs:fill-down:666:1", 64, 48),
    ]) func sizesAreThoseOfTheOptions(options: String, width: Int, height: Int) async throws {
        let server = try TestServer()
        try server.serve()
        let answer = await server.picture(options + "/f:png")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try await answer.image().size == PixelSize(width: width, height: height))
    }

    @Test func aBackgroundFillsPaddingAndJPEGTakesWhite() async throws {
        let server = try TestServer()
        try server.serve()
        let red = try await server.picture("w:32/pd:4/bg:ff0000/f:png").image()
        #expect(red.pixel(0, 0) == [255, 0, 0, 255])
        let clear = try await server.picture("w:32/pd:4/f:png").image()
        #expect(clear.pixel(0, 0)[3] == 0)
        let white = try await server.picture("w:32/pd:8/f:jpg/q:95").image()
        #expect(white.pixel(0, 0).allSatisfy { $0 > 250 })
    }

    @Test func theFormatFollowsTheClientWhereTheServerChooses() async throws {
        let server = try TestServer(["IMGPROXY_AUTO_WEBP": "1", "IMGPROXY_AUTO_AVIF": "1"])
        try server.serve()
        let both = await server.picture("w:32", "/a.png", [.accept: "image/avif,image/webp,*/*"])
        #expect(both.fields[.contentType] == "image/avif")
        #expect(both.fields[.vary] == "Accept")
        let one = await server.picture("w:32", "/a.png", [.accept: "image/avif;q=0, image/webp;q=0.8"])
        #expect(one.fields[.contentType] == "image/webp")
        let none = await server.picture("w:32", "/a.png", [.accept: "*/*"])
        #expect(none.fields[.contentType] == "image/png")
        let asked = await server.picture("w:32/f:jpg", "/a.png", [.accept: "image/webp"])
        #expect(asked.fields[.contentType] == "image/jpeg")
    }

    @Test func anEnforcedFormatWinsOverTheOneThatIsAskedFor() async throws {
        let server = try TestServer(["IMGPROXY_ENFORCE_WEBP": "1"])
        try server.serve()
        let answer = await server.picture("w:32/f:jpg", "/a.png", [.accept: "image/webp"])
        #expect(answer.fields[.contentType] == "image/webp")
    }

    @Test func aSourceOfAnotherFormatBecomesAPreferredOne() async throws {
        let server = try TestServer()
        try server.serve("/a.webp", as: .webp)
        #expect(await server.picture("w:32", "/a.webp").fields[.contentType] == "image/jpeg")
        #expect(await server.picture("w:32/pd:4", "/a.webp").fields[.contentType] == "image/png")
    }

    /// imgproxy and clients treat an APNG as a PNG.
    @Test func anAnimatedPNGStaysAnimated() async throws {
        let server = try TestServer()
        let animation = try await Image(data: SmallGIF.bytes(width: 40, height: 30))
        let file = try animation.encoded(as: .apng, EncodeOptions())
        server.origin.serve("/a.png", OriginResponse(body: file))
        let answer = await server.picture("w:20")
        let image = try await answer.image()
        #expect(answer.fields[.contentType] == "image/png")
        #expect(image.size == PixelSize(width: 20, height: 15) && (image.animation?.frameCount ?? 1) > 1)
        #expect(await server.picture("skp:png/w:20").bytes == file)
        #expect(try await server.picture("w:20/f:png").image().animation == nil)
    }

    @Test func theOriginIsAskedForAnyTypeAndMustAnswer200() async throws {
        let server = try TestServer()
        try server.serve()
        server.origin.serve(
            "/201", OriginResponse(status: 201, body: try TestServer.bytes(PixelSize(width: 9, height: 9), as: .png)))
        #expect(await server.picture("w:10").status == 200)
        #expect(server.origin.requests("/a.png").first?.header("Accept") == "*/*")
        #expect(await server.picture("w:10", "/201").status == 404)
    }

    @Test func animationsStayAnimatedInFormatsThatHoldThem() async throws {
        let server = try TestServer()
        let bytes = SmallGIF.bytes(width: 32, height: 24)
        server.origin.serve("/a.gif", OriginResponse(body: bytes))
        let gif = await server.picture("w:16", "/a.gif")
        #expect(gif.fields[.contentType] == "image/gif", "\(gif.text)")
        #expect((try await gif.image().animation?.frameCount ?? 1) > 1)
        let webp = try await server.picture("w:16/f:webp", "/a.gif").image()
        #expect((webp.animation?.frameCount ?? 1) > 1)
        let still = try await server.picture("w:16/f:png", "/a.gif").image()
        #expect(still.animation == nil)
    }

    @Test func bytesAreLimitedByQuality() async throws {
        let server = try TestServer()
        try server.serve("/a.png", PixelSize(width: 300, height: 200))
        let large = await server.picture("q:100/f:jpg")
        let small = await server.picture("q:100/f:jpg/mb:3000")
        #expect(large.bytes.count > 3000)
        #expect(small.bytes.count <= 3000)
        // A picture that cannot be made so small is served nevertheless.
        #expect(await server.picture("q:100/f:jpg/mb:10").status == 200)
    }

    @Test func sourcesInSkippedFormatsAreServedUnchanged() async throws {
        let server = try TestServer()
        try server.serve()
        let original = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        #expect(await server.picture("w:10/skp:png").bytes == original)
        #expect(server.origin.hits("/a.png") == 1)
        // If the source's format is not skipped after all, the picture is made from the bytes that were fetched.
        #expect(await server.picture("w:10/skp:gif").bytes != original)
        #expect(server.origin.hits("/a.png") == 2)
        #expect(await server.picture("w:10/skp:jpg").bytes != original)
        #expect(await server.picture("w:10/skp:png/f:webp").bytes != original)
    }

    @Test(.enabled(if: CoderRegistry.standard.encodableFormats.contains(.heic), "there is no encoder of HEIC"))
    func theThumbnailOfAHEICIsUsedOnRequest() async throws {
        var options = EncodeOptions()
        options.embedsThumbnail = true
        let bytes = try SamplePictures.sunset(PixelSize(width: 640, height: 480)).encoded(as: .heic, options)
        for (variables, path) in [([:], "eth:1"), (["IMGPROXY_ENFORCE_THUMBNAIL": "1"], "q:70")] {
            let server = try TestServer(variables)
            server.origin.serve("/a.heic", OriginResponse(body: bytes))
            #expect(
                try await server.picture("\(path)/f:png", "/a.heic").image().size == PixelSize(width: 160, height: 120))
            #expect(
                try await server.picture("eth:0/f:png", "/a.heic").image().size == PixelSize(width: 640, height: 480))
        }
    }

    @Test func skippingDependsOnTheFormatInTheURLNotOnAccept() async throws {
        let server = try TestServer(["IMGPROXY_AUTO_WEBP": "1", "IMGPROXY_SKIP_PROCESSING_FORMATS": "png"])
        try server.serve()
        try server.serve("/a.tiff", as: .tiff)
        let original = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        #expect(await server.picture("w:10", "/a.png", [.accept: "image/webp"]).bytes == original)
        #expect(await server.picture("w:10/f:png").bytes == original)
        #expect(try await server.picture("w:10/f:jpg").image().size == PixelSize(width: 10, height: 8))
        #expect(await server.picture("skp:tiff", "/a.tiff").fields[.contentType] == "image/tiff")
    }

    @Test func formatsAreChosenAsByImgproxy() async throws {
        let server = try TestServer([
            "IMGPROXY_AUTO_AVIF": "1", "IMGPROXY_ENFORCE_WEBP": "1", "IMGPROXY_PREFERRED_FORMATS": "avif,png",
        ])
        try server.serve()
        let all: HTTPFields = [.accept: "image/avif,image/webp"]
        // A better format that may be chosen is preferred to an enforced one, unless the URL asks for a format.
        #expect(await server.picture("w:40", "/a.png", all).fields[.contentType] == "image/avif")
        #expect(await server.picture("w:40/f:png", "/a.png", all).fields[.contentType] == "image/webp")
        // AVIF cannot hold pictures this small.
        try server.serve("/a.jpg", as: .jpeg)
        #expect(await server.picture("w:10", "/a.jpg").fields[.contentType] == "image/jpeg")
    }

    @Test func extendingToTheAspectRatioAddsNoAlpha() async throws {
        let server = try TestServer()
        try server.serve("/a.bmp", as: .bmp)
        #expect(await server.picture("exar:1/rs:fit:50:50", "/a.bmp").fields[.contentType] == "image/jpeg")
        #expect(await server.picture("ex:1/rs:fit:50:50", "/a.bmp").fields[.contentType] == "image/png")
    }

    @Test func framesOfAnAnimationAreBoundedTogetherOrEach() async throws {
        func server(_ variables: [String: String]) throws -> TestServer {
            let server = try TestServer(
                variables.merging(["IMGPROXY_MAX_ANIMATION_FRAMES": "10", "IMGPROXY_ALLOW_SECURITY_OPTIONS": "1"]) {
                    $1
                })
            server.origin.serve("/a.gif", OriginResponse(body: SmallGIF.bytes(width: 100, height: 100)))
            return server
        }
        let open = try server([:])
        #expect(await open.picture("w:50/f:webp", "/a.gif").status == 200)
        #expect(await open.picture("w:50/f:webp/msr:0.012", "/a.gif").status == 422)
        #expect(await open.picture("w:50/f:webp/msr:0.012/mafr:0.012", "/a.gif").status == 200)
        #expect(await open.picture("w:50/f:webp/mafr:0.005", "/a.gif").status == 422)
        // If the result is a still, only one frame counts.
        #expect(await open.picture("w:50/f:png/msr:0.012", "/a.gif").status == 200)
        let bounded = try server(["IMGPROXY_MAX_SRC_RESOLUTION": "0.012"])
        #expect(await bounded.picture("w:50/f:webp", "/a.gif").text == "Invalid source image")
    }

    /// The age of the origin's answer is passed on with its lifetime, so that caches do not keep our answer for longer
    /// than the origin's.
    @Test func theAgeOfTheOriginsAnswerIsHandedOn() async throws {
        let server = try TestServer(["IMGPROXY_CACHE_CONTROL_PASSTHROUGH": "1"])
        server.stopClock()
        try server.serve(headers: [("Cache-Control", "max-age=3600"), ("Age", "3000")])
        let begin = ContinuousClock.now
        let age = try #require(await server.picture("w:10").fields[.age].flatMap { Int($0) })
        #expect(Self.aged(3000, since: begin).contains(age))
        server.advance(6)
        let later = await server.picture("w:10").fields
        #expect(later[.age] == "\(age + 6)" && later[.cacheControl] == "max-age=3600")
        let plain = try TestServer()
        try plain.serve(headers: [("Cache-Control", "max-age=3600"), ("Age", "3000")])
        #expect(await plain.picture("w:10").fields[.age] == nil)
    }

    /// The possible ages of an answer with this stated age: the time since the beginning of the request may be added,
    /// in whole seconds.
    private static func aged(_ stated: Int, since begin: ContinuousClock.Instant) -> ClosedRange<Int> {
        stated...stated + Int((ContinuousClock.now - begin).components.seconds) + 1
    }

    /// The remaining time of the origin's `Expires` is passed on. One in the past or one that is not a date is ignored.
    @Test(arguments: [100, -100, nil]) func theRemainingTimeOfExpiresIsPassedOn(_ seconds: Int?) async throws {
        let server = try TestServer(["IMGPROXY_CACHE_CONTROL_PASSTHROUGH": "1", "IMGPROXY_TTL": "777"])
        server.stopClock()
        let expires = seconds.map { HTTPDateText.text(server.now + $0) } ?? "0"
        try server.serve(headers: [("Date", HTTPDateText.text(server.now)), ("Expires", expires)])
        func left() async throws -> Int {
            let control = try #require(await server.picture("w:10").fields[.cacheControl])
            #expect(control.hasPrefix("max-age=") && control.hasSuffix(", public"), "\(control)")
            return try #require(Int(control.dropFirst(8).prefix { $0.isNumber }))
        }
        let begin = ContinuousClock.now
        let first = try await left()
        #expect(seconds == 100 ? Self.aged(0, since: begin).contains(100 - first) : first == 777)
        server.advance(6)
        #expect(try await left() == (seconds == 100 ? first - 6 : 777))
    }

    @Test func invalidDatesAreNotPassedOn() async throws {
        let server = try TestServer(["IMGPROXY_LAST_MODIFIED_BUSTER": "2026-01-31T12:00:00Z"])
        try server.serve(headers: [("Last-Modified", "not-a-time")])
        #expect(await server.picture("w:10").fields[.lastModified] == nil)
        #expect(await server.picture("raw:1").fields[.lastModified] == nil)
    }

    /// The frames of an animation are not trimmed, as in imgproxy.
    @Test func anAnimationIsNotTrimmed() async throws {
        let server = try TestServer()
        server.origin.serve("/a.gif", OriginResponse(body: SmallGIF.bytes(width: 40, height: 30)))
        let answer = await server.picture("t:10/f:gif", "/a.gif")
        #expect(answer.status == 200, "\(answer.text)")
        let image = try await answer.image()
        #expect(image.size == PixelSize(width: 40, height: 30) && (image.animation?.frameCount ?? 1) > 1)
    }

    @Test func aURLThatExpiresIsKeptNoLonger() async throws {
        let server = try TestServer(["IMGPROXY_CACHE_CONTROL_PASSTHROUGH": "1"])
        try server.serve(headers: [("Cache-Control", "max-age=86400, public")])
        #expect(await server.picture("w:5").fields[.cacheControl] == "max-age=86400, public")
        let short = await server.picture("w:5/exp:\(server.now + 60)").fields[.cacheControl]
        #expect(["max-age=60, public", "max-age=59, public"].contains(short))
    }

    @Test func developmentErrorsDoNotEnableSigning() async throws {
        let server = try TestServer([
            "IMGPROXY_KEY": "aa11", "IMGPROXY_SALT": "bb22", "IMGPROXY_DEVELOPMENT_ERRORS_MODE": "1",
        ])
        #expect(await server.get("/sign?path=/w:50/plain/a").status != 200)
        #expect(await server.get("/x/plain/a").text.contains("signature"))
        let development = try TestServer([
            "IMGPROXY_KEY": "aa11", "IMGPROXY_SALT": "bb22", "WEBIMAGE_DEVELOPMENT": "1",
        ])
        #expect(await development.get("/sign?path=/w:50/plain/a").status == 200)
    }

    @Test func namesAndDispositions() async throws {
        let server = try TestServer()
        try server.serve()
        #expect(
            await server.picture("fn:my%20%22x%22/att:1/f:png").fields[.contentDisposition]
                == "attachment; filename=\"my%20%22x%22.png\"")
        let short = await server.picture("exp:\(server.now + 100)")
        #expect(
            short.fields[.cacheControl]?.hasPrefix("max-age=100,") == true
                || short.fields[.cacheControl]?.hasPrefix("max-age=99,") == true)
    }

    @Test func clientHintsCountWhereTheURLSaysNothing() async throws {
        let server = try TestServer(["IMGPROXY_ENABLE_CLIENT_HINTS": "1"])
        try server.serve("/a.png", PixelSize(width: 400, height: 300))
        let hinted = await server.picture("f:png", "/a.png", [.width: "100", .dpr: "2"])
        #expect(try await hinted.image().size.width == 100)
        #expect(hinted.fields[.vary] == "Sec-CH-DPR, DPR, Sec-CH-Width, Width")
        let said = await server.picture("w:40/dpr:1/f:png", "/a.png", [.width: "100", .dpr: "2"])
        #expect(try await said.image().size.width == 40)
        let older = await server.picture(
            "f:png", "/a.png",
            [
                .init("Sec-CH-DPR")!: "abc", .dpr: "2", .init("Sec-CH-Width")!: "0", .width: "100",
            ])
        #expect(try await older.image().size.width == 100)
        for dpr in ["1e-300", "0.0000001", "nan", "inf", "-1", "9"] {
            let odd = await server.picture("f:png", "/a.png", [.width: "1000000", .dpr: dpr])
            #expect(odd.status == 200, "\(dpr)")
        }
    }

    @Test func metadataExceptTheCopyrightIsRemoved() async throws {
        let xmp = """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
            xmlns:dc="http://purl.org/dc/elements/1.1/" dc:rights="Ada" dc:title="secret"/></rdf:RDF>
            """
        let title: [UInt8] = [0x1C, 2, 5, 0, 1, 65]
        let byline: [UInt8] = [0x1C, 2, 80, 0, 1, 66]
        let details = ImageMetadata(
            exif: Self.exif(["Artist": "Ada", "Copyright": "© Ada", "Software": "secret"]), xmp: Array(xmp.utf8),
            iptc: title + byline)
        let picture = try SamplePictures.sunset(PixelSize(width: 32, height: 32)).replacingMetadata(details)
        let bytes = try picture.encoded(as: .jpeg, EncodeOptions(keepsMetadata: true))
        let server = try TestServer()
        server.origin.serve("/a.jpg", OriginResponse(body: bytes))
        let kept = try await server.picture("w:16", "/a.jpg").image().info.metadata.photo
        #expect(kept?.artist == "Ada")
        #expect(kept?.copyright == "© Ada")
        #expect(kept?.software == nil)
        let image = try await server.picture("w:16", "/a.jpg").image()
        let packet = String(decoding: image.info.metadata.xmp ?? [], as: UTF8.self)
        #expect(packet.contains(#"dc:rights="Ada""#) && !packet.contains("secret"))
        #expect(image.info.metadata.iptc == byline)
        let none = try await server.picture("w:16/kcr:0", "/a.jpg").image().info.metadata.photo
        #expect(none == nil)
        let all = try await server.picture("w:16/sm:0", "/a.jpg").image().info.metadata.photo
        #expect(all?.software == "secret")
    }

    /// A TIFF block (EXIF) with these texts.
    private static func exif(_ texts: [String: String]) -> [UInt8] {
        let tags = ["Software": 305, "Artist": 315, "Copyright": 33432]
        let fields = texts.compactMap { name, text in tags[name].map { ($0, Array(text.utf8) + [0]) } }.sorted {
            $0.0 < $1.0
        }
        func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        var bytes = Array("II*".utf8) + [0] + little(8, 4) + little(fields.count, 2)
        var offset = 8 + 2 + fields.count * 12 + 4
        var tail: [UInt8] = []
        for (tag, text) in fields {
            bytes += little(tag, 2) + little(2, 2) + little(text.count, 4)
            if text.count <= 4 {
                bytes += text + [UInt8](repeating: 0, count: 4 - text.count)
            } else {
                bytes += little(offset, 4)
                offset += text.count
                tail += text
            }
        }
        return bytes + little(0, 4) + tail
    }
}
