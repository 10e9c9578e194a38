import FleetTesting
import HTTPTypes
import NIOCore
import NIOPosix
import S3Client
import S3Signing
import S3Tier
import ServerConfiguration
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// Servers that share an S3 storage. All tests share one SeaweedFS, each with a prefix of its own.
@Suite(.enabled(if: S3Server.isInstalled, "\(S3Server.reason)")) struct StorageTests {
    private static let size = PixelSize(width: 64, height: 48)
    private let origin: OriginServer
    private let endpoint: String
    private let prefix = "\(UInt32.random(in: 0 ... .max))"

    init() async throws {
        origin = try OriginServer()
        endpoint = try await S3Server.shared().endpoint
    }

    private var variables: [String: String] {
        [
            "IMGPROXY_S3_ENDPOINT": endpoint, "AWS_ACCESS_KEY_ID": S3Server.accessKey,
            "AWS_SECRET_ACCESS_KEY": S3Server.secretKey, "IMGPROXY_USE_S3": "true",
        ]
    }

    private func server(_ more: [String: String] = [:]) throws -> TestServer {
        let results = ["WEBIMAGE_S3_RESULTS": "\(S3Server.bucket)/\(prefix)"]
        return try TestServer(variables.merging(results) { $1 }.merging(more) { $1 }, origin: origin)
    }

    private func client(_ prefix: String? = nil) throws -> S3Client {
        var configuration = try S3Configuration(
            bucket: S3Server.bucket, prefix: prefix ?? self.prefix, endpoint: endpoint,
            credentials: S3Credentials(accessKey: S3Server.accessKey, secretKey: S3Server.secretKey))
        configuration.readDeadline = .seconds(30)
        return try S3Client(configuration, group: MultiThreadedEventLoopGroup.singleton)
    }

    private func serve(_ size: PixelSize = size, control: String = "max-age=1000", _ tag: String = "\"1\"") throws {
        origin.serve(
            "/a.png",
            OriginResponse(
                headers: [("Cache-Control", control), ("ETag", tag)], body: try TestServer.bytes(size, as: .png)))
    }

    private func choice(_ server: TestServer, _ url: URLGrammar.ParsedURL) -> FormatChoice {
        server.endpoint.service.maker.choice(url.options, AcceptedFormats(accept: nil))
    }

    private func detail(_ answer: Answer) -> String { answer.fields[.cacheStatus] ?? "" }

    // MARK: Results

    @Test func aResultOfOneServerIsServedByAnother() async throws {
        try serve()
        let (first, second) = (try server(), try server())
        let made = await first.picture("w:10")
        #expect(made.status == 200 && detail(made) == "webimage; fwd=miss")
        await first.storage?.flush()
        let taken = await second.picture("w:10")
        #expect(detail(taken) == "webimage; hit; detail=stored")
        #expect(try await taken.image().size.width == 10)
        #expect(made.fields[.eTag] == taken.fields[.eTag] && taken.fields[.contentType] == "image/png")
        #expect(detail(await second.picture("w:10")) == "webimage; hit; detail=memory")
        #expect(origin.hits("/a.png") == 1)
        #expect(first.storage?.statistics.writes == 1 && second.storage?.statistics.hits == 1)
    }

    /// A result that was made with a client's cookies is not written to the storage, neither when it is made nor when
    /// it is renewed.
    @Test func resultsMadeWithCookiesAreNotStored() async throws {
        var response = OriginResponse(
            headers: [("Cache-Control", "max-age=10"), ("ETag", "\"1\"")],
            body: try TestServer.bytes(Self.size, as: .png))
        response.sendsDate = false
        var renewed = response
        renewed.headers = [("Cache-Control", "max-age=7200"), ("ETag", "\"1\"")]
        origin.serve("/a.png", response, renewed)
        let server = try server(["IMGPROXY_COOKIE_PASSTHROUGH": "true", "IMGPROXY_COOKIE_PASSTHROUGH_ALL": "true"])
        let fields: HTTPFields = [.cookie: "id=1"]
        _ = await server.picture("w:10", "/a.png", fields)
        server.advance(20)
        while detail(await server.picture("w:10", "/a.png", fields)) != "webimage; hit; detail=memory" {
            await Task.yield()
        }
        await server.storage?.flush()
        #expect(origin.hits("/a.png") == 2 && server.storage?.statistics.writes == 0)
    }

    @Test func resultsWithTooManyTagsAreNotStored() async throws {
        let tags = (0..<100).map { "tag-\($0)" }.joined(separator: ",")
        origin.serve(
            "/a.png",
            OriginResponse(
                headers: [("Cache-Control", "max-age=1000"), ("Cache-Tag", tags)],
                body: try TestServer.bytes(Self.size, as: .png)))
        let server = try server()
        #expect(await server.picture("w:10").status == 200)
        await server.storage?.flush()
        #expect(server.storage?.statistics.writes == 0 && server.storage?.statistics.skips == 1)
    }

    /// The objects in the bucket are plain pictures, so that other programs can show them.
    @Test func aStoredObjectIsThePlainPicture() async throws {
        try serve()
        let server = try server()
        let made = await server.picture("w:10/f:webp")
        await server.storage?.flush()
        let url = try server.endpoint.settings.grammar.parse(target: "/_/w:10/f:webp/plain/\(origin.url("/a.png"))")
        let key = server.endpoint.service.key(url, choice(server, url))
        let object = try #require(try await client().get("results-1/\(key.prefix(2))/\(key)"))
        #expect(object.contentType == "image/webp")
        #expect(Array(object.body.readableBytesView) == made.bytes)
    }

    @Test func purgedResultsAreNotTaken() async throws {
        try serve()
        let (first, second) = (try server(), try server())
        _ = await first.picture("w:10")
        await first.storage?.flush()
        second.advance(5)
        #expect(await second.admin("/purge", #"{"urls": ["\#(origin.url("/a.png"))"]}"#).status == 200)
        #expect(detail(await second.picture("w:10")) == "webimage; fwd=miss")
        #expect(origin.hits("/a.png") == 2)
    }

    @Test func staleResultsAreServedAndRenewedInTheBackground() async throws {
        try serve(control: "max-age=10")
        let (first, second) = (try server(), try server())
        _ = await first.picture("w:10")
        await first.storage?.flush()
        second.advance(20)
        #expect(detail(await second.picture("w:10")) == "webimage; hit; detail=stale")
        _ = await origin.waitForHits("/a.png", 2)
    }

    /// The server is new or has lost its disk, and the origin is down: what the storage has is better than nothing.
    @Test func resultsThatAreTooOldAreServedIfTheOriginIsDown() async throws {
        try serve(control: "max-age=10")
        let times = ["WEBIMAGE_STALE_WHILE_REVALIDATE": "0", "WEBIMAGE_STALE_IF_ERROR": "1000"]
        let (first, second) = (try server(times), try server(times))
        _ = await first.picture("w:10")
        await first.storage?.flush()
        origin.serve("/a.png", OriginResponse(status: 500))
        second.advance(20)
        #expect(detail(await second.picture("w:10")) == "webimage; hit; detail=stale")
        second.advance(1000)
        #expect(await second.picture("w:10").status == 502)
    }

    @Test(arguments: [("\"1\"", "webimage; hit; detail=stored"), ("\"2\"", "webimage; fwd=miss")])
    func resultsThatMustBeRevalidatedAreConfirmedFirst(_ tag: String, _ status: String) async throws {
        try serve(control: "max-age=10, must-revalidate")
        let (first, second) = (try server(), try server())
        _ = await first.picture("w:10")
        await first.storage?.flush()
        second.advance(20)
        try serve(control: "max-age=10, must-revalidate", tag)
        #expect(detail(await second.picture("w:10")) == status)
        #expect(origin.hits("/a.png") >= 1)
    }

    @Test(arguments: ["no-store", "private"]) func noStoreAndPrivateResultsAreNotStored(_ control: String) async throws
    {
        try serve(control: control)
        let server = try server()
        _ = await server.picture("w:10")
        await server.storage?.flush()
        #expect(server.storage?.statistics.writes == 0)
    }

    @Test func damagedResultsAreMadeAnew() async throws {
        try serve()
        let (first, second) = (try server(), try server())
        _ = await first.picture("w:10")
        await first.storage?.flush()
        let url = try first.endpoint.settings.grammar.parse(target: "/_/w:10/plain/\(origin.url("/a.png"))")
        let key = first.endpoint.service.key(url, choice(first, url))
        let name = "results-1/\(key.prefix(2))/\(key)"
        let (client, object) = (try client(), try #require(try await client().get(name)))
        var body = object.body
        body.setInteger(UInt8(0), at: body.writerIndex - 1)
        try await client.put(name, body, metadata: object.metadata.map { ($0.key, $0.value) })
        #expect(detail(await second.picture("w:10")) == "webimage; fwd=miss")
    }

    @Test func aStorageThatIsGoneCostsNothing() async throws {
        try serve()
        let server = try server(["IMGPROXY_S3_ENDPOINT": "http://127.0.0.1:\(RedisServer.freePort())"])
        #expect(await server.picture("w:10").status == 200)
        await server.storage?.flush()
        #expect(server.storage?.client.statistics.failures ?? 0 > 0)
    }

    /// The storage accepts connections but never answers. The picture is made after a moment.
    @Test func aStorageThatIsSilentIsNotWaitedFor() async throws {
        try serve()
        let silent = try OriginServer()
        silent.serve(under: "/") { _ in OriginResponse(behaviours: [.stall(at: .beforeHead)]) }
        let server = try server(["IMGPROXY_S3_ENDPOINT": silent.url("")])
        let answers = await withTaskGroup(of: Int.self) { group in
            for width in 1...5 { group.addTask { await server.picture("w:\(width)").status } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == [200, 200, 200, 200, 200])
        // Requests that it never answered count as failures, and it is no longer asked.
        while server.storage?.client.isAvailable == true { await Task.yield() }
        #expect(await server.picture("w:6").status == 200)
        #expect(server.storage?.client.statistics.spared ?? 0 > 0)
        silent.stop()
    }

    /// Uploads once took all connections to the storage and all places of requests that wait, so that reads timed out.
    @Test func uploadsLeaveHalfOfTheConnectionsToReads() async throws {
        try serve()
        let (slow, gate) = (try OriginServer(), Gate())
        slow.serve(under: "/") { request in
            request.method == "PUT"
                ? OriginResponse(behaviours: [.hold(gate, at: .beforeHead)])
                : OriginResponse(status: 404, body: Array("<Error><Code>NoSuchKey</Code></Error>".utf8))
        }
        let server = try server(["IMGPROXY_S3_ENDPOINT": slow.url("")])
        let storage = try #require(server.storage)
        for width in 1...40 { #expect(await server.picture("w:\(width)").status == 200) }
        // One read for each picture, and the first uploads.
        while storage.client.statistics.requests < 40 + 16 { await Task.yield() }
        #expect(detail(await server.picture("w:41")) == "webimage; fwd=miss")
        #expect(storage.client.statistics.requests == 41 + 16 && storage.statistics.misses == 41)
        gate.open()
        await storage.flush()
        #expect(storage.statistics.writes == 41 && storage.client.statistics.failures == 0)
        slow.stop()
    }

    // MARK: Originals

    @Test func anOriginalIsFetchedOnceForAllServers() async throws {
        try serve()
        let originals = ["WEBIMAGE_S3_ORIGINALS": "\(S3Server.bucket)/\(prefix)-originals", "WEBIMAGE_S3_RESULTS": ""]
        let (first, second) = (try server(originals), try server(originals))
        _ = await first.picture("w:10")
        await first.manager.finishStores()
        #expect(await second.picture("w:20").status == 200)
        #expect(origin.hits("/a.png") == 1)
    }

    // MARK: Sources

    private func put(_ key: String, _ size: PixelSize = size) async throws {
        try await client("sources").put(
            key, ByteBuffer(bytes: try TestServer.bytes(size, as: .png)), contentType: "image/png")
    }

    @Test(arguments: ["a.png", "with space+and/é.png", "a@b.png"]) func anObjectIsASource(_ key: String) async throws {
        try await put(key)
        let server = try server()
        let source = "s3://\(S3Server.bucket)/sources/\(key)"
        let encoded = source.addingPercentEncoding()
        let answer = await server.get("/_/w:10/plain/\(encoded)")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try await answer.image().size.width == 10)
        // The object changed a moment ago and states no lifetime, so that the result may already be stale.
        #expect(detail(await server.get("/_/w:10/plain/\(encoded)")).hasPrefix("webimage; hit; detail="))
        #expect(await server.get("/info/_/plain/\(encoded)").text.contains("\"width\":64"))
        #expect(await server.get("/_/raw:1/plain/\(encoded)").status == 200)
        // Slashes before a key do not count, as in imgproxy.
        let joined = "s3://\(S3Server.bucket)///sources/\(key)".addingPercentEncoding()
        #expect(await server.get("/_/w:10/plain/\(joined)").status == 200)
    }

    @Test(arguments: [
        ("s3://\(S3Server.bucket)/sources/none.png", 404), ("s3://other-bucket/a.png", 404),
        ("s3://denied-bucket/a.png", 404), ("s3://\(S3Server.bucket)", 404), ("s3://\(S3Server.bucket)/", 404),
        ("s3:///a.png", 404), ("s3://No_Bucket/a.png", 404),
    ]) func missingAndForbiddenObjectsAreNotFound(_ source: String, _ status: Int) async throws {
        let server = try server(["IMGPROXY_S3_DENIED_BUCKETS": "denied-bucket"])
        #expect(await server.get("/_/w:10/plain/\(source)").status == status)
    }

    @Test func onlyBucketsThatAreAllowedAreSources() async throws {
        try await put("allowed.png")
        let url = "/_/w:10/plain/s3://\(S3Server.bucket)/sources/allowed.png"
        #expect(await (try server(["IMGPROXY_S3_ALLOWED_BUCKETS": "other"])).get(url).status == 404)
        #expect(await (try server(["IMGPROXY_S3_ALLOWED_BUCKETS": "other, \(S3Server.bucket)"])).get(url).status == 200)
        #expect(await (try server(["IMGPROXY_USE_S3": "false"])).get(url).status == 404)
        #expect(
            await (try server(["IMGPROXY_ALLOWED_SOURCES": "s3://\(S3Server.bucket)/"])).get(url).status == 200)
    }

    /// Only `s3://` URLs use the storage's keys. The storage's address is not allowed as a source.
    @Test func theStorageIsNoSourceByItsAddress() async throws {
        try await put("a.png")
        let server = try server(["IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "false"])
        #expect(await server.get("/_/w:10/plain/s3://\(S3Server.bucket)/sources/a.png").status == 200)
        #expect(await server.get("/_/w:10/plain/\(endpoint)/\(S3Server.bucket)/sources/a.png").status == 404)
    }

    @Test func wrongS3KeysAreRefused() async throws {
        try await put("a.png")
        let server = try server(["AWS_SECRET_ACCESS_KEY": "another"])
        let answer = await server.get("/_/w:10/plain/s3://\(S3Server.bucket)/sources/a.png")
        #expect((400..<500).contains(answer.status))
        #expect(!answer.text.contains(S3Server.secretKey))
    }
}

/// A public bucket, which is read without credentials.
@Suite struct OpenBucketTests {
    @Test(arguments: ["", "s3://open-bucket/"]) func objectsOfAnOpenBucketAreSources(_ allowed: String) async throws {
        let origin = try OriginServer()
        let bytes = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        origin.serve("/open-bucket/a.png", OriginResponse(body: bytes))
        origin.serve("/open-bucket/away.png", .redirect(to: origin.url("/elsewhere.png")))
        origin.serve("/elsewhere.png", OriginResponse(body: bytes))
        let server = try TestServer(
            [
                "IMGPROXY_USE_S3": "true", "IMGPROXY_S3_ENDPOINT": origin.url(""), "IMGPROXY_ALLOWED_SOURCES": allowed,
            ], origin: origin)
        #expect(await server.get("/_/w:10/plain/s3://open-bucket/a.png").status == 200)
        #expect(origin.requests("/open-bucket/a.png").first?.header("authorization") == nil)
        // A redirect from the bucket is not followed.
        #expect(await server.get("/_/w:10/plain/s3://open-bucket/away.png").status != 200)
        #expect(origin.hits("/elsewhere.png") == 0)
    }
}

extension String {
    /// The text, percent-encoded as a source after `plain/`.
    fileprivate func addingPercentEncoding() -> String {
        utf8.map { byte in
            byte < 128 && byte > 32 && byte != UInt8(ascii: "@") && byte != UInt8(ascii: "+")
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
