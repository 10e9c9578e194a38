import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// What modifiers, retries and redirects do to a request, and to which hosts its secrets are sent. The tests look at
/// the requests that the transport receives.
@Suite struct HopSecrecyTests {
    private let transport = FakeTransport()
    private let clock = ManualClock()
    private let downloader: ImageDownloader

    init() {
        downloader = ImageDownloader(
            configuration: .with { $0.retry = RetryPolicy(retries: 1, firstDelay: .zero) }, transport: transport,
            clock: clock, executor: ThreadPool(name: "test-io", width: 1), files: PosixFileSystem(), jitter: { 1 })
    }

    private func fetch(_ url: String, _ change: (inout DownloadRequest) -> Void) async -> String {
        var request = DownloadRequest(url: url)
        change(&request)
        let download = downloader.download(request)
        defer { withExtendedLifetime(download) {} }
        return await download.log.ended().name
    }

    /// Sends every request to `host` instead.
    private func mover(to host: String, fields: HTTPFields = [:]) -> RequestModifier {
        RequestModifier(name: "move to \(host)") { request in
            var request = request
            request.url = request.url.replacing("a.test", with: host)
            request.headers.append(contentsOf: fields)
            return request
        }
    }

    private var authorizations: [String?] { transport.requests.map { $0.headers[.authorization] } }

    // MARK: Modifiers and redirects

    @Test func theSecretsOfAModifierStayWithTheFirstOrigin() async throws {
        transport.answer("https://a.test/1", .redirect(to: "/2"))
        transport.answer("https://a.test/2", .redirect(to: "https://b.test/3"))
        transport.answer("https://b.test/3", .redirect(to: "https://a.test/4"))
        transport.answer("https://a.test/4", .bytes([1]))
        let language = HTTPField.Name.acceptLanguage
        let setting = RequestModifier.setting(headers: [.authorization: "Bearer t", language: "fr"])
        #expect(await fetch("https://a.test/1") { $0.requestModifier = setting } == "complete")
        #expect(authorizations == ["Bearer t", "Bearer t", nil, nil])
        #expect(transport.requests.map { $0.headers[language] } == ["fr", "fr", "fr", "fr"])
    }

    /// When a modifier changes the host of a request, the secrets that the modifier sets are sent there; the caller's
    /// are not.
    @Test func aModifiersSecretsAreSentToTheHostItChooses() async throws {
        transport.answer("https://cdn.test/1", .redirect(to: "/2"))
        transport.answer("https://cdn.test/2", .redirect(to: "https://b.test/3"))
        transport.answer("https://b.test/3", .bytes([1]))
        let modifier = mover(to: "cdn.test", fields: [.authorization: "Bearer cdn"])
        let end = await fetch("https://a.test/1") {
            $0.requestModifier = modifier
            $0.headers = [.authorization: "Bearer own", .cookie: "own=1"]
            $0.credentials = BasicCredentials(user: "ada", password: "secret")
            $0.tls = TLSPolicy(clientCertificate: .init(certificate: [1], key: [2]))
        }
        #expect(end == "complete")
        #expect(authorizations == ["Bearer cdn", "Bearer cdn", nil])
        #expect(transport.requests.allSatisfy { $0.headers[.cookie] == nil && $0.credentials == nil })
        #expect(transport.requests.allSatisfy { $0.tls.clientCertificate == nil })
    }

    @Test(arguments: [(303, ["POST", "GET"]), (302, ["POST", "GET"]), (307, ["POST", "POST"])])
    func aModifierDoesNotUndoARedirectsChangeToGET(_ status: Int, _ methods: [String]) async throws {
        transport.answer("https://a.test/1", .redirect(to: "/2", status: status))
        transport.answer("https://a.test/2", .bytes([1]))
        let setting = RequestModifier.setting(method: .post, headers: [.contentType: "text/plain"], body: [65])
        #expect(await fetch("https://a.test/1") { $0.requestModifier = setting } == "complete")
        #expect(transport.requests.map(\.method.rawValue) == methods)
        let last = try #require(transport.requests.last)
        #expect(
            (last.body == nil) == (methods[1] == "GET") && (last.headers[.contentType] == nil) == (last.body == nil))
    }

    // MARK: Modifiers and retries

    @Test func retriesAndChallengesModifyTheOriginalRequest() async throws {
        let failing = FakeAnswer.status(503)
        let locked = FakeAnswer.status(401, headers: [.wwwAuthenticate: "Basic"])
        transport.answer("https://a.test/1?signed", failing, locked, .bytes([1]))
        let signer = RequestModifier(name: "sign") { request in
            var request = request
            request.url += "?signed"
            return request
        }
        var request = DownloadRequest(url: "https://a.test/1")
        request.requestModifier = signer
        request.credentialProvider = .password(BasicCredentials(user: "ada", password: "x"), for: "https://a.test")
        let download = downloader.download(request)
        while downloader.counters.resting == 0 { await Task.yield() }
        clock.advance(by: .zero)
        #expect(await download.log.ended().name == "complete")
        #expect(transport.requests.map(\.url) == Array(repeating: "https://a.test/1?signed", count: 3))
        #expect(download.metrics?.finalURL == "https://a.test/1?signed")
    }

    @Test func theCircuitIsThatOfTheModifiedHost() async throws {
        downloader.configuration.circuit = CircuitPolicy(failures: 1, firstPause: .seconds(10))
        downloader.configuration.retry = .never
        transport.answer("https://b.test/1", .failure(WebImageError(.connectionRefused, "nobody there")))
        transport.answer("https://a.test/1", .bytes([1]))
        let modifier = mover(to: "b.test")
        #expect(await fetch("https://a.test/1") { $0.requestModifier = modifier } == "connectionRefused")
        #expect(downloader.openCircuits == ["b.test:443"])
        #expect(await fetch("https://a.test/1") { $0.requestModifier = modifier } == "circuitOpen")
        #expect(await fetch("https://a.test/1") { _ in } == "complete")
        #expect(transport.hits("https://b.test/1") == 1)
    }

    // MARK: Certificates

    @Test func aClientCertificateIsForTheFirstOriginOnly() async throws {
        transport.answer("https://a.test/1", .redirect(to: "/2"))
        transport.answer("https://a.test/2", .redirect(to: "https://b.test/3"))
        transport.answer("https://b.test/3", .bytes([1]))
        let own = TLSPolicy(
            trust: .systemAnd(pem: [7]), pinnedKeys: ["k"], clientCertificate: .init(certificate: [1], key: [2]))
        for isTheDownloaders in [false, true] {
            if isTheDownloaders { downloader.configuration.tls = own }
            let end = await fetch("https://a.test/1") { if !isTheDownloaders { $0.tls = own } }
            #expect(end == "complete")
            let sent = transport.requests.suffix(3).map(\.tls)
            #expect(sent.map { $0.clientCertificate != nil } == [true, true, false])
            #expect(sent.allSatisfy { $0.trust == own.trust && $0.pinnedKeys == own.pinnedKeys })
        }
    }

    // MARK: Cookies and redirect loops

    private func wall(_ cookie: String) -> FakeAnswer {
        .status(302, headers: [.location: "/1", .setCookie: cookie])
    }

    @Test func aRedirectToTheSameURLIsFollowedWithANewCookie() async throws {
        transport.answer("https://a.test/1", wall("seen=1"), .bytes([1]))
        #expect(await fetch("https://a.test/1") { $0.handlesCookies = true } == "complete")
        #expect(transport.requests.map { $0.headers[.cookie] } == [nil, "seen=1"])
        transport.answer("https://a.test/1", wall("seen=1"))
        #expect(await fetch("https://a.test/1") { $0.handlesCookies = true } == "tooManyRedirects")
        #expect(transport.requests.count == 3, "the cookie is the one that was there")
        #expect(await fetch("https://a.test/1") { _ in } == "tooManyRedirects")
        #expect(transport.requests.count == 4)
    }

    @Test func aCookieOfARedirectLastsForOneDownload() async throws {
        downloader.configuration.keepsRedirectCookies = true
        transport.answer("https://a.test/1", wall("seen=1"), .bytes([1]), wall("seen=1"), .bytes([1]))
        for _ in 0..<2 { #expect(await fetch("https://a.test/1") { _ in } == "complete") }
        #expect(transport.requests.map { $0.headers[.cookie] } == [nil, "seen=1", nil, "seen=1"])
        #expect((downloader.configuration.cookieJar as? MemoryCookieJar)?.count == 0)
        transport.answer(
            "https://a.test/2", .status(302, headers: [.location: "https://b.test/3", .setCookie: "own=1"]))
        transport.answer("https://b.test/3", .bytes([1]))
        #expect(await fetch("https://a.test/2") { _ in } == "complete")
        #expect(transport.requests.last?.headers[.cookie] == nil, "the cookie is another site's")
    }

    @Test func newCookiesForEverAreTooManyRedirects() async throws {
        let count = Counter()
        transport.answerAll { _ in .status(302, headers: [.location: "/1", .setCookie: "n=\(count.increment())"]) }
        let end = await fetch("https://a.test/1") {
            $0.handlesCookies = true
            $0.redirectLimit = 3
        }
        #expect(end == "tooManyRedirects" && transport.requests.count == 4)
    }
}
