import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct FairnessTests {
    @Test func aSlowHostHoldsUpNoPictureOfAnother() async throws {
        let server = try TestServer()
        let gate = Gate()
        let picture = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        server.origin.serve(under: "/slow") { _ in
            OriginResponse(body: picture, behaviours: [.hold(gate, at: .beforeHead)])
        }
        let quick = try OriginServer()
        quick.serve("/a.png", OriginResponse(body: picture))
        // As many requests as the server has places for.
        let slow = (0..<66).map { number in Task { await server.picture("w:10", "/slow/\(number)") } }
        while server.endpoint.service.gate.count < 66 { await Task.yield() }
        #expect(server.endpoint.service.gate.waiting == 46)
        #expect(await server.picture("w:10", "/slow/more").status == 429)
        let other = "/_/w:10/plain/http://localhost:\(quick.port)/a.png"
        #expect(await server.get(other).status == 200)
        gate.open()
        var statuses: [Int: Int] = [:]
        for task in slow { statuses[await task.value.status, default: 0] += 1 }
        // One request lost its place to the other host.
        #expect(statuses == [200: 65, 429: 1])
        #expect(server.endpoint.service.gate.count == 0)
    }

    @Test func aClientThatAsksForTooMuchIsToldWhenToComeAgain() async throws {
        let server = try TestServer(["WEBIMAGE_RATE_LIMIT": "1/m;burst=2", "WEBIMAGE_OVERLOAD_STATUS": "503"])
        try server.serve(headers: [("Cache-Control", "max-age=1000")])
        func get(_ options: String, from client: String?) async -> Answer {
            await server.get("/_/\(options)/plain/\(server.origin.url("/a.png"))", from: client)
        }
        #expect(await get("w:10", from: "192.0.2.1").status == 200)
        #expect(await get("w:11", from: "192.0.2.1").status == 200)
        let refused = await get("w:12", from: "192.0.2.1")
        #expect(refused.status == 429)
        #expect(refused.text == "Too many requests")
        let seconds = try #require(refused.fields[.retryAfter].flatMap { Int($0) })
        #expect((1...60).contains(seconds))
        #expect(await server.get("/info/_/plain/\(server.origin.url("/a.png"))", from: "192.0.2.1").status == 429)
        #expect(await get("raw:1", from: "192.0.2.1").status == 429)
        // Cached pictures do not count, and other clients are not limited.
        #expect(await get("w:10", from: "192.0.2.1").status == 200)
        #expect(await get("w:12", from: "192.0.2.2").status == 200)
        #expect(await get("w:13", from: nil).status == 200)
        #expect(server.endpoint.metricsText.contains("webimage_rate_limited_total 3"))
    }

    @Test func requestsForAHostOrByAKeyAreCountedTogether() async throws {
        let pictures = try OriginServer()
        let body = try TestServer.bytes(PixelSize(width: 8, height: 8), as: .png)
        pictures.serve("/a.png", OriginResponse(headers: [("Cache-Control", "max-age=1000")], body: body))
        let hosts = try TestServer(["WEBIMAGE_RATE_LIMIT": "1/m;by=host"], origin: pictures)
        for (host, expected) in [("127.0.0.1", [200, 429, 429]), ("localhost", [200, 429, 429])] {
            var statuses: [Int] = []
            for number in 0..<3 {
                let path = "/_/w:\(number + 1)/plain/http://\(host):\(pictures.port)/a.png"
                statuses.append(await hosts.get(path, from: "192.0.2.\(number)").status)
            }
            #expect(statuses == expected)
        }
        let keys = ["IMGPROXY_KEY": "01,02", "IMGPROXY_SALT": "03,04", "IMGPROXY_TRUSTED_SIGNATURES": "friend"]
        let signed = try TestServer(
            keys.merging(["WEBIMAGE_RATE_LIMIT": "1/m;by=key"]) { first, _ in first }, origin: pictures)
        let signers = signed.endpoint.settings.grammar.signatures.keys
        func status(_ width: Int, _ signer: Int?) async -> Int {
            let rest = "/w:\(width)/plain/\(pictures.url("/a.png"))"
            let signature = signer.map { signers[$0].signature(of: rest, size: 32) } ?? "friend"
            return await signed.get("/\(signature)\(rest)", from: "192.0.2.1").status
        }
        #expect(await status(1, 0) == 200)
        #expect(await status(2, 0) == 429)
        #expect(await status(2, 1) == 200)
        #expect(await status(3, 1) == 429)
        // The fallback picture is part of the same request.
        let replacing = try TestServer(
            keys.merging(["WEBIMAGE_RATE_LIMIT": "1/m;by=key"]) { first, _ in first }, fallback: body, origin: pictures)
        let missing = "/w:1/plain/\(pictures.url("/missing.png"))"
        #expect(await replacing.get("/\(signers[0].signature(of: missing, size: 32))\(missing)").status == 200)
        // A trusted signature belongs to no key.
        for width in 4..<8 { #expect(await status(width, nil) == 200) }
    }

    @Test(arguments: [
        ("192.0.2.1", "", "192.0.2.1"), ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"), ("10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"), ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "6.6.6.6, nonsense", "10.0.0.1"), ("10.0.0.1", "198.51.100.7:1234", "198.51.100.7"),
        ("10.0.0.1", "[2001:db8::1]:80", "2001:db8::1"), ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("", "198.51.100.7", "198.51.100.7"),
    ]) func theClientIsTheLastAddressThatIsNoTrustedProxy(peer: String, forwarded: String, client: String) throws {
        var fields = HTTPFields()
        fields[.xForwardedFor] = forwarded.isEmpty ? nil : forwarded
        let range = try #require(AddressRange("10.0.0.0/8"))
        let found = ClientAddress.behindProxies(ClientAddress(peer), fields, trusted: [range])
        #expect(found?.text == client)
        let untrusted = ClientAddress.behindProxies(ClientAddress(peer), fields, trusted: [])
        #expect(untrusted?.key == ClientAddress(peer)?.key)
    }

    @Test func customersOfIPv6HaveSixtyFourBits() {
        #expect(ClientAddress("2001:db8:1:2:3::4")?.key == ClientAddress("2001:db8:1:2:ffff::1")?.key)
        #expect(ClientAddress("2001:db8:1:3:3::4")?.key != ClientAddress("2001:db8:1:2:3::4")?.key)
        #expect(ClientAddress("::ffff:192.0.2.1")?.key == "192.0.2.1")
        #expect(ClientAddress("x") == nil)
    }
}
