import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct RawAnswerTests {
    private static let text = "0123456789"
    private static let fields: [(String, String)] = [
        ("Content-Type", "text/x"), ("ETag", "\"1\""), ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("Cache-Control", "max-age=100"),
    ]

    private func server() throws -> TestServer {
        let server = try TestServer()
        server.origin.serve("/a.bin", OriginResponse(headers: Self.fields, body: Array(Self.text.utf8)))
        return server
    }

    private func text(_ answer: Answer) async throws -> String {
        guard case .stream(let body) = answer.body else { return answer.text }
        var bytes: [UInt8] = []
        for try await piece in body.bytes { bytes += piece.bytes }
        #expect(body.length == bytes.count)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func aRawSourceIsStreamedUnchanged() async throws {
        let server = try server()
        // The body may arrive after the head.
        defer { withExtendedLifetime(server) {} }
        let answer = await server.picture("raw:1", "/a.bin")
        #expect(answer.fields[.contentType] == "text/x" && answer.fields[.contentLength] == "10")
        #expect(answer.fields[.acceptRanges] == "bytes")
        #expect(try await text(answer) == Self.text)
    }

    @Test func aSourceWithoutATypeIsNothingThatABrowserShows() async throws {
        let server = try TestServer()
        server.origin.serve("/a", OriginResponse(body: Array("<script>".utf8)))
        let answer = await server.picture("raw:1", "/a")
        #expect(answer.fields[.contentType] == "application/octet-stream")
        #expect(answer.fields[.named("X-Content-Type-Options")] == "nosniff")
        #expect(answer.fields[.contentDisposition] == "inline; filename=\"a\"")
    }

    /// A source that is not a picture fails as a picture, but its bytes are still served raw.
    @Test func rawBytesAreServedEvenIfThePictureFails() async throws {
        let server = try server()
        #expect(await server.picture("w:20", "/a.bin").status == 422)
        #expect(try await text(await server.picture("raw:1", "/a.bin")) == Self.text)
        #expect(await server.picture("w:20", "/a.bin").status == 422)
    }

    @Test func aRequestEndsWithItsBody() async throws {
        let server = try server()
        var answer: Answer? = await server.picture("raw:1", "/a.bin")
        #expect(answer?.status == 200)
        #expect(server.endpoint.metricsText.contains("requests_in_progress 1\n"))
        answer = nil
        #expect(server.endpoint.metricsText.contains("requests_in_progress 0\n"))
    }

    @Test func theBytesOfAllBodiesAreBounded() {
        let bytes = StreamedBytes(most: 100)
        // A single body is never too long.
        var shares = [bytes.take(1000)]
        #expect(!shares.contains { $0 == nil } && bytes.take(1) == nil)
        shares = [bytes.take(0)]
        shares += [bytes.take(60), bytes.take(40)]
        #expect(!shares.contains { $0 == nil } && bytes.take(1) == nil)
        shares.removeLast()
        #expect(bytes.take(41) == nil)
        shares.append(bytes.take(40))
        #expect(!shares.contains { $0 == nil } && bytes.take(1) == nil)
        shares = []
        shares = [bytes.take(1), bytes.take(99)]
        #expect(!shares.contains { $0 == nil } && bytes.take(1) == nil)
    }

    @Test func rawAnswersHaveTheFieldsOfResults() async throws {
        let server = try TestServer([
            "IMGPROXY_CACHE_CONTROL_PASSTHROUGH": "1", "IMGPROXY_SET_CANONICAL_HEADER": "1",
        ])
        server.origin.serve(
            "/a.svg", OriginResponse(headers: [("Cache-Control", "max-age=7")], body: Array("<svg/>".utf8)))
        let answer = await server.picture("raw:1/fn:foo", "/a.svg")
        #expect(answer.fields[.cacheControl] == "max-age=7")
        #expect(answer.fields[.contentDisposition] == "inline; filename=\"foo.svg\"")
        #expect(answer.fields[.named("Link")] == "<\(server.origin.url("/a.svg"))>; rel=\"canonical\"")
        #expect(answer.fields[.contentType] == "image/svg+xml")
    }

    @Test(arguments: [
        ("/a.png", "image/png", "a.png"), ("/a.jpeg", "image/jpeg", "a.jpeg"), ("/", "image/png", "image.png"),
        ("/a", "image/jpeg", "a.jpg"), ("/a.b", "image/webp", "a.webp"), ("/a.b", "text/x", "a.b"),
    ]) func theFileNameHasTheExtensionOfTheType(_ path: String, _ type: String, _ name: String) async throws {
        let server = try TestServer()
        server.origin.serve(path, OriginResponse(headers: [("Content-Type", type)], body: [1]))
        let answer = await server.picture("raw:1", path)
        #expect(answer.fields[.contentDisposition] == "inline; filename=\"\(name)\"")
    }

    @Test(arguments: [
        ("bytes=0-3", "0123", "bytes 0-3/10"), ("bytes=8-", "89", "bytes 8-9/10"), ("bytes=-3", "789", "bytes 7-9/10"),
        ("bytes=9-1000", "9", "bytes 9-9/10"), ("BYTES=2 - 2", "2", "bytes 2-2/10"),
        ("bytes=-99999999999999999999", "0123456789", "bytes 0-9/10"),
    ]) func aRangeIsGiven(_ range: String, _ wanted: String, _ contentRange: String) async throws {
        let server = try server()
        // The body may arrive after the head.
        defer { withExtendedLifetime(server) {} }
        let answer = await server.picture("raw:1", "/a.bin", [.range: range])
        #expect(answer.status == 206 && answer.fields[.contentRange] == contentRange)
        #expect(answer.fields[.contentLength] == "\(wanted.utf8.count)")
        #expect(try await text(answer) == wanted)
    }

    @Test(arguments: [
        "bytes=0-1,3-4", "bytes=x-", "bytes=3-2", "lines=1-2", "bytes=-", "bytes", "bytes=+1-2", "bytes=1-٢",
    ])
    func invalidAndMultipleRangesAreIgnored(_ range: String) async throws {
        let server = try server()
        // The body may arrive after the head.
        defer { withExtendedLifetime(server) {} }
        let answer = await server.picture("raw:1", "/a.bin", [.range: range])
        #expect(answer.status == 200)
        #expect(try await text(answer) == Self.text)
    }

    @Test(arguments: ["bytes=10-", "bytes=-0", "bytes=99999999999999999999-"])
    func aRangeBehindTheEndIsRefused(_ range: String) async throws {
        let server = try server()
        // The body may arrive after the head.
        defer { withExtendedLifetime(server) {} }
        let answer = await server.picture("raw:1", "/a.bin", [.range: range])
        #expect(answer.status == 416 && answer.fields[.contentRange] == "bytes */10")
    }

    @Test(arguments: [
        ("\"1\"", 206), ("W/\"1\"", 200), ("\"2\"", 200), ("Sun, 06 Nov 1994 08:49:37 GMT", 206),
        ("Sun, 06 Nov 1994 08:49:38 GMT", 200),
    ]) func aRangeCountsForTheSameVersionOnly(_ version: String, _ status: Int) async throws {
        let server = try server()
        // The body may arrive after the head.
        defer { withExtendedLifetime(server) {} }
        let answer = await server.picture("raw:1", "/a.bin", [.range: "bytes=0-1", .ifRange: version])
        #expect(answer.status == status)
    }

    @Test(arguments: [
        (HTTPField.Name.ifNoneMatch, "\"0\", W/\"1\"", 304), (.ifNoneMatch, "*", 304), (.ifNoneMatch, "\"2\"", 200),
        (.ifModifiedSince, "Sun, 06 Nov 1994 08:49:37 GMT", 304),
        (.ifModifiedSince, "Sun, 06 Nov 1994 08:49:36 GMT", 200), (.ifModifiedSince, "never", 200),
    ]) func aMatchingConditionIsAnsweredWithoutABody(_ name: HTTPField.Name, _ value: String, _ status: Int)
        async throws
    {
        let server = try server()
        // The body may arrive after the head.
        defer { withExtendedLifetime(server) {} }
        let answer = await server.picture("raw:1", "/a.bin", [name: value, .range: "bytes=0-1"])
        #expect(answer.status == (status == 200 ? 206 : status))
        #expect(answer.fields[.eTag] == "\"1\"")
        if status == 304 { #expect(answer.bytes.isEmpty && answer.fields[.contentRange] == nil) }
    }

    @Test func aHeadIsThatOfTheWhole() async throws {
        let server = try server()
        let answer = await server.get(
            "/_/raw:1/plain/\(server.origin.url("/a.bin"))", [.range: "bytes=0-1"], method: .head)
        #expect(answer.status == 200 && answer.fields[.contentLength] == "10")
    }

    @Test func aLengthThatIsNotKnownHasNoParts() async throws {
        let server = try TestServer()
        server.origin.serve("/b", OriginResponse(body: Array(Self.text.utf8), framing: .chunked(size: 4)))
        let answer = await server.picture("raw:1", "/b", [.range: "bytes=0-1"])
        #expect(answer.status == 200 && answer.fields[.acceptRanges] == nil)
    }

    @Test(arguments: [
        ("https://me:pw@host/a.jpg", "https://host/a.jpg"), ("https://me:p@w@host/a@b", "https://host/a@b"),
        ("https://host/a@b.jpg", "https://host/a@b.jpg"), ("https://host?of=me@b", "https://host?of=me@b"),
    ]) func theCanonicalLinkHasNoPassword(source: String, shown: String) {
        var settings = ServerSettings()
        settings.setsCanonical = true
        let answer = ResultAnswer(settings: settings, url: URLGrammar.ParsedURL(source: source), now: 0)
        #expect(answer.canonicalLink == "<\(shown)>; rel=\"canonical\"")
    }
}
