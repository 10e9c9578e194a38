import HTTPTypes
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

/// A libcurl handle serves one transfer after another and keeps the options that two requests have in common. Nothing
/// that was set for one request may be seen by the next.
@Suite struct HandleReuseTests {
    private let server: OriginServer
    /// The tests send their requests one after another, so that all use the same handle.
    private let transport = CurlTransport()

    init() throws {
        server = try OriginServer()
        server.serve(under: "/") { _ in .bytes([1, 2, 3], contentType: "image/png") }
    }

    private func request(_ path: String, _ change: (inout TransportRequest) -> Void = { _ in }) -> TransportRequest {
        var request = TransportRequest(url: server.url(path), headers: [.userAgent: "test"])
        change(&request)
        return request
    }

    @discardableResult
    private func send(_ request: TransportRequest) async -> RecordingReceiver.Record {
        let receiver = RecordingReceiver()
        _ = transport.start(request, receiver: receiver)
        return await receiver.finish()
    }

    private static let secrets: [(name: String, change: @Sendable (inout TransportRequest) -> Void)] = [
        ("password", { $0.credentials = BasicCredentials(user: "ada", password: "secret") }),
        (
            "digest",
            {
                $0.credentials = BasicCredentials(user: "ada", password: "secret")
                $0.authentication = .digest
            }
        ),
        ("token", { $0.headers[.authorization] = "Bearer secret" }), ("cookie", { $0.headers[.cookie] = "id=secret" }),
        ("own field", { $0.headers[HTTPField.Name("X-Own")!] = "secret" }),  // the name is a token
        ("other agent", { $0.headers[.userAgent] = "secret" }),
        (
            "body",
            {
                $0.method = .post
                $0.body = Array("secret".utf8)
            }
        ), ("head", { $0.method = .head }), ("delete", { $0.method = .delete }),
    ]

    @Test(arguments: secrets.map(\.name))
    func nothingOfOneRequestIsSentWithTheNext(_ name: String) async throws {
        let secret = try #require(Self.secrets.first { $0.name == name })
        if name == "digest" {
            let challenge = "Digest realm=\"x\", nonce=\"abc\", qop=\"auth\", algorithm=MD5"
            server.serve("/secret", .status(401, headers: [("WWW-Authenticate", challenge)]), .status(204))
        }
        await send(request("/before"))
        await send(request("/secret", secret.change))
        await send(request("/after"))
        await send(request("/again"))
        let before = try #require(server.requests("/before").first)
        for path in ["/after", "/again"] {
            let after = try #require(server.requests(path).first)
            #expect(after.method == "GET" && after.body.isEmpty)
            #expect(after.headers.map(\.name) == before.headers.map(\.name))
            #expect(after.headers.map(\.value) == before.headers.map(\.value))
            #expect(after.connection == before.connection)
        }
        let own = try #require(server.requests("/secret").last)
        let differs =
            own.method != "GET" || own.headers.map(\.value) != before.headers.map(\.value)
            || own.headers.count != before.headers.count
        #expect(differs, "the request in between was to be another one")
    }

    @Test func aFailedTransferLeavesNothingBehind() async throws {
        server.serve("/cut", OriginResponse.bytes(pattern(5000), contentType: "image/png").with(.cut(at: .byte(100))))
        for _ in 0..<3 {
            let failed = await send(request("/cut"))
            #expect(failed.result?.name == "truncatedBody" && failed.body == Array(pattern(5000)[..<100]))
            let good = await send(request("/good"))
            #expect(good.faults == [] && good.body == [1, 2, 3] && good.result?.name == "ok")
            #expect(try good.result?.get().bodyBytes == 3)
        }
        let again = await send(request("/good"))
        #expect(try again.result?.get().isReused == true)
    }

    @Test func anAddressPolicyBindsOnlyItsOwnRequest() async throws {
        let strict = AddressPolicy.publicOnly
        #expect(await send(request("/a")).result?.name == "ok")
        #expect(await send(request("/a") { $0.addressPolicy = strict }).result?.name == "addressRefused")
        #expect(await send(request("/a")).result?.name == "ok")
        #expect(await send(request("/a") { $0.addressPolicy = strict }).result?.name == "addressRefused")
    }

    @Test func aProxyServesOnlyItsOwnRequest() async throws {
        let proxy = try OriginServer()
        proxy.serve(under: "/") { _ in .bytes([9], contentType: "image/png") }
        let through = ProxySettings.server("http://127.0.0.1:\(proxy.port)")
        let secret = ProxySettings.server(
            "http://127.0.0.1:\(proxy.port)", credentials: BasicCredentials(user: "ada", password: "secret"))
        #expect(await send(request("/1") { $0.proxy = secret }).body == [9])
        #expect(await send(request("/2") { $0.proxy = through }).body == [9])
        #expect(await send(request("/3") { $0.proxy = .direct }).body == [1, 2, 3])
        #expect(proxy.requests("/1").first?.header("proxy-authorization") != nil)
        #expect(proxy.requests("/2").first?.header("proxy-authorization") == nil)
        #expect(proxy.requests("/3").isEmpty)
    }

    @Test(.enabled(if: NginxServer.isAvailable, "nginx or openssl is not installed"))
    func eachRequestIsCheckedByItsOwnTLSPolicy() async throws {
        let nginx = try NginxServer()
        func answer(_ tls: TLSPolicy) async -> String? {
            await send(TransportRequest(url: nginx.secure("/body"), tls: tls)).result?.name
        }
        for _ in 0..<2 {
            #expect(await answer(TLSPolicy()) == "tlsFailed")
            #expect(await answer(TLSPolicy(trust: .anyone)) == "ok")
            #expect(await answer(TLSPolicy(trust: .systemAnd(pem: nginx.authority))) == "ok")
            #expect(await answer(TLSPolicy(trust: .anyone, pinnedKeys: ["AAAA"])) == "tlsFailed")
        }
    }
}
