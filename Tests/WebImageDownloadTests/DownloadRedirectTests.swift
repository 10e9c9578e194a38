import HTTPTypes
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

@Suite struct DownloadRedirectTests {
    @Test(arguments: [301, 302, 303, 307, 308])
    func aRedirectLeadsToThePicture(_ status: Int) async throws {
        let rig = try Rig()
        rig.server.serve("/x/a", .redirect(to: "../b?c=1#d", status: status))
        rig.server.serve("/b?c=1", .bytes([1, 2], contentType: "image/png"))
        let download = rig.download("/x/a")
        #expect(await rig.fetch(download) == ([1, 2], "complete"))
        #expect(download.metrics?.redirects == 1)
        #expect(download.metrics?.finalURL == rig.server.url("/b?c=1"))
    }

    @Test func moreThanTenRedirectsAreTooMany() async throws {
        let rig = try Rig()
        for hop in 0..<11 { rig.server.serve("/\(hop)", .redirect(to: "/\(hop + 1)")) }
        rig.server.serve("/11", .bytes([1], contentType: "image/png"))
        #expect(await rig.fetch("/0").end == "tooManyRedirects")
        #expect(await rig.fetch("/1") == ([1], "complete"))
    }

    @Test func aRedirectCircleIsDetectedAtOnce() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .redirect(to: "/b"))
        rig.server.serve("/b", .redirect(to: "/a"))
        #expect(await rig.fetch("/a").end == "tooManyRedirects")
        #expect(rig.server.hits("/a") == 1)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://h/a", "data:,x"])
    func aRedirectOutOfHTTPIsRefused(_ target: String) async throws {
        let rig = try Rig()
        rig.server.serve("/a", .redirect(to: target))
        #expect(await rig.fetch("/a").end == "redirectRefused")
    }

    /// User and password in the URL of a redirect were once sent only if it led to another origin.
    @Test func userAndPasswordInTheTargetAreSent() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .redirect(to: rig.server.url("/b").replacing("http://", with: "http://anna:secret@")))
        rig.server.serve("/b", .bytes([1], contentType: "image/png"))
        #expect(await rig.fetch("/a") == ([1], "complete"))
        var request = DownloadRequest(url: rig.server.url("/a"))
        request.credentials = BasicCredentials(user: "ada", password: "x")
        #expect(await rig.fetch(rig.downloader.download(request)) == ([1], "complete"))
        let sent = rig.server.requests("/b").map { $0.header("Authorization") }
        #expect(sent == ["Basic YW5uYTpzZWNyZXQ=", "Basic YWRhOng="])
    }

    @Test func secretsDoNotGoToAnotherOrigin() async throws {
        let rig = try Rig()
        let other = try OriginServer()
        other.serve("/b", .bytes([1], contentType: "image/png"))
        rig.server.serve("/a", .redirect(to: "/here"))
        rig.server.serve("/here", .redirect(to: other.url("/b")))
        var request = DownloadRequest(url: rig.server.url("/a").replacing("http://", with: "http://anna:secret@"))
        request.headers[.cookie] = "session=1; theme=dark"
        request.headers[.acceptLanguage] = "fr"
        #expect(await rig.fetch(rig.downloader.download(request)) == ([1], "complete"))
        for path in ["/a", "/here"] {
            let seen = try #require(rig.server.requests(path).first)
            #expect(seen.header("Authorization") == "Basic YW5uYTpzZWNyZXQ=")
            // All cookies are in one field: HTTP/1.1 allows no second `Cookie` field.
            #expect(seen.header("Cookie") == "session=1; theme=dark")
        }
        let seen = try #require(other.requests("/b").first)
        #expect(seen.header("Authorization") == nil && seen.header("Cookie") == nil)
        #expect(seen.header("Accept-Language") == "fr")
    }

    @Test func aHopTakesASlotAtItsOwnHost() async throws {
        let rig = try Rig(.with { $0.maxConcurrentPerHost = 1 })
        let other = try OriginServer()
        let gate = Gate()
        other.serve("/busy", .bytes([1], contentType: "image/png").with(.hold(gate, at: .beforeHead)))
        other.serve("/b", .bytes([2], contentType: "image/png"))
        rig.server.serve("/a", .redirect(to: other.url("/b")))
        rig.server.serve("/c", .bytes([3], contentType: "image/png"))
        let busy = rig.download(other.url("/busy"))
        await other.waitForHeld("/busy", 1)
        let hopping = rig.download("/a")
        // The first host's slot is free for this request while the redirected one waits for the other host.
        #expect(await rig.fetch("/c") == ([3], "complete"))
        #expect(rig.downloader.counters.waiting == 1 && other.hits("/b") == 0)
        gate.open()
        #expect(await rig.fetch(hopping) == ([2], "complete"))
        #expect(await rig.fetch(busy) == ([1], "complete"))
    }

    @Test func requestsHaveDefaultFieldsUnlessTheySetThem() async throws {
        let rig = try Rig(.with { $0.headers[.accept] = DownloadConfiguration.accept([.avif, .png]) })
        rig.server.serve("/a", .bytes([1], contentType: "image/png"))
        _ = await rig.fetch("/a")
        var request = DownloadRequest(url: rig.server.url("/a"))
        request.headers[.accept] = "image/gif"
        request.headers[.referer] = ""
        _ = await rig.fetch(rig.downloader.download(request))
        let seen = rig.server.requests("/a")
        try #require(seen.count == 2)
        #expect(seen[0].header("Accept") == "image/avif,image/png,image/*;q=0.9,*/*;q=0.8")
        #expect(seen[0].header("User-Agent")?.hasPrefix("webimage/") == true)
        #expect(seen[0].header("Accept-Encoding") == "identity")
        #expect(seen[1].header("Accept") == "image/gif")
        #expect(seen[1].header("Referer") == "")
        #expect(DownloadConfiguration.accept([]) == "image/*,*/*;q=0.8")
    }
}
