import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct RefusalTests {
    @Test func errorsHaveImgproxysTextsAndAreNotCached() async throws {
        let server = try TestServer()
        try server.serve()
        server.origin.serve("/500", OriginResponse(status: 500))
        server.origin.serve("/410", OriginResponse(status: 410))
        server.origin.serve("/text", OriginResponse(body: Array("no picture at all, just text".utf8)))
        let whole = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        server.origin.serve("/broken", OriginResponse(body: Array(whole.prefix(whole.count / 2))))
        server.origin.serve(
            "/cut", OriginResponse(body: whole, framing: .contentLength, behaviours: [.cut(at: .byte(50))]))
        for (path, options, status, text) in [
            ("/missing", "w:10", 404, "Source is unreachable"), ("/410", "w:10", 410, "Source is unreachable"),
            ("/500", "w:10", 502, "Source is unreachable"), ("/text", "w:10", 422, "Invalid source image"),
            ("/broken", "w:10", 422, "Broken or unsupported image"),
            ("/cut", "w:10", 422, "Source response is incomplete"),
            ("/a.png", "nope:1", 404, "Invalid URL"), ("/a.png", "f:svg", 422, "Invalid URL"),
        ] {
            let answer = await server.picture(options, path)
            #expect(answer.status == status, "\(path) \(options)")
            #expect(answer.text == text, "\(path) \(options)")
            #expect(answer.fields[.contentType] == "text/plain")
            #expect(answer.fields[.cacheControl] == nil)
        }
    }

    @Test func sourcesThatAreTooLargeAreRefused() async throws {
        let server = try TestServer(["IMGPROXY_MAX_SRC_RESOLUTION": "0.002", "IMGPROXY_MAX_SRC_FILE_SIZE": "20000"])
        try server.serve()
        server.origin.serve("/long", OriginResponse(body: [UInt8](repeating: 7, count: 30_000)))
        #expect(await server.picture("w:10").text == "Invalid source image")
        #expect(await server.picture("w:10", "/long").text == "Invalid source image")
    }

    /// The messages once named options of the command-line tool.
    @Test(arguments: [
        ("IMGPROXY_MAX_SRC_RESOLUTION", "0.002", "w:10", ImageFormat.png),
        ("IMGPROXY_MAX_SRC_FILE_SIZE", "100", "w:10", .png),
        ("WEBIMAGE_MAX_RESULT_RESOLUTION", "0.001", "rs:force:40:40", .png),
        ("IMGPROXY_MAX_ANIMATION_FRAME_RESOLUTION", "0.001", "w:10", .gif),
    ]) func theErrorOfALimitNamesItsVariable(
        _ variable: String, _ value: String, _ options: String, _ format: ImageFormat
    ) async throws {
        let server = try TestServer([variable: value, "IMGPROXY_DEVELOPMENT_ERRORS_MODE": "1"])
        let size = PixelSize(width: 64, height: 48)
        let bytes = try format == .gif ? SmallGIF.bytes(width: 64, height: 48) : TestServer.bytes(size, as: format)
        server.origin.serve("/a", OriginResponse(body: bytes))
        let text = await server.picture(options, "/a").text
        #expect(text.contains("raise \(variable) to allow it"), "\(text)")
        #expect(!text.contains("--max") && !text.contains("DecodeLimits"), "\(text)")
    }

    /// A frame may have more pixels than a still picture, if that is set.
    @Test func framesOfAnAnimationMayHaveALimitOfTheirOwn() async throws {
        let server = try TestServer(["IMGPROXY_ALLOW_SECURITY_OPTIONS": "1"])
        server.origin.serve("/a", OriginResponse(body: SmallGIF.bytes(width: 64, height: 48)))
        let still = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        server.origin.serve("/b", OriginResponse(body: still))
        #expect(await server.picture("f:webp/msr:0.002/mafr:0.004", "/a").status == 200)
        #expect(await server.picture("f:webp/msr:0.002/mafr:0.003", "/a").status == 422)
        #expect(await server.picture("f:webp/msr:0.002/mafr:0.004", "/b").status == 422)
    }

    @Test func aResultHasAtMost16384PixelsASide() async throws {
        let server = try TestServer([:])
        server.origin.serve(
            "/a", OriginResponse(body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)))
        #expect(await server.picture("rs:force:16384:4/el:1/f:png", "/a").status == 200)
        #expect(await server.picture("rs:force:16385:4/el:1/f:png", "/a").status == 422)
        // WebP has a limit of its own, to which pictures are made smaller.
        #expect(await server.picture("rs:force:20000:40/el:1/f:webp", "/a").status == 200)
        let compatible = try TestServer(["WEBIMAGE_COMPAT": "imgproxy"])
        compatible.origin.serve(
            "/a", OriginResponse(body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)))
        #expect(await compatible.picture("rs:force:16385:4/el:1/f:png", "/a").status == 200)
    }

    /// The messages once named the variable, although the URL itself sets the limit.
    @Test(arguments: [
        ("msfs:100", "max_src_file_size", ImageFormat.png), ("msfs:100/raw:1", "max_src_file_size", .png),
        ("msr:0.001", "max_src_resolution", .png), ("mafr:0.001", "max_animation_frame_resolution", .gif),
    ]) func theErrorOfALimitInTheURLNamesItsOption(
        _ options: String, _ option: String, _ format: ImageFormat
    ) async throws {
        let server = try TestServer(["IMGPROXY_ALLOW_SECURITY_OPTIONS": "1", "IMGPROXY_DEVELOPMENT_ERRORS_MODE": "1"])
        let size = PixelSize(width: 64, height: 48)
        let bytes = try format == .gif ? SmallGIF.bytes(width: 64, height: 48) : TestServer.bytes(size, as: format)
        server.origin.serve("/a", OriginResponse(body: bytes))
        let text = await server.picture(options, "/a").text
        #expect(text.contains("raise \(option) in the URL to allow it"), "\(text)")
        #expect(!text.contains("IMGPROXY_") && !text.contains("--max"), "\(text)")
    }

    /// The messages once named options of the command-line tool.
    @Test(arguments: [
        ("IMGPROXY_MAX_SRC_RESOLUTION", "0.002"), ("IMGPROXY_MAX_SRC_FILE_SIZE", "100"),
    ]) func aConfiguredPictureThatIsTooLargeNamesTheVariable(_ variable: String, _ value: String) async throws {
        let server = try TestServer([variable: value])
        try server.serve()
        var settings = server.endpoint.settings
        settings.watermark = .url(server.origin.url("/a.png"))
        settings.fallback = settings.watermark
        let pictures = ConfiguredPictures(manager: server.manager, settings: settings)
        let error = await #expect(throws: WebImageError.self) { _ = try await pictures.watermark() }
        let text = error?.description ?? ""
        #expect(text.contains("IMGPROXY_WATERMARK") && text.contains("raise \(variable) to allow it"), "\(text)")
        #expect(!text.contains("--max"), "\(text)")
        guard variable == "IMGPROXY_MAX_SRC_FILE_SIZE" else { return }
        let other = await #expect(throws: WebImageError.self) { _ = try await pictures.fallback() }
        #expect(other?.description.contains("raise \(variable) to allow it") == true)
    }

    /// The library's own limit of 64 MiB for one file once held in addition to the variable's.
    @Test(arguments: [("0", 1 << 40), ("100000000", 100_000_000), ("1000", 64 << 20)])
    func aSourceMayBeAsLongAsTheVariableSays(_ value: String, _ longest: Int) throws {
        let variables = ["IMGPROXY_BIND": "127.0.0.1:0", "IMGPROXY_MAX_SRC_FILE_SIZE": value]
        let settings = try ServerSettings(environment: variables, readFile: { _ in nil }, now: { 0 })
        let plan = PicturePlan(URLGrammar.ParsedURL(source: "http://pictures.test/a.png"), settings)
        let request = try plan.request(isStill: true, timeout: nil)
        #expect(request.decoding.limits.bytes == ByteCount(longest))
    }

    @Test(arguments: [
        "127.0.0.1", "127.1", "0.0.0.0", "2130706433", "0x7f.1", "0177.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "[::]", "[::1]",
        "[::7f00:1]", "[::ffff:10.0.0.1]", "[fc00::1]", "[ff02::1]", "[64:ff9b::a00:1]", "[64:ff9b:1::1]",
        "[2002:a00:1::]",
        "[2001::f5ff:fffe]", "[fe80::5efe:a00:1]", "localhost", "good@127.0.0.1", "127.0.0.1.",
        "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
    ]) func strangersReachNoAddressOfThisMachineOrItsNetwork(host: String) async throws {
        let server = try TestServer(["IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "0"])
        try server.serve()
        let answer = await server.get(
            "/_/w:10/plain/" + PercentEncoding.encode("http://\(host):\(server.origin.port)/a.png"))
        #expect(answer.status == 404)
        #expect(answer.text == "Invalid source URL" || answer.text == "Source is unreachable", "\(answer.text)")
        #expect(server.origin.connectionCount == 0)
    }

    @Test(arguments: [
        "http://127.0.0.2", "http://0.0.0.0", "http://[::ffff:127.0.0.1]", "file:///etc/passwd", "http://10.0.0.1",
    ])
    func redirectsToForbiddenAddressesAreNotFollowed(target: String) async throws {
        // The only allowed address is that of the origin, by an exception in the policy.
        let server = try TestServer(["IMGPROXY_ALLOWED_SOURCES": "http://127.0.0.1"])
        let other = try OriginServer()
        server.origin.serve(
            "/r",
            OriginResponse(
                status: 302, headers: [("Location", target.hasPrefix("file") ? target : "\(target):\(other.port)/a")]))
        let answer = await server.picture("w:10", "/r")
        #expect(answer.status == 404, "\(answer.status)")
        #expect(other.connectionCount == 0)
    }

    @Test(arguments: [
        "file:///etc/passwd", "data:text/plain,x", "/etc/passwd", "gopher://a/", "local:///etc/passwd", "a.png",
    ])
    func onlyHTTPIsLoaded(source: String) async throws {
        let server = try TestServer()
        let answer = await server.get("/_/plain/" + PercentEncoding.encode(source))
        #expect(answer.status == 404)
    }

    /// The origin answers 304. That is an answer only if the client's request had a condition.
    @Test func a304OfTheOriginAnswersOnlyConditionalRequests() async throws {
        let server = try TestServer()
        server.origin.serve("/a.png", .status(304))
        for options in ["w:10", "raw:1"] {
            let asked = await server.picture(options, "/a.png", [.ifNoneMatch: "\"x\""])
            #expect(asked.status == 304 && asked.bytes.isEmpty)
            let plain = await server.picture(options, "/a.png")
            #expect(plain.status == 404 && plain.text == "Source is unreachable")
        }
    }

    @Test(arguments: [
        "foo", "/etc/passwd", "s3://b/k", "file:///etc/passwd", "data:image/png,x", "http://",
        "http://127.0.0.1:99999/",
        "http://10.0.0.1/x", "local:///a.png",
    ])
    func aFallbackStandsForInvalidSources(_ source: String) async throws {
        let server = try TestServer(
            fallback: try TestServer.bytes(PixelSize(width: 40, height: 20), as: .png))
        let answer = await server.get("/_/w:10/plain/" + PercentEncoding.encode(source))
        #expect(answer.status == 200 && answer.fields[.named("Fallback-Image")] == "1", "\(answer.text)")
        let none = await (try TestServer()).get("/_/w:10/plain/" + PercentEncoding.encode(source))
        let isRefused = source.hasPrefix("http://10")
        #expect(none.status == 404 && none.text == (isRefused ? "Invalid source URL" : "Source is unreachable"))
    }

    /// An origin that fails again and again is not asked for a while. Clients see no difference.
    @Test func aFallbackStandsForOriginsThatKeepFailing() async throws {
        let server = try TestServer(fallback: try TestServer.bytes(PixelSize(width: 40, height: 20), as: .png))
        for number in 0..<20 {
            server.origin.serve("/\(number)", OriginResponse(status: 503))
            let answer = await server.picture("w:10", "/\(number)")
            #expect(answer.status == 200 && answer.fields[.named("Fallback-Image")] == "1", "\(number) \(answer.text)")
        }
        #expect(server.origin.hits("/9") == 1 && server.origin.hits("/19") == 0)
        let text = server.endpoint.metricsText
        #expect(text.contains("webimage_shed_total 0\n"))
        let plain = try TestServer(origin: server.origin)
        for number in 0..<11 { _ = await plain.picture("w:10", "/\(number)") }
        let refused = await plain.picture("w:10", "/11")
        #expect(refused.status == 502 && refused.text == "Source is unreachable")
    }

    @Test func onlyAllowedSourcesAreServed() async throws {
        let server = try TestServer(["IMGPROXY_ALLOWED_SOURCES": "http://127.0.0.1:*/good/"])
        try server.serve("/good/a.png")
        try server.serve("/bad/a.png")
        #expect(await server.picture("w:10", "/good/a.png").status == 200)
        let refused = await server.picture("w:10", "/bad/a.png")
        #expect(refused.status == 404)
        #expect(refused.text == "Invalid source URL")
        #expect(server.origin.hits("/bad/a.png") == 0)
    }

    /// The origin decodes the path and would serve a file outside of the allowed part.
    @Test(arguments: [
        "/good/%252e%252e/bad/a.png", "/good/..%252fbad/a.png", "/good/..%255cbad/a.png", "/good/../bad/a.png",
    ])
    func segmentsOfDotsLeadNowhereElse(path: String) async throws {
        let server = try TestServer(["IMGPROXY_ALLOWED_SOURCES": "http://127.0.0.1:*/good/"])
        let decoded = path.replacing("%25", with: "%")
        server.origin.serve("/good/r", OriginResponse(status: 302, headers: [("Location", decoded)]))
        for source in [path, "/good/r"] {
            let answer = await server.picture("w:10", source)
            #expect(answer.status == 404 && answer.text == "Invalid source URL", "\(answer.text)")
        }
        #expect(server.origin.connectionCount == 1 && server.origin.hits("/good/r") == 1)
    }

    /// A redirect to a source that is not allowed does not count as an origin that is down: the old result is not
    /// served.
    @Test func aRedirectToAForbiddenSourceIsAnInvalidSource() async throws {
        let server = try TestServer([
            "IMGPROXY_ALLOWED_SOURCES": "http://127.0.0.1", "WEBIMAGE_STALE_WHILE_REVALIDATE": "0",
        ])
        try server.serve(headers: [("Cache-Control", "max-age=10")])
        func redirect(_ url: String) -> OriginResponse {
            OriginResponse(status: 302, headers: [("Location", url), ("Cache-Control", "max-age=10")])
        }
        let elsewhere = server.origin.url("/a.png").replacing("127.0.0.1", with: "localhost")
        server.origin.serve("/r", redirect(server.origin.url("/a.png")), redirect(elsewhere))
        #expect(await server.picture("w:10", "/r").status == 200)
        server.advance(20)
        let answer = await server.picture("w:10", "/r")
        #expect(answer.status == 404 && answer.text == "Invalid source URL", "\(answer.text)")
    }

    /// Two URLs that Swift's strings compare as equal have different signatures.
    @Test func urlsAreComparedByTheirBytes() async throws {
        let (one, other) = ("/_/plain/http://a/\u{e9}", "/_/plain/http://a/e\u{301}")
        #expect(one == other && KnownURLs.Asked(target: one) != KnownURLs.Asked(target: other))
        #expect(Set([one, other].map { KnownURLs.Asked(target: $0) }).count == 2)
        #expect(KnownURLs.Asked(target: "/", accept: "\u{37e}") != KnownURLs.Asked(target: "/", accept: ";"))
        // Over HTTP/1.1 the parser would refuse such a target as well.
        #expect(await (try TestServer()).get(one).status == 400)
    }

    @Test func otherMethodsBodiesAndLongURLsAreRefused() async throws {
        let server = try TestServer()
        let posted = await server.get("/_/plain/http://a.b/c", method: .post)
        #expect(posted.status == 405)
        #expect(posted.fields[.allow] == "GET, HEAD, OPTIONS")
        #expect(posted.fields[.connection] == nil)
        #expect(await server.get("/health", [.contentLength: "5"]).status == 413)
        // A request with a body ends the connection, whatever its method.
        for method in [HTTPRequest.Method.get, .post, .options] {
            for field in [
                HTTPField(name: .contentLength, value: "5"), .init(name: .transferEncoding, value: "chunked"),
            ] {
                #expect(
                    await server.get("/health", [field.name: field.value], method: method).fields[.connection]
                        == "close")
            }
        }
        #expect(await server.get("/_/plain/http://a.b/" + String(repeating: "c", count: 9000)).status == 414)
        #expect(await server.get("/health").status == 200)
        #expect(await server.get("/ready").text == "ready")
    }

    /// A server whose decoders fail to start is not ready, unless a decoder already runs.
    @Test func aServerWhoseDecodersDoNotStartIsNotReady() async throws {
        let server = try TestServer()
        var decoders = server.manager.isolationReport
        decoders.startsAgainIn = .seconds(1)
        let answer = server.endpoint.readiness(decoders: decoders)
        #expect(answer.status == 503 && answer.text == "decoders do not start")
        decoders.running = 1
        #expect(server.endpoint.readiness(decoders: decoders).text == "ready")
    }

    @Test func headIsCheckedAndHasTheFieldsOfGet() async throws {
        let server = try TestServer()
        try server.serve()
        let path = "/_/w:10/plain/\(server.origin.url("/a.png"))"
        let whole = await server.get(path)
        let head = await server.get(path, method: .head)
        #expect(head.status == 200)
        #expect(head.bytes.isEmpty)
        #expect(head.fields[.contentLength] == "\(whole.bytes.count)")
        #expect(head.fields[.eTag] == whole.fields[.eTag])
        #expect(await server.get("/_/nope:1/plain/http://a.b", method: .head).status == 404)
    }

    @Test func theSecretIsABearer() async throws {
        let server = try TestServer(["IMGPROXY_SECRET": "s3cret"])
        try server.serve()
        #expect(await server.picture("w:10").text == "Forbidden")
        #expect(await server.picture("w:10", "/a.png", [.authorization: "Bearer s3cret"]).status == 200)
        #expect(await server.picture("w:10", "/a.png", [.authorization: "Bearer s3cre"]).status == 403)
        #expect(await server.get("/health").status == 200)
    }

    @Test(arguments: [
        ("/SIG/w:1/plain/x", "", "/-/w:1/plain/x"), ("/info/SIG/avg:1/plain/x", "", "/info/-/avg:1/plain/x"),
        ("/srcset/SIG/w:1/plain/x", "", "/srcset/-/w:1/plain/x"),
        ("/img/SIG/w:1/plain/x", "/img", "/img/-/w:1/plain/x"),
        ("/img/info/SIG/plain/x", "/img", "/img/info/-/plain/x"), ("/health", "", "/health"), ("/", "/img", "/"),
        ("/SIG/w:1/plain/https:%2F%2Fme:pw@host/a.jpg", "", "/-/w:1/plain/https://host/a.jpg"),
        ("/SIG/plain/https://me:p%40w%40host/a.jpg@png", "", "/-/plain/https://host/a.jpg@png"),
        (
            "/SIG/w:1/plain/https://host/a.jpg%3FX-Amz-Signature=1%26v=2", "",
            "/-/w:1/plain/https://host/a.jpg?X-Amz-Signature=…&v=2"
        ),
        ("/SIG/w:1/aHR0cHM6Ly9tZTpwd0Bob3N0L2EuanBn.png", "", "/-/w:1/plain/https://host/a.jpg@png"),
        ("/SIG/w:1/aHR0cHM6Ly9ob3N0L2EuanBn.png", "", "/-/w:1/aHR0cHM6Ly9ob3N0L2EuanBn.png"),
        (
            "/SIG/w%3A1/plain/http%3A%2F%2Fuser%3APASSW0RD%40host%2Fa.jpg%3Ftoken=T0KEN", "",
            "/-/w:1/plain/http://host/a.jpg?token=…"
        ),
        ("/SIG/w:1/plain/me:pw%40host/a.jpg%3Ftoken=T0KEN", "", "/-/w:1/plain/host/a.jpg?token=…"),
        ("/SIG/w:1/plain/ht!tp://me:pw@host/a.jpg", "", "/-/w:1/plain/ht!tp://host/a.jpg"),
        ("/SIG/w:1/plain/http:/me:pw@host/a.jpg", "", "/-/w:1/plain/http://host/a.jpg"),
        ("//SIG/w:1/plain/x", "", "/-/w:1/plain/x"), ("/SIG", "", "/-"), ("/info/SIG", "", "/info/-"),
        ("/SIG/w:1/plain/x?token=T0KEN", "", "/-/w:1/plain/x"), ("/SIG/", "", "/-/"),
        ("/SIG/w:1/plain/http:%2F%2Fme:pw%ZZhost", "", "/-/w:1/-"), ("/SIG/w:1/!!!", "", "/-/w:1/-"),
    ]) func theLogHasNoSecrets(path: String, prefix: String, logged: String) {
        var grammar = URLGrammar()
        grammar.pathPrefix = prefix
        #expect(grammar.logged(path) == logged)
    }

    @Test func onlyHarmlessRequestIDsAreSentBack() async throws {
        let server = try TestServer()
        #expect(await server.get("/health", [.requestID: "abc_1-2"]).fields[.requestID] == "abc_1-2")
        #expect(await server.get("/health", [.requestID: "a b"]).fields[.requestID] != "a b")
    }

    /// A fallback with an error's status has no lifetime, as other errors, because the picture may exist later.
    @Test(arguments: [("0", nil), ("404", nil), ("200", "max-age=31536000, public")] as [(String, String?)])
    func aFallbackThatIsAnErrorStatesNoLifetime(_ status: String, _ wanted: String?) async throws {
        let server = try TestServer(
            ["IMGPROXY_FALLBACK_IMAGE_HTTP_CODE": status],
            fallback: try TestServer.bytes(PixelSize(width: 40, height: 20), as: .png))
        let answer = await server.picture("w:10", "/missing.png")
        #expect(answer.fields[.named("Fallback-Image")] == "1" && answer.fields[.cacheControl] == wanted)
        let short = await server.picture("w:10/exp:\(server.now + 20)", "/missing.png")
        #expect(["max-age=20, public", "max-age=19, public"].contains(short.fields[.cacheControl]))
    }

    @Test(
        arguments: [
            (["IMGPROXY_CACHE_CONTROL_PASSTHROUGH": "1"], "max-age=7, private"),
            (["IMGPROXY_CACHE_CONTROL_PASSTHROUGH": "1", "IMGPROXY_FALLBACK_IMAGE_TTL": "70"], "max-age=70, public"),
            (["IMGPROXY_CACHE_CONTROL_PASSTHROUGH": "1", "IMGPROXY_FALLBACK_IMAGE_HTTP_CODE": "404"], nil),
            ([:], "max-age=31536000, public"),
        ] as [([String: String], String?)])
    func theLifetimeOfAFallbacksOwnOriginIsPassedOn(_ variables: [String: String], _ wanted: String?) async throws {
        let server = try TestServer(
            variables, fallback: try TestServer.bytes(PixelSize(width: 40, height: 20), as: .png),
            fallbackCacheControl: "max-age=7, private")
        // The second answer comes from the result cache.
        for _ in 1...2 {
            let answer = await server.picture("w:10", "/missing.png")
            #expect(answer.fields[.named("Fallback-Image")] == "1" && answer.fields[.cacheControl] == wanted)
            #expect(answer.fields[.age] == nil)
        }
    }

    @Test func theLifetimeOfAFallbackIsThatOfItsURL() async throws {
        let server = try TestServer()
        try server.serve("/a.png", headers: [("Cache-Control", "max-age=7")])
        var settings = server.endpoint.settings
        settings.fallback = .url(server.origin.url("/a.png"))
        let picture = try await ConfiguredPictures(manager: server.manager, settings: settings).fallback()
        #expect(picture?.cacheControl == "max-age=7" && picture?.bytes.isEmpty == false)
    }

    @Test func aFallbackStandsForSourcesThatFailAndNotForBadURLs() async throws {
        let server = try TestServer(
            ["IMGPROXY_FALLBACK_IMAGE_HTTP_CODE": "0", "IMGPROXY_FALLBACK_IMAGE_TTL": "70"],
            fallback: try TestServer.bytes(PixelSize(width: 40, height: 20), as: .png))
        let answer = await server.picture("w:10", "/missing.png")
        #expect(answer.status == 404)
        // The fallback is made with the options of the URL.
        #expect(try await answer.image().size == PixelSize(width: 10, height: 5))
        #expect(answer.fields[.cacheControl] == "max-age=70, public")
        #expect(answer.fields[.contentDisposition] == "inline; filename=\"missing.png\"")
        let square = await server.picture("rs:fill:8:8/f:webp/exp:\(server.now + 20)", "/missing.png")
        #expect(square.fields[.contentType] == "image/webp")
        #expect(try await square.image().size == PixelSize(width: 8, height: 8))
        #expect(["max-age=20, public", "max-age=19, public"].contains(square.fields[.cacheControl]))
        // The fallback also replaces a source that is not a picture. A damaged picture and invalid options are errors.
        server.origin.serve("/text", OriginResponse(body: Array("no picture at all, but text".utf8)))
        #expect(try await server.picture("w:10", "/text").image().size == PixelSize(width: 10, height: 5))
        var broken = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        broken.replaceSubrange(60..<100, with: [UInt8](repeating: 0, count: 40))
        server.origin.serve("/broken", OriginResponse(body: broken))
        #expect(await server.picture("w:10", "/broken").status == 422)
        #expect(await server.picture("raw:1", "/missing.png").text == "Source is unreachable")
        #expect(await server.picture("nope:1").text == "Invalid URL")
    }
}
