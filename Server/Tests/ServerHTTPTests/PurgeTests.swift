import FleetCoordination
import ServerImages
import HTTPTypes
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// Purges on a server without a fleet.
@Suite struct PurgeTests {
    private static let small = PixelSize(width: 64, height: 48)
    private static let large = PixelSize(width: 128, height: 96)

    private func width(_ answer: Answer) async throws -> Int { try await answer.image().size.width }

    /// The origin has a new picture. The old one is served until it is purged, and then the new one in every size, also
    /// in sizes that were never made.
    @Test(arguments: ["url", "prefix", "tag", "all"]) func purgedPicturesAreFetchedAgain(kind: String) async throws {
        let folder = try ScratchDirectory()
        let server = try TestServer(["WEBIMAGE_CACHE_DIR": folder.path])
        let headers = [("Cache-Control", "max-age=1000"), ("Surrogate-Key", "people cats")]
        try server.serve("/a.png", Self.small, headers: headers)
        #expect(try await width(server.picture("")) == 64)
        #expect(try await width(server.picture("w:32")) == 32)
        try server.serve("/a.png", Self.large, headers: headers)
        #expect(try await width(server.picture("")) == 64)
        #expect(try await width(server.picture("w:0/q:70")) == 64)
        #expect(server.origin.hits("/a.png") == 1)
        let order =
            switch kind {
            case "url": #"{"urls": ["\#(server.origin.url("/a.png"))"]}"#
            case "prefix": #"{"prefixes": ["\#(server.origin.url("/a"))"]}"#
            case "tag": #"{"tags": ["cats"]}"#
            default: #"{"all": true}"#
            }
        let answer = await server.admin("/purge", order)
        #expect(answer.status == 200)
        #expect(answer.text == #"{"purged":1,"servers":1}"#)
        let purged = await server.picture("")
        #expect(purged.fields[.cacheStatus] == "webimage; fwd=miss")
        #expect(try await width(purged) == 128)
        #expect(try await width(server.picture("w:0/q:60")) == 128)
        #expect(server.origin.hits("/a.png") == 2)
        // After the purge, results are cached as before.
        #expect(await server.picture("").fields[.cacheStatus] == "webimage; hit; detail=memory")
        #expect(server.endpoint.metricsText.contains("webimage_purges_total 1\n"))
    }

    /// The purge had an earlier time than the result, which was served until it was no longer fresh.
    @Test func aPurgeCountsThoughTheClockWasSetBack() async throws {
        let server = try TestServer()
        try server.serve("/a.png", Self.small, headers: [("Cache-Control", "max-age=1000")])
        #expect(try await width(server.picture("")) == 64)
        try server.serve("/a.png", Self.large, headers: [("Cache-Control", "max-age=1000")])
        server.advance(-30)
        #expect(await server.admin("/purge", #"{"all": true}"#).status == 200)
        #expect(try await width(server.picture("")) == 128)
    }

    @Test(arguments: [#"{"tags": ["dogs"]}"#, #"{"urls": ["http://other/a.png"]}"#, #"{"prefixes": ["http://x"]}"#])
    func aPurgeKeepsOtherPictures(order: String) async throws {
        let server = try TestServer()
        try server.serve(headers: [("Cache-Control", "max-age=1000"), ("Cache-Tag", "cats, people")])
        _ = await server.picture("w:10")
        #expect(await server.admin("/purge", order).status == 200)
        #expect(await server.picture("w:10").fields[.cacheStatus] == "webimage; hit; detail=memory")
    }

    /// A picture is purged while it is being made. Clients that asked before the purge get the new one, too.
    @Test func aPicturePurgedWhileItIsMadeIsMadeAgain() async throws {
        let server = try TestServer()
        let gate = Gate()
        let old = try TestServer.bytes(Self.small, as: .png)
        server.origin.serve("/a.png", OriginResponse(body: old, behaviours: [.hold(gate, at: .beforeHead)]))
        async let answer = server.picture("")
        _ = await server.origin.waitForHits("/a.png", 1)
        try server.serve("/a.png", Self.large)
        #expect(await server.admin("/purge", #"{"all": true}"#).status == 200)
        gate.open()
        #expect(try await width(answer) == 128)
    }

    /// The tags of a source are known only when the original is read, also for raw bytes and descriptions.
    @Test(arguments: ["/_/raw:1/plain/", "/info/_/plain/"]) func purgesByTagReachOriginals(path: String) async throws {
        let folder = try ScratchDirectory()
        let server = try TestServer(["WEBIMAGE_CACHE_DIR": folder.path])
        let headers = [("Cache-Control", "max-age=1000"), ("Surrogate-Key", "people cats")]
        try server.serve("/a.png", Self.small, headers: headers)
        #expect(await server.picture("").status == 200)
        await server.manager.finishStores()
        try server.serve("/a.png", Self.large, headers: headers)
        func answered() async throws -> Int {
            let answer = await server.get(path + server.origin.url("/a.png"))
            #expect(answer.status == 200, "\(answer.text)")
            guard case .stream(let body) = answer.body else {
                return answer.text.contains(#""width":128"#) ? 128 : 64
            }
            var bytes: [UInt8] = []
            for try await piece in body.bytes { bytes += piece.bytes }
            return try await Image(data: bytes).size.width
        }
        #expect(try await answered() == 64)
        _ = await server.admin("/purge", #"{"tags": ["cats"]}"#)
        #expect(try await answered() == 128)
        #expect(server.origin.hits("/a.png") == 2)
    }

    /// A purge names a source as its pictures do, without the configuration's base URL and replacements.
    @Test(arguments: ["a.png", "HTTP", "x://"]) func purgesNameSourcesAsPicturesDo(way: String) async throws {
        let origin = try OriginServer()
        let base = origin.url("/")
        let variables =
            switch way {
            case "a.png": ["IMGPROXY_BASE_URL": base]
            case "x://": ["IMGPROXY_URL_REPLACEMENTS": "x://*=\(base)${1}"]
            default: [String: String]()
            }
        let source =
            switch way {
            case "a.png": "a.png"
            case "x://": "x://a.png"
            default: "HTTP" + origin.url("/a.png").dropFirst(4)
            }
        let server = try TestServer(variables, origin: origin)
        try server.serve("/a.png", Self.small, headers: [("Cache-Control", "max-age=1000")])
        #expect(try await width(server.get("/_/plain/" + source)) == 64)
        try server.serve("/a.png", Self.large)
        #expect(try await width(server.get("/_/plain/" + source)) == 64)
        #expect(await server.admin("/purge", #"{"urls": ["\#(source)"]}"#).status == 200)
        #expect(try await width(server.get("/_/plain/" + source)) == 128)
    }

    /// A source that failed a moment ago is requested again after a purge.
    @Test func failuresAreForgotten() async throws {
        let server = try TestServer()
        server.origin.serve("/a.png", OriginResponse(status: 404))
        #expect(await server.picture("w:10").status == 404)
        try server.serve("/a.png", Self.small)
        #expect(await server.picture("w:10").status == 404)
        _ = await server.admin("/purge", #"{"urls": ["\#(server.origin.url("/a.png"))"]}"#)
        #expect(await server.picture("w:10").status == 200)
    }

    @Test func purgesOutliveTheServer() async throws {
        let folder = try ScratchDirectory()
        let origin = try OriginServer()
        let variables = ["WEBIMAGE_CACHE_DIR": folder.path]
        func served() async throws -> Int {
            let server = try TestServer(variables, origin: origin)
            await server.purging.restore()
            let width = try await width(server.picture(""))
            await server.endpoint.service.cache.flush()
            await server.manager.drain(within: .seconds(5))
            return width
        }
        let headers = [("Cache-Control", "max-age=1000")]
        origin.serve("/a.png", OriginResponse(headers: headers, body: try TestServer.bytes(Self.small, as: .png)))
        #expect(try await served() == 64)
        origin.serve("/a.png", OriginResponse(headers: headers, body: try TestServer.bytes(Self.large, as: .png)))
        #expect(try await served() == 64)
        do {
            let server = try TestServer(variables, origin: origin)
            _ = await server.admin("/purge", #"{"all": true}"#)
        }
        #expect(try await served() == 128)
    }

    /// While a server is replaced, its successor uses the same folder.
    @Test func purgesOfTwoServersWithOneFolderAreAllKept() async throws {
        let folder = try ScratchDirectory()
        let servers = [
            try TestServer(["WEBIMAGE_CACHE_DIR": folder.path]), try TestServer(["WEBIMAGE_CACHE_DIR": folder.path]),
        ]
        for number in 0..<4 {
            let answer = await servers[number % 2].admin("/purge", #"{"tags": ["\#(number)"]}"#)
            #expect(answer.status == 200)
        }
        // Purges at the same time share writes.
        await withTaskGroup(of: Void.self) { group in
            for number in 4..<40 {
                group.addTask {
                    let answer = await servers[number % 2].admin("/purge", #"{"tags": ["\#(number)"]}"#)
                    #expect(answer.status == 200)
                }
            }
        }
        // Of two writes at the same moment one may lack a purge of the other server, which that server's next one brings.
        for server in servers { _ = await server.admin("/purge", #"{"tags": ["last"]}"#) }
        let next = try TestServer(["WEBIMAGE_CACHE_DIR": folder.path])
        await next.purging.restore()
        for tag in (0..<40).map(String.init) + ["last"] {
            #expect(next.purging.lastPurge("", tags: [StableHash.of(tag)]) > 0, "\(tag)")
        }
    }

    @Test(arguments: [
        ("", 400), ("[]", 400), ("{}", 400), (#"{"url": "a"}"#, 400), (#"{"urls": "a"}"#, 400),
        (#"{"urls": [], "all": false}"#, 400), (#"{"all": 1}"#, 400), (#"{"all": true, "local": true}"#, 200),
    ])
    func purgeOrdersAreValidated(order: String, status: Int) async throws {
        let server = try TestServer()
        let answer = await server.admin("/purge", order)
        #expect(answer.status == status)
        #expect(answer.fields[.contentType] == "application/json")
        if status == 400 { #expect(answer.text.hasPrefix(#"{"error":""#)) }
    }

    @Test func purgingNeedsTheSecretAndTheAdminEndpoint() async throws {
        let server = try TestServer(["IMGPROXY_SECRET": "word"])
        #expect(await server.admin("/purge", #"{"all": true}"#).status == 403)
        #expect(await server.admin("/purge", #"{"all": true}"#, [.authorization: "Bearer word"]).status == 200)
        #expect(await server.admin("/purge", method: .get).status == 405)
        #expect(await server.admin("/metrics", method: .get).text.contains("webimage_queue_length 0"))
        #expect(await server.admin("/health", method: .get).status == 200)
        #expect(await server.admin("/ready", method: .get).text == "ready")
        #expect(await server.admin("/other", method: .get).status == 404)
        #expect(await server.get("/purge", [.authorization: "Bearer word"], method: .post).status == 405)
        let many = (0..<1001).map { "\"\($0)\"" }.joined(separator: ",")
        #expect(
            await server.admin("/purge", #"{"urls": [\#(many)]}"#, [.authorization: "Bearer word"]).status == 400)
    }

    @Test func purgesMayHaveASecretOfTheirOwn() async throws {
        let server = try TestServer(["WEBIMAGE_ADMIN_SECRET": "purge"])
        try server.serve()
        #expect(await server.picture("w:10").status == 200)
        #expect(await server.admin("/purge", #"{"all": true}"#).status == 403)
        #expect(await server.admin("/purge", #"{"all": true}"#, [.authorization: "Bearer purge"]).status == 200)
        let both = try TestServer(["WEBIMAGE_ADMIN_SECRET": "purge", "IMGPROXY_SECRET": "word"])
        #expect(await both.admin("/purge", #"{"all": true}"#, [.authorization: "Bearer word"]).status == 403)
        #expect(await both.admin("/purge", #"{"all": true}"#, [.authorization: "Bearer purge"]).status == 200)
    }

    @Test func answersNameTheirSourceForCachesInFront() async throws {
        let server = try TestServer(["WEBIMAGE_CACHE_TAG_HEADER": "surrogate-key"])
        try server.serve()
        let name = HTTPField.Name.named("Surrogate-Key")
        let first = await server.picture("w:10").fields[name]
        #expect(first?.count == 18 && first?.hasPrefix("s-") == true)
        #expect(await server.picture("w:20").fields[name] == first)
        try server.serve("/b.png")
        #expect(await server.picture("w:10", "/b.png").fields[name] != first)
        #expect(throws: (any Error).self) { try TestServer(["WEBIMAGE_CACHE_TAG_HEADER": "X-Tag"]) }
        #expect(throws: (any Error).self) { try TestServer(["WEBIMAGE_REDIS_URL": "http://redis"]) }
    }
}
