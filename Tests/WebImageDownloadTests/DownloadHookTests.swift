import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// What callers may customise: header fields, acceptable answers, modifiers, decryptors, redirects, cookies and
/// proxies.
@Suite struct DownloadHookTests {
    private let picture = OriginResponse.bytes([1, 2, 3], contentType: "image/png")

    private func request(_ rig: Rig, _ path: String, _ change: (inout DownloadRequest) -> Void) -> Download {
        var request = DownloadRequest(url: rig.server.url(path))
        change(&request)
        return rig.downloader.download(request)
    }

    // MARK: Fields

    @Test func fieldsCanBeSetReadAndTakenOut() async throws {
        let rig = try Rig()
        rig.server.serve("/a", picture)
        let name = try #require(HTTPField.Name("X-Tenant"))
        rig.downloader[header: name] = "blue"
        #expect(rig.downloader[header: name] == "blue")
        _ = await rig.fetch("/a")
        rig.downloader[header: name] = nil
        _ = await rig.fetch("/a")
        let requests = rig.server.requests("/a")
        #expect(requests.map { $0.header("x-tenant") } == ["blue", nil])
        #expect(requests[0].header("user-agent") == DownloadConfiguration.userAgent)
        #expect(requests[0].header("accept") == "image/*,*/*;q=0.8")
    }

    @Test func aChangedConfigurationHoldsForLaterDownloads() async throws {
        let rig = try Rig()
        rig.server.serve("/a", picture)
        rig.downloader.configuration.bodyLimit = 2
        #expect(await rig.fetch("/a").end == "bodyTooLarge")
        rig.downloader.configuration.bodyLimit = 3
        #expect(await rig.fetch("/a").end == "complete")
    }

    // MARK: Acceptable answers

    @Test(
        arguments: [
            (["image/png"], "image/png", true), (["image/*"], "IMAGE/PNG; charset=x", true),
            (["*/*"], "text/html", true),
            (["image/*"], "text/html", false), (["image/png", "image/jpeg"], "image/webp", false),
            (["image/*"], "imagery/png", false), (["application/*"], nil, true), (["image/*"], nil, false),
            ([], "image/png", false),
        ] as [([String], String?, Bool)])
    func typesHaveWildcards(_ patterns: [String], _ type: String?, _ isIn: Bool) {
        #expect(ContentTypes(patterns).contains(type) == isIn)
    }

    @Test func anHTMLPageIsNoPicture() async throws {
        let rig = try Rig(.with { $0.acceptableContentTypes = ["image/*"] })
        rig.server.serve("/page", .text("<html>", contentType: "text/html; charset=utf-8"))
        rig.server.serve("/a", picture)
        #expect(await rig.fetch("/page") == ([], "badContentType"))
        #expect(await rig.fetch("/a").end == "complete")
        let any = request(rig, "/page") { $0.acceptableContentTypes = ["*/*"] }
        #expect(await rig.fetch(any).end == "complete")
    }

    @Test func otherStatusesCanBeAcceptable() async throws {
        let rig = try Rig()
        rig.server.serve("/a", picture.changed { $0.status = 404 })
        #expect(await rig.fetch("/a").end == "badStatus")
        #expect(await rig.fetch(request(rig, "/a") { $0.acceptableStatuses = [200, 404] }) == ([1, 2, 3], "complete"))
        #expect(await rig.fetch(request(rig, "/a") { $0.acceptableStatuses = .any }) == ([1, 2, 3], "complete"))
        #expect(await rig.fetch(request(rig, "/a") { $0.acceptableStatuses = [] }).end == "badStatus")
    }

    // MARK: Conditions and parts that the caller asks for

    @Test func aConditionMakes304AnAnswer() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes([1, 2], contentType: "image/png", etag: "\"v1\""))
        let download = request(rig, "/a") { $0.headers[.ifNoneMatch] = "\"v1\"" }
        #expect(await rig.fetch(download) == ([], "complete"))
        let exchange = try #require(download.exchange)
        #expect(exchange.head.status == 304 && exchange.head[.eTag] == "\"v1\"")
        #expect(exchange.requestFields[.ifNoneMatch] == "\"v1\"" && exchange.url == rig.server.url("/a"))
        #expect(exchange.requestTime == rig.clock.wallTime && exchange.responseTime == rig.clock.wallTime)
    }

    @Test func a304WithoutAConditionIsAnError() async throws {
        let rig = try Rig()
        rig.server.serve("/a", OriginResponse(status: 304))
        #expect(await rig.fetch("/a").end == "notModified")
    }

    @Test func aRequestedRangeIsAnAnswer() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(Array(0..<100), contentType: "image/png", etag: "\"v1\""))
        let part = request(rig, "/a") { $0.headers[.range] = "bytes=90-" }
        #expect(await rig.fetch(part) == (Array(90..<100), "complete"))
        #expect(part.exchange?.head.status == 206)
        let beyond = request(rig, "/a") { $0.headers[.range] = "bytes=100-" }
        _ = await rig.fetch(beyond)
        #expect(beyond.exchange?.head.status == 416)
    }

    // MARK: Request modifiers

    @Test func aModifierChangesEachHop() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .redirect(to: "/b"))
        rig.server.serve("/b", picture)
        let hops = Guarded<[Int]>([])
        let modifier = RequestModifier(name: "sign") { request in
            await Task.yield()
            hops.withLock { $0.append(request.redirects) }
            var request = request
            request.headers[.authorization] = "Signed \(request.url.count)"
            return request
        }
        #expect(await rig.fetch(request(rig, "/a") { $0.requestModifier = modifier }).end == "complete")
        #expect(hops.withLock { $0 } == [0, 1])
        let sent = rig.server.requests().map { $0.header("authorization") }
        #expect(sent == Array(repeating: "Signed \(rig.server.url("/a").count)", count: 2))
    }

    @Test func aModifierMayChangeTheURLAndSendABody() async throws {
        let rig = try Rig()
        rig.server.serve("/b?x=1", picture)
        let elsewhere = rig.server.url("/b?x=1")
        let modifier = RequestModifier(name: "elsewhere") { request in
            var request = request
            request.url = elsewhere
            request.method = .put
            request.body = Array("hello".utf8)
            return request
        }
        #expect(await rig.fetch(request(rig, "/a") { $0.requestModifier = modifier }).end == "complete")
        #expect(rig.server.requests().map { "\($0.method) \($0.target)" } == ["PUT /b?x=1"])
        #expect(rig.server.requests().first?.header("content-length") == "5")
        #expect(rig.server.requests().first?.header("content-type") == nil)
    }

    @Test func aModifierMayRefuseTheRequest() async throws {
        struct Stop: Error {}
        let rig = try Rig(.with { $0.requestModifier = RequestModifier(name: "never") { _ in nil } })
        #expect(await rig.fetch("/a").end == "requestRefused")
        let thrower = RequestModifier(name: "throws") { _ in throw Stop() }
        #expect(await rig.fetch(request(rig, "/a") { $0.requestModifier = thrower }).end == "requestRefused")
        #expect(rig.server.connectionCount == 0 && rig.downloader.counters.running == 0)
    }

    @Test func aModifierThatHangsIsBoundAndCancelled() async throws {
        let rig = try Rig(.with { $0.deadlines = DownloadDeadlines(connect: .seconds(5)) })
        let (asked, left) = (Gate(), Gate())
        let modifier = RequestModifier(name: "hangs") { request in
            asked.open()
            await withTaskCancellationHandler {
                await left.opened()
            } onCancel: {
                left.open()
            }
            return request
        }
        let late = request(rig, "/a") { $0.requestModifier = modifier }
        await asked.opened()
        rig.clock.advance(by: .seconds(5))
        #expect(late.log.end?.name == "connectTimeout")
        await left.opened()
        #expect(rig.downloader.counters.running == 0 && rig.server.connectionCount == 0)
    }

    @Test func builtInModifiersSetAndFilterFields() async throws {
        let rig = try Rig()
        rig.server.serve("/a", picture)
        let setting = RequestModifier.setting(method: .post, headers: [.accept: "x/y"], body: [65])
        _ = await rig.fetch(request(rig, "/a") { $0.requestModifier = setting })
        let filter = RequestModifier.filteringHeaders(name: "bare") { url, fields in url.hasSuffix("/a") ? [:] : fields
        }
        _ = await rig.fetch(request(rig, "/a") { $0.requestModifier = filter })
        let sent = rig.server.requests("/a")
        #expect(sent[0].method == "POST" && sent[0].header("accept") == "x/y")
        #expect(sent[1].header("user-agent") == nil)
    }

    // MARK: Response modifiers

    @Test func aResponseModifierChangesAndRefuses() async throws {
        let rig = try Rig()
        rig.server.serve("/a", picture.changed { $0.status = 404 })
        rig.server.serve("/b", picture)
        let found = ResponseModifier.setting(status: 200, headers: [.contentType: "image/webp"])
        let download = request(rig, "/a") { $0.responseModifier = found }
        #expect(await rig.fetch(download) == ([1, 2, 3], "complete"))
        #expect(download.log.head?[.contentType] == "image/webp")
        let lost = ResponseModifier.setting(status: 404)
        #expect(await rig.fetch(request(rig, "/b") { $0.responseModifier = lost }).end == "badStatus")
        let never = ResponseModifier(name: "never") { _ in nil }
        #expect(await rig.fetch(request(rig, "/b") { $0.responseModifier = never }).end == "responseRefused")
    }

    // MARK: Decryptors

    private struct Xor: StreamDecryptor {
        var count = 0
        mutating func update(_ bytes: [UInt8]) throws -> [UInt8] {
            count += bytes.count
            return bytes.map { $0 ^ 0x5A }
        }
        mutating func finish() throws -> [UInt8] { Array("\(count)".utf8) }
    }

    @Test func aBodyIsDecryptedWholeOrInAStream() async throws {
        let rig = try Rig(.with { $0.memoryPerTransfer = .kibibytes(64) })
        let clear = pattern(400_000)
        rig.server.serve("/a", .bytes(clear.map { $0 ^ 0x5A }, contentType: "image/png"))
        rig.server.serve("/b64", .text("aGVsbG8="))
        let whole = BodyDecryptor(name: "whole") { bytes, head in
            head?.status == 200 ? bytes.map { $0 ^ 0x5A } : nil
        }
        #expect(await rig.fetch(request(rig, "/a") { $0.decryptor = whole }) == (clear, "complete"))
        let streaming = BodyDecryptor(name: "stream") { _ in Xor() }
        let end = Array("400000".utf8)
        #expect(await rig.fetch(request(rig, "/a") { $0.decryptor = streaming }) == (clear + end, "complete"))
        #expect(await rig.fetch(request(rig, "/b64") { $0.decryptor = .base64 }) == (Array("hello".utf8), "complete"))
        var local = DownloadRequest(url: "data:,aGVsbG8=")
        local.decryptor = .base64
        #expect(await rig.fetch(rig.downloader.download(local)) == (Array("hello".utf8), "complete"))
    }

    @Test func aStreamingDecryptorDoesNotWaitForTheEnd() async throws {
        let rig = try Rig()
        let gate = Gate()
        rig.server.serve("/a", .bytes(Array(repeating: 0x5A, count: 1000)).with(.hold(gate, at: .byte(500))))
        let download = request(rig, "/a") { $0.decryptor = BodyDecryptor(name: "stream") { _ in Xor() } }
        await download.log.readable(after: 499)
        #expect(download.log.receivedCount == 500 && download.log.end == nil)
        gate.open()
        #expect(await rig.fetch(download).end == "complete")
    }

    @Test func aBodyThatCannotBeDecryptedIsBadImageData() async throws {
        struct Wrong: Error {}
        let rig = try Rig(.with { $0.bodyLimit = 100 })
        rig.server.serve("/a", picture)
        for decryptor in [
            BodyDecryptor(name: "none") { _, _ in nil }, BodyDecryptor(name: "throws") { _, _ in throw Wrong() },
            .base64,
        ] {
            #expect(await rig.fetch(request(rig, "/a") { $0.decryptor = decryptor }).end == "badImageData")
        }
        let bomb = BodyDecryptor(name: "bomb") { _, _ in [UInt8](repeating: 0, count: 101) }
        #expect(await rig.fetch(request(rig, "/a") { $0.decryptor = bomb }).end == "bodyTooLarge")
        #expect(await rig.fetch(request(rig, "/missing") { $0.decryptor = .base64 }).end == "badStatus")
    }

    // MARK: Redirects

    @Test func addedSecretHeadersAreNotSentToAnotherOrigin() async throws {
        let rig = try Rig()
        let key = try #require(HTTPField.Name("X-Api-Key"))
        rig.downloader.configuration.secretHeaders.insert(key)
        let other = try OriginServer()
        other.serve("/b", picture)
        rig.server.serve("/a", .redirect(to: other.url("/b")))
        #expect(await rig.fetch(request(rig, "/a") { $0.headers = [key: "k", .cookie: "c=1"] }).end == "complete")
        #expect(rig.server.requests("/a").first?.header("x-api-key") == "k")
        let second = try #require(other.requests("/b").first)
        #expect(second.header("x-api-key") == nil && second.header("cookie") == nil)
    }

    // MARK: Cookies and proxies

    @Test func cookiesAreSentOnlyIfTheRequestHandlesThem() async throws {
        let rig = try Rig()
        rig.server.serve(
            "/set",
            picture.with(header: "Set-Cookie", "a=1; Path=/").with(
                header: "Set-Cookie", "b=2; Expires=Wed, 21 Oct 2015 07:28:00 GMT"))
        rig.server.serve("/get", picture)
        _ = await rig.fetch("/set")
        _ = await rig.fetch(request(rig, "/get") { $0.handlesCookies = true })
        _ = await rig.fetch(request(rig, "/set") { $0.handlesCookies = true })
        _ = await rig.fetch(request(rig, "/get") { $0.handlesCookies = true })
        _ = await rig.fetch("/get")
        #expect(rig.server.requests("/get").map { $0.header("cookie") } == [nil, "a=1", nil])
    }

    @Test func aProxyIsUsedUnlessTheHostIsExcepted() async throws {
        let proxy = try OriginServer()
        proxy.serve(under: "/") { _ in .bytes([9], contentType: "image/png") }
        proxy.serve(under: "http://") { _ in .bytes([9], contentType: "image/png") }
        let rig = try Rig(
            .with {
                $0.proxy = .server(
                    "http://127.0.0.1:\(proxy.port)", credentials: BasicCredentials(user: "u", password: "p"))
            })
        rig.server.serve("/a", picture)
        _ = await rig.fetch("http://far.example/a")
        #expect(proxy.requests().first?.target == "http://far.example/a")
        #expect(proxy.requests().first?.header("proxy-authorization") == "Basic dTpw")
        rig.downloader.configuration.proxy = .server("http://127.0.0.1:\(proxy.port)", except: ["127.0.0.1"])
        #expect(await rig.fetch("/a") == ([1, 2, 3], "complete"))
        rig.downloader.configuration.proxy = .direct
        #expect(await rig.fetch("/a") == ([1, 2, 3], "complete"))
        #expect(proxy.requests().count == 1)
    }
}

@Suite struct CookieJarTests {
    private let clock = ManualClock(wallTime: 1_000_000)

    private func jar(_ fields: String..., from url: String) -> MemoryCookieJar {
        let jar = MemoryCookieJar(clock: clock)
        jar.store(fields, from: url)
        return jar
    }

    /// A `Set-Cookie` field from https://a.example.com/x/y, a URL, and the `Cookie` field that is sent to that URL.
    @Test(
        arguments: [
            ("n=v", "https://a.example.com/x/z", "n=v"), ("n=v", "https://a.example.com/", nil),
            ("n=v; Path=/", "https://a.example.com/", "n=v"), ("n=v; path=/", "http://a.example.com/", "n=v"),
            ("n=v; Path=/; Secure", "http://a.example.com/", nil), ("n=v; Path=/", "https://b.example.com/", nil),
            ("n=v; Path=/; Domain=example.com", "https://b.example.com/", "n=v"),
            ("n=v; Path=/; Domain=.example.com", "https://example.com/", "n=v"),
            ("n=v; Path=/; Domain=other.com", "https://a.example.com/", nil),
            ("n=v; Path=/; Domain=com", "https://x.com/", nil),
            ("n=v; Path=/; Max-Age=0", "https://a.example.com/", nil),
            ("n=v; Path=/; Max-Age=10", "https://a.example.com/", "n=v"),
            ("n=v; Path=/; Max-Age=-99999999999999999999", "https://a.example.com/", nil),
            (
                "n=v; Path=/; Max-Age=99999999999999999999; Expires=Thu, 01 Jan 1970 00:00:01 GMT",
                "https://a.example.com/", "n=v"
            ),
            ("n=v; Path=/; Max-Age=+0", "https://a.example.com/", "n=v"),
            ("n=v; Path=/; Expires=Thu, 01 Jan 1970 00:00:01 GMT", "https://a.example.com/", nil),
            ("n=v; Path=/; Expires=01-Jan-1970 00:00:01", "https://a.example.com/", nil),
            ("n=v; Path=/x", "https://a.example.com/xy", nil), ("n=v; Path=/x", "https://a.example.com/x/y", "n=v"),
            ("n", "https://a.example.com/x/", nil), ("=v", "https://a.example.com/x/", nil),
            ("", "https://a.example.com/x/", nil),
            ("n=a=b", "https://a.example.com/x/", "n=a=b"), ("n=v\u{1}", "https://a.example.com/x/", nil),
        ] as [(String, String, String?)])
    func aCookieIsSentOnlyToMatchingURLs(_ field: String, _ url: String, _ sent: String?) {
        #expect(jar(field, from: "https://a.example.com/x/y").cookies(for: url) == sent)
    }

    @Test func cookiesExpireAreReplacedAndBounded() {
        let jar = jar("n=1; Path=/; Max-Age=10", from: "http://h/")
        jar.store(["n=2; Path=/; Max-Age=10", "m=3; Path=/"], from: "http://h/")
        #expect(jar.cookies(for: "http://h/") == "n=2; m=3")
        clock.advance(by: .seconds(11))
        #expect(jar.cookies(for: "http://h/") == "m=3")
        for number in 0..<200 { jar.store(["c\(number)=1; Path=/"], from: "http://h/") }
        #expect(jar.count == 50)
    }
}
