import HTTPTypes
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

/// Which addresses count as the public Internet. No other spelling of an address and no redirect leads anywhere else.
@Suite struct AddressPolicyTests {
    /// Addresses that must be refused: every kind of IPv4 address that is not public, its IPv6 counterpart, and every
    /// way to embed IPv4 in IPv6.
    static let refused = [
        // loopback and unspecified
        "127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::",
        // private, shared by carriers (100.64.0.0/10), link-local
        "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "100.64.0.1",
        "100.127.255.255", "169.254.169.254", "169.254.0.1", "fc00::1", "fd12:3456::1", "fdff::1", "fe80::1",
        "febf::1", "fec0::1", "fe80::1%eth0",
        // multicast and broadcast
        "224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1", "ff0e::1",
        // reserved for documentation, benchmarks and other purposes
        "192.0.0.1", "192.0.0.170", "192.0.2.1", "198.51.100.7", "203.0.113.9", "192.88.99.1", "198.18.0.1",
        "198.19.255.255", "240.0.0.1", "254.1.2.3", "100::1", "2001:db8::1", "2001:2::1", "2001:20::1", "3fff::1",
        "5f00::1",
        // IPv4 in IPv6: mapped, compatible, translated, 6to4, NAT64 with both prefixes, Teredo with the server's and
        // the client's address
        "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::10.0.0.1",
        "::ffff:0:127.0.0.1", "2002:7f00:1::", "2002:0a00:0001::1", "2002:a9fe:a9fe::", "64:ff9b::127.0.0.1",
        "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "64:ff9b:1:fffe::10.0.0.1", "2001:0:7f00:1::", "2001::f5ff:fffe",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
        // ISATAP
        "2001:4860::5efe:10.0.0.1", "2001:4860::200:5efe:127.0.0.1",
        // not an address
        "", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "1.2.3.4.5", "1.2.3.256", ":::1", "1::2::3",
        "::ffff:1.2.3", "12345::", "[::1]",
    ]

    static let allowed = [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255",
        "128.0.0.1",
        "169.253.255.255", "169.255.0.1", "172.15.255.255", "172.32.0.1", "192.167.1.1", "192.169.1.1", "198.17.1.1",
        "198.20.0.1", "223.255.255.255", "2606:4700::1111", "2001:4860:4860::8888", "2a00:1450::1", "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8", "2002:808:808::1", "2001:4860::5efe:8.8.8.8",
    ]

    @Test(arguments: refused)
    func publicOnlyRefusesAddressesThatAreNotPublic(_ address: String) {
        #expect(!AddressPolicy.publicOnly.allows(address: address))
    }

    @Test(arguments: allowed)
    func publicOnlyAllowsPublicAddresses(_ address: String) {
        #expect(AddressPolicy.publicOnly.allows(address: address))
    }

    @Test func listsAllowAndDeny() throws {
        var policy = AddressPolicy.publicOnly
        policy.allowedAddresses = [try #require(AddressRange("10.1.0.0/16"))]
        #expect(policy.allows(address: "10.1.2.3") && !policy.allows(address: "10.2.0.1"))
        policy.deniedAddresses = [try #require(AddressRange("2606:4700::/32")), try #require(AddressRange("9.9.9.9"))]
        #expect(!policy.allows(address: "2606:4700::1") && !policy.allows(address: "9.9.9.9"))
        #expect(policy.allows(address: "9.9.9.8") && policy.allows(address: "127.0.0.1"))
        for text in ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "x", "::/129", "1.2.3.4/8/9"] {
            #expect(AddressRange(text) == nil)
        }
        #expect(try #require(AddressRange("0.0.0.0/0")).contains("1.2.3.4"))
        #expect(try #require(AddressRange("10.0.0.0/9")).contains("10.128.0.0") == false)
    }

    @Test func schemesHostsAndPortsAreLookedAtFirst() {
        var policy = AddressPolicy()
        func allows(_ scheme: String, _ host: String, _ port: Int = 443) -> Bool {
            policy.refusal(scheme: scheme, host: host, port: port) == nil
        }
        #expect(allows("http", "a") && !allows("ftp", "a") && !allows("file", ""))
        policy.allowedHosts = ["example.com", "*.cdn.example"]
        #expect(allows("https", "example.com") && allows("https", "a.b.cdn.example") && allows("https", "example.com."))
        #expect(
            !allows("https", "cdn.example") && !allows("https", "evilcdn.example")
                && !allows("https", "example.com.evil"))
        policy.allowedHosts = nil
        policy.deniedHosts = ["*.internal"]
        #expect(!allows("https", "db.internal") && allows("https", "internal.example"))
        policy.allowedPorts = [443, 8443]
        #expect(allows("https", "a") && !allows("https", "a", 22))
        policy.allowedPorts = nil
        policy.deniedPorts = [25]
        #expect(!allows("http", "a", 25) && allows("http", "a", 26))
    }

    @Test(arguments: ["ｌocalhost", "ｍetadata.internal", "metadata。internal", "BÜCHER.de", "xn--bcher-kva.de"])
    func anotherSpellingOfADeniedHostIsDenied(_ host: String) throws {
        var policy = AddressPolicy()
        policy.deniedHosts = ["localhost", "*.internal", "bücher.de"]
        let url = try WebURL("http://\(host)/")
        #expect(policy.refusal(scheme: "http", host: url.host, port: 80) != nil)
        policy.deniedHosts = []
        policy.allowedHosts = ["localhost", "*.internal", "bücher.de"]
        #expect(policy.refusal(scheme: "http", host: url.host, port: 80) == nil)
    }

    // MARK: Over sockets

    /// A request that may reach public addresses only. A wrong check would let it reach the rig's server on loopback.
    private func guarded(_ url: String) -> DownloadRequest {
        var request = DownloadRequest(url: url)
        request.addressPolicy = .publicOnly
        return request
    }

    @Test(arguments: [
        "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001",
        "localhost",
        "LOCALHOST", "0", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "[::127.0.0.1]",
        "127.0.0.1.", "ip6-localhost",
    ])
    func noSpellingOfThisMachineConnects(_ host: String) async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes([1], contentType: "image/png"))
        let (bytes, end) = await rig.fetch(
            rig.downloader.download(guarded("http://\(host):\(rig.server.port)/a")))
        // A resolver may also reject such a host name altogether.
        #expect(["addressRefused", "dnsFailed", "invalidURL"].contains(end) && bytes.isEmpty, "\(end)")
        #expect(rig.server.connectionCount == 0)
    }

    @Test(arguments: ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "localhost", "0x7f.1"])
    func noRedirectLeadsToThisMachine(_ host: String) async throws {
        let rig = try Rig()
        let inner = try OriginServer()
        inner.serve("/secret", .bytes([1], contentType: "image/png"))
        rig.server.serve("/a", .redirect(to: "http://\(host):\(inner.port)/secret"))
        var request = DownloadRequest(url: rig.server.url("/a"))
        // The policy admits the first hop on loopback, as it would admit a public address.
        var policy = AddressPolicy.publicOnly
        policy.deniedPorts = [inner.port]
        policy.allowedAddresses = AddressRange.loopback
        request.addressPolicy = policy
        #expect(await rig.fetch(rig.downloader.download(request)).end == "addressRefused")
        #expect(rig.server.hits("/a") == 1 && inner.connectionCount == 0)
        let seen = Counter()
        request.addressPolicy = AddressPolicy(name: "only once") { _ in seen.increment() <= 2 }
        #expect(await rig.fetch(rig.downloader.download(request)).end == "addressRefused")
        #expect(inner.hits("/secret") == 0)
    }

    @Test func filesAndDataNeedTheirSchemesAllowed() async throws {
        let rig = try Rig()
        for url in ["file:///etc/hostname", "data:,x"] {
            #expect(await rig.fetch(rig.downloader.download(guarded(url))).end == "addressRefused")
        }
        var file = DownloadRequest(path: "/etc/hostname")
        file.addressPolicy = .publicOnly
        #expect(await rig.fetch(rig.downloader.download(file)).end == "addressRefused")
        var request = guarded("data:,x")
        request.addressPolicy?.schemes.insert("data")
        #expect(await rig.fetch(rig.downloader.download(request)) == (Array("x".utf8), "complete"))
    }

    @Test func aPolicyOfTheDownloaderHoldsForAll() async throws {
        let rig = try Rig(.with { $0.addressPolicy = .publicOnly })
        rig.server.serve("/a", .bytes([1], contentType: "image/png"))
        #expect(await rig.fetch("/a").end == "addressRefused")
        var request = DownloadRequest(url: rig.server.url("/a"))
        request.addressPolicy = AddressPolicy()
        #expect(await rig.fetch(rig.downloader.download(request)).end == "complete")
    }

    @Test func withAPolicyNoProxyIsAsked() async throws {
        let proxy = try OriginServer()
        proxy.serve(under: "/") { _ in .bytes([9], contentType: "image/png") }
        let rig = try Rig(.with { $0.proxy = .server("http://127.0.0.1:\(proxy.port)") })
        #expect(
            await rig.fetch(rig.downloader.download(guarded("http://127.0.0.1:\(rig.server.port)/a"))).end
                == "addressRefused")
        #expect(proxy.connectionCount == 0 && rig.server.connectionCount == 0)
    }
}
