import Testing
import WebImageCore
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@testable import WebImageDownload

/// Requests through tinyproxy, to our own server without TLS and to nginx with TLS.
@Suite(
    .enabled(if: TinyproxyServer.isAvailable, "tinyproxy is not installed"),
    .enabled(if: NginxServer.isAvailable, "nginx or openssl is not installed"))
struct ProxyTests {
    private static let picture = OriginResponse.bytes([1, 2, 3], contentType: "image/png")
    private let ada = BasicCredentials(user: "ada", password: "secret")

    private func rig(_ proxy: ProxySettings) throws -> Rig {
        let rig = try Rig(.with { $0.proxy = proxy })
        rig.server.serve(under: "/") { _ in Self.picture }
        return rig
    }

    private func download(_ rig: Rig, from nginx: NginxServer, _ path: String = "/body") -> Download {
        var request = DownloadRequest(url: nginx.secure(path))
        request.trust = .systemAnd(pem: nginx.authority)
        return rig.downloader.download(request)
    }

    /// Whether each request for the path reached our server through the proxy, by its `Via` field (RFC 9110 section
    /// 7.6.3).
    private func wasForwarded(_ rig: Rig, _ path: String) -> [Bool] {
        rig.server.requests(path).map { $0.header("via")?.contains("tinyproxy") == true }
    }

    @Test func plainRequestsGoThroughTheProxy() async throws {
        let proxy = try TinyproxyServer()
        let rig = try rig(.server(proxy.url))
        #expect(await rig.fetch("/a") == ([1, 2, 3], "complete"))
        rig.downloader.configuration.proxy = .server(proxy.url, except: ["example.com", "127.0.0.1"])
        #expect(await rig.fetch("/b") == ([1, 2, 3], "complete"))
        rig.downloader.configuration.proxy = .direct
        #expect(await rig.fetch("/c") == ([1, 2, 3], "complete"))
        #expect(wasForwarded(rig, "/a") == [true] && wasForwarded(rig, "/b") == [false])
        #expect(wasForwarded(rig, "/c") == [false])
        #expect(proxy.requestLines == ["GET \(rig.server.url("/a")) HTTP/1.1"])
    }

    @Test func tlsGoesThroughATunnel() async throws {
        let nginx = try NginxServer()
        let proxy = try TinyproxyServer(tunnelPorts: [nginx.securePort])
        let rig = try rig(.server(proxy.url))
        for path in ["/body", "/body?again"] {
            let download = download(rig, from: nginx, path)
            let answer = await rig.fetch(download)
            #expect(answer.end == "complete" && answer.body.count == 10_240)
            // The proxy cannot see the requests. The second one uses the same tunnel.
            #expect(download.metrics?.version == .http2)
            #expect(download.metrics?.timings?.isReused == (path != "/body"))
        }
        #expect(proxy.requestLines == ["CONNECT 127.0.0.1:\(nginx.securePort) HTTP/1.1"])
        // The server at the end of the tunnel must still present a trusted certificate.
        #expect(await rig.fetch(nginx.secure("/body")).end == "tlsFailed")
    }

    /// The origin never receives the proxy's credentials.
    @Test func theProxysCredentialsAreForTheProxyOnly() async throws {
        let nginx = try NginxServer()
        let proxy = try TinyproxyServer(tunnelPorts: [nginx.securePort], user: ("ada", "secret"))
        let rig = try rig(.server(proxy.url, credentials: ada))
        #expect(await rig.fetch("/a") == ([1, 2, 3], "complete"))
        #expect(await rig.fetch(download(rig, from: nginx)).end == "complete")
        let request = try #require(rig.server.requests("/a").first)
        #expect(request.header("proxy-authorization") == nil && request.header("authorization") == nil)
        #expect(wasForwarded(rig, "/a") == [true])
    }

    @Test(arguments: [
        BasicCredentials(user: "ada", password: "guessed"), BasicCredentials(user: "eve", password: "secret"),
    ])
    func wrongCredentialsAreNamedAndNotTold(_ wrong: BasicCredentials) async throws {
        let nginx = try NginxServer()
        let proxy = try TinyproxyServer(tunnelPorts: [nginx.securePort], user: ("ada", "secret"))
        let rig = try rig(.server(proxy.url, credentials: wrong))
        for download in [rig.download("/a"), download(rig, from: nginx)] {
            guard case .failed(let error) = await download.log.ended() else {
                Issue.record("a proxy that does not know us served us")
                return
            }
            #expect(error.code == .authenticationFailed)
            #expect(!"\(error)".contains("guessed") && !"\(error)".contains("secret"))
        }
        #expect(rig.server.hits("/a") == 0)
        rig.downloader.configuration.proxy = .server(proxy.url, credentials: ada)
        #expect(await rig.fetch("/a").end == "complete")
        #expect(await rig.fetch(download(rig, from: nginx)).end == "complete")
    }

    /// Without credentials the 407 is an ordinary bad status for plain requests; for requests with TLS the tunnel is
    /// refused.
    @Test func aProxyThatWantsCredentialsWeDoNotHave() async throws {
        let nginx = try NginxServer()
        let proxy = try TinyproxyServer(tunnelPorts: [nginx.securePort], user: ("ada", "secret"))
        let rig = try rig(.server(proxy.url))
        #expect(await rig.fetch("/a").end == "badStatus")
        #expect(await rig.fetch(download(rig, from: nginx)).end == "authenticationFailed")
    }

    /// A request is never sent around a proxy that cannot be reached.
    @Test func aDeadProxyIsNotBypassed() async throws {
        let nginx = try NginxServer()
        let rig = try rig(.server("http://127.0.0.1:\(try OriginServer.closedPort())"))
        #expect(await rig.fetch("/a").end == "connectionRefused")
        #expect(await rig.fetch(download(rig, from: nginx)).end == "connectionRefused")
        rig.downloader.configuration.proxy = .server("http://nonexistent.invalid:8888")
        #expect(await rig.fetch("/a").end == "dnsFailed")
        #expect(rig.server.connectionCount == 0)
        let proxy = try TinyproxyServer(tunnelPorts: [nginx.securePort])
        rig.downloader.configuration.proxy = .server(proxy.url)
        #expect(await rig.fetch(download(rig, from: nginx)).end == "complete")
    }

    /// A tunnel that the proxy refuses is not retried; one to a host that does not answer is. The proxy's status tells
    /// them apart.
    @Test func aTunnelThatIsRefusedSaysWhy() async throws {
        let nginx = try NginxServer()
        let proxy = try TinyproxyServer(tunnelPorts: [nginx.expiredPort, OriginServer.closedPort()])
        let rig = try rig(.server(proxy.url))
        rig.downloader.configuration.retry = RetryPolicy(retries: 2, firstDelay: .seconds(1))
        let download = download(rig, from: nginx)
        guard case .failed(let error) = await download.log.ended() else {
            Issue.record("a proxy opened a tunnel that it does not allow")
            return
        }
        #expect(error.code == .badStatus && error.status == 403 && error.message.contains("tunnel"))
        #expect(download.metrics?.retries == 0 && proxy.requestLines.count == 1)
        rig.downloader.configuration.proxy = .direct
        #expect(await rig.fetch(self.download(rig, from: nginx)).end == "complete")
    }

    @Test func aTunnelToAHostThatIsDownMayHeal() async throws {
        let nobody = try OriginServer.closedPort()
        let proxy = try TinyproxyServer(tunnelPorts: [nobody])
        let rig = try rig(.server(proxy.url))
        rig.downloader.configuration.retry = RetryPolicy(retries: 2, firstDelay: .seconds(1))
        let download = rig.download("https://127.0.0.1:\(nobody)/a")
        for _ in 0..<2 {
            while rig.downloader.counters.resting == 0 { await Task.yield() }
            rig.clock.advance(by: .seconds(2))
        }
        guard case .failed(let error) = await download.log.ended() else {
            Issue.record("nobody answered, and yet there was an answer")
            return
        }
        #expect(error.code == .badStatus && error.status == 500)
        #expect(download.metrics?.retries == 2 && proxy.requestLines.count == 3)
    }

    /// An address policy must see the address of the connection. Behind a proxy it would not, so no proxy is used.
    @Test func theProxyIsNotUsedWithAnAddressPolicy() async throws {
        let nginx = try NginxServer()
        let proxy = try TinyproxyServer(tunnelPorts: [nginx.securePort])
        let rig = try rig(.server(proxy.url))
        rig.downloader.configuration.addressPolicy = .publicOnly
        #expect(await rig.fetch("/a").end == "addressRefused")
        #expect(await rig.fetch(download(rig, from: nginx)).end == "addressRefused")
        #expect(rig.server.connectionCount == 0)
        // With a policy that allows this machine, the request is sent directly.
        rig.downloader.configuration.addressPolicy = AddressPolicy()
        #expect(await rig.fetch("/b").end == "complete")
        #expect(await rig.fetch(download(rig, from: nginx)).end == "complete")
        #expect(wasForwarded(rig, "/b") == [false] && proxy.requestLines == [])
    }

    /// The test runs in a process of its own, because it changes the environment.
    @Test func theEnvironmentSaysByWhichProxy() async {
        await #expect(processExitsWith: .success) {
            let port = try OriginServer.closedPort()
            setenv("http_proxy", "http://ada:secret@127.0.0.1:\(port)", 1)
            setenv("https_proxy", "http://127.0.0.1:\(port)", 1)
            setenv("no_proxy", "localhost,.example.com", 1)
            let nginx = try NginxServer()
            let proxy = try TinyproxyServer(tunnelPorts: [nginx.securePort], user: ("ada", "secret"), port: port)
            let rig = try Rig()
            rig.server.serve(under: "/") { _ in .bytes([1, 2, 3], contentType: "image/png") }
            func end(_ url: String) async -> String {
                var request = DownloadRequest(url: url)
                request.trust = .systemAnd(pem: nginx.authority)
                return await rig.fetch(rig.downloader.download(request)).end
            }
            #expect(await end(rig.server.url("/a")) == "complete")
            #expect(rig.server.requests("/a").first?.header("via") != nil)
            // Each scheme has an environment variable of its own. The one for https has no password here.
            #expect(await end(nginx.secure("/body")) == "authenticationFailed")
            #expect(await end("http://localhost:\(rig.server.port)/b") == "complete")
            #expect(rig.server.requests("/b").first?.header("via") == nil)
            rig.downloader.configuration.proxy = .direct
            #expect(await end(nginx.secure("/body")) == "complete")
            #expect(proxy.requestLines.first == "GET \(rig.server.url("/a")) HTTP/1.1")
        }
    }
}
