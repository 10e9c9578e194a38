import HTTPTypes
import ServerConfiguration
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct CookieTests {
    private func cookies(_ server: TestServer) -> [String?] {
        server.origin.requests("/a.png").map { $0.headers.first { $0.name.lowercased() == "cookie" }?.value }
    }

    private func ask(
        _ server: TestServer, host: String = "127.0.0.1", _ cookie: String? = "id=1", _ more: HTTPFields = [:],
        from peer: String? = nil
    ) async -> Answer {
        var fields = more
        fields[.cookie] = cookie
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: host, path: "/_/w:10/plain/\(server.origin.url("/a.png"))",
            headerFields: fields)
        return await server.endpoint.answer(request, from: peer.flatMap { ClientAddress($0) })
    }

    private func server(_ variables: [String: String]) throws -> TestServer {
        let server = try TestServer(variables)
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        return server
    }

    @Test func cookiesAreNotPassedOnByDefault() async throws {
        let server = try server([:])
        #expect(await ask(server).status == 200)
        #expect(cookies(server) == [nil])
    }

    /// This holds also if the origin's own directives are passed on.
    @Test(arguments: [
        ("public, max-age=100, s-maxage=200", "private, max-age=100"), ("max-age=100", "private, max-age=100"),
        ("private, no-cache", "private, no-cache"),
    ])
    func answersMadeWithCookiesArePrivate(control: String, forOne: String) async throws {
        let server = try TestServer([
            "IMGPROXY_COOKIE_PASSTHROUGH": "true", "IMGPROXY_CACHE_CONTROL_PASSTHROUGH": "true",
        ])
        try server.serve(headers: [("Cache-Control", control)])
        let own = await ask(server), others = await ask(server, nil)
        #expect(own.fields[.cacheControl] == forOne && others.fields[.cacheControl] == control)
        // A cache must not give a client with cookies the answer for one without.
        #expect(own.fields[.vary] == "Cookie" && others.fields[.vary] == "Cookie")
        let elsewhere = await ask(server, host: "example.com")
        #expect(elsewhere.fields[.cacheControl] == control && elsewhere.fields[.vary] == nil)
        let raw = await server.get("/_/raw:1/plain/\(server.origin.url("/a.png"))")
        #expect(raw.fields[.vary] == nil)
    }

    @Test func cookiesArePassedToTheHostThatTheClientAsked() async throws {
        let server = try server(["IMGPROXY_COOKIE_PASSTHROUGH": "true"])
        #expect(await ask(server, host: "127.0.0.1:8080").fields[.cacheControl] == "max-age=31536000, private")
        #expect(await ask(server, host: "example.com").fields[.cacheControl] == "max-age=31536000, public")
        #expect(cookies(server) == ["id=1", nil])
    }

    @Test func severalCookiesArePassedInOneField() async throws {
        let server = try server(["IMGPROXY_COOKIE_PASSTHROUGH": "true"])
        #expect(await ask(server, "id=1; b=2").status == 200)
        #expect(cookies(server) == ["id=1; b=2"])
    }

    @Test(arguments: [
        ("http://127.0.0.1", true), ("https://127.0.0.1:99/", true), ("http://127.0.0.1/other/", false),
        ("http://example.com", false),
    ]) func cookiesArePassedOnlyToSourcesUnderTheBaseURL(_ base: String, _ go: Bool) async throws {
        let server = try server(["IMGPROXY_COOKIE_PASSTHROUGH": "true", "IMGPROXY_COOKIE_BASE_URL": base])
        _ = await ask(server, host: "example.com")
        #expect(cookies(server) == [go ? "id=1" : nil])
    }

    /// The library connects to the host before the slash. Swift combines the slash and the accent into one character,
    /// so that a search by characters would miss the slash.
    @Test func anAccentBehindTheSlashDoesNotHideTheHost() async throws {
        let server = try server(["IMGPROXY_COOKIE_PASSTHROUGH": "true"])
        let path = "/%CC%81@good.test/a.png"
        try server.serve(path)
        let source = server.origin.url(path).replacing("@", with: "%40")
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: "good.test", path: "/_/w:4/plain/\(source)",
            headerFields: [.cookie: "id=1"])
        #expect(await server.endpoint.answer(request).status == 200)
        let seen = server.origin.requests(path)
        #expect(seen.count == 1 && seen.allSatisfy { !$0.headers.contains { $0.name.lowercased() == "cookie" } })
    }

    @Test(arguments: [
        ("http://127.0.0.1/a/b.png", true), ("http://me@127.0.0.1:8080/a/b.png?x", true),
        ("http://127.0.0.1/a/../b.png", false), ("http://127.0.0.1/a/%2E%2e/b.png", false),
        ("http://127.0.0.1/a\u{301}/b.png", false), ("http://127.0.0.1/\u{301}/a/b.png", false),
        ("http://127.0.0.1\\/a/b.png", false), ("http://127.0.0.1?/a/b.png", false),
        ("http://127.0.0.1#@evil/a/b.png", false), ("http://evil\\@127.0.0.1/a/b.png", true),
        ("http://evil/\u{301}@127.0.0.1/a/b.png", false), ("http://evil?@127.0.0.1/a/b.png", false),
        ("http://evil#@127.0.0.1/a/b.png", false), (" http://127.0.0.1/a/b.png", false),
        ("http:///\u{301}127.0.0.1/a/b.png", false), ("s3://127.0.0.1/a/b.png", false),
    ]) func onlySourcesInTheFolderOfTheOwnHostGetCookies(source: String, go: Bool) throws {
        #expect(try passes("http://127.0.0.1/a/", source) == go)
    }

    @Test func hostsInOtherScriptsGetNoCookies() throws {
        #expect(try !passes("http://b\u{fc}cher.test/", "http://b\u{fc}cher.test/a"))
    }

    private func passes(_ base: String, _ source: String) throws -> Bool {
        let variables = [
            "IMGPROXY_COOKIE_PASSTHROUGH": "true", "IMGPROXY_COOKIE_BASE_URL": base, "IMGPROXY_BIND": "127.0.0.1:0",
        ]
        let settings = try ServerSettings(environment: variables, readFile: { _ in nil }, now: { 0 })
        let request = HTTPRequest(method: .get, scheme: "http", authority: "x", path: "/")
        return PassedCookies(settings: settings.cookies).go(to: source, from: request, forwardedHost: nil)
    }

    @Test func allOriginsGetCookiesIfTheSettingsSaySo() async throws {
        let server = try server(["IMGPROXY_COOKIE_PASSTHROUGH": "true", "IMGPROXY_COOKIE_PASSTHROUGH_ALL": "true"])
        _ = await ask(server, host: "example.com")
        #expect(cookies(server) == ["id=1"])
    }

    @Test func aForwardedHostCountsOnlyFromTrustedProxies() async throws {
        let server = try server(["IMGPROXY_COOKIE_PASSTHROUGH": "true", "WEBIMAGE_TRUSTED_PROXIES": "10.0.0.0/8"])
        let forwarded: HTTPFields = [.init("X-Forwarded-Host")!: "127.0.0.1"]
        _ = await ask(server, host: "inner", "id=1", forwarded, from: "192.168.0.1")
        _ = await ask(server, host: "inner", "id=1", forwarded, from: "10.0.0.1")
        #expect(cookies(server) == [nil, "id=1"])
    }

    @Test func clientsWithDifferentCookiesShareNoResults() async throws {
        let server = try server(["IMGPROXY_COOKIE_PASSTHROUGH": "true"])
        let one = await ask(server, "id=1")
        try server.serve("/a.png", PixelSize(width: 48, height: 96), headers: [("Cache-Control", "max-age=100")])
        let other = await ask(server, "id=2")
        let again = await ask(server, "id=1")
        #expect(other.bytes != one.bytes && again.bytes == one.bytes)
        #expect(again.fields[.cacheStatus] == "webimage; hit; detail=memory")
        #expect(await ask(server, nil).fields[.cacheStatus] == "webimage; fwd=miss")
        #expect(cookies(server) == ["id=1", "id=2", nil])
    }

    @Test func cookiesDoNotFollowARedirectToAnotherHost() async throws {
        let server = try server(["IMGPROXY_COOKIE_PASSTHROUGH": "true"])
        let elsewhere = server.origin.url("/a.png").replacing("127.0.0.1", with: "localhost")
        server.origin.serve("/r", OriginResponse(status: 302, headers: [("Location", elsewhere)]))
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: "127.0.0.1", path: "/_/w:10/plain/\(server.origin.url("/r"))",
            headerFields: [.cookie: "id=1"])
        #expect(await server.endpoint.answer(request).status == 200)
        #expect(cookies(server) == [nil])
    }
}
