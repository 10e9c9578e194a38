import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServerGrammar
import Synchronization
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP
@testable import ServerImages

/// Results that are being sent to clients and are kept in memory meanwhile.
@Suite struct SentResultsTests {
    /// Longer than a result that the memory cache keeps.
    private static let length = 1 << 20

    private func result(_ byte: UInt8 = 1) -> StoredResult {
        let size = PixelSize(width: 1, height: 1)
        return StoredResult(
            bytes: [UInt8](repeating: byte, count: Self.length), mediaType: "image/png", fileExtension: "png",
            storedAt: 0, freshness: SourceFreshness(freshUntil: 100), sourceSize: size, resultSize: size, sourceBytes: 1
        )
    }

    private func disk(_ folder: ScratchDirectory) -> DiskCache {
        DiskCache(
            DiskCacheConfiguration(directory: folder.path, namespace: "results", limits: .init(bytes: .mebibytes(64))))
    }

    private func cache(_ disk: DiskCache, _ sent: SentResults) -> ResultCache {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ResultCache(memoryLimit: 1 << 20, disk: disk, sent: sent, logger: logger)
    }

    @Test func aHundredReadersOfALargeResultShareOneCopy() async throws {
        let folder = try ScratchDirectory()
        let (disk, sent) = (disk(folder), SentResults())
        let cache = cache(disk, sent)
        cache.keep(result(), "a")
        await cache.flush()
        #expect(sent.bytes == 0)
        var shares = await withTaskGroup(of: SentResults.Share?.self) { group in
            for _ in 0..<50 { group.addTask { await cache.result("a").flatMap { cache.share($0.0, "a") } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for _ in 0..<50 { shares.append(await cache.result("a").flatMap { cache.share($0.0, "a") }) }
        #expect(shares.allSatisfy { $0?.bytes.count == Self.length } && shares.count == 100)
        #expect(disk.statistics.hits == 1 && sent.bytes == Self.length)
        shares = []
        // The tasks that held shares may still be ending.
        for _ in 0..<1_000_000 where sent.bytes > 0 { await Task.yield() }
        #expect(sent.bytes == 0 && sent.result("a") == nil)
        #expect(await cache.result("a")?.1 == .disk)
        #expect(disk.statistics.hits == 2)
    }

    /// The same over real sockets, with clients that read nothing.
    @Test func theBytesCountAsLongAsAClientReadsNothing() async throws {
        let origin = try OriginServer()
        let picture = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        let body = picture + [UInt8](repeating: 7, count: 12_000_000)
        origin.serve("/a.png", OriginResponse(headers: [("Cache-Control", "max-age=1000")], body: body))
        let folder = try ScratchDirectory()
        try await RunningServer.run(["WEBIMAGE_CACHE_DIR": folder.path]) { server in
            let cache = server.endpoint.service.cache
            let path = RunningServer.path("skp:png", origin)
            _ = try await RawConnection.answer(
                "GET \(path) HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n", port: server.port)
            await cache.flush()
            try await server.wait { $0.endpoint.service.cache.unsentBytes == 0 }
            var clients: [RawConnection] = []
            for number in 0..<5 {
                let client = try await RawConnection(port: server.port, reads: false)
                try await client.send("GET \(path) HTTP/1.1\r\nHost: test\r\n\r\n")
                client.read()
                try await client.wait { !$0.isEmpty }
                clients.append(client)
                #expect(cache.unsentBytes == body.count, "\(number)")
            }
            for client in clients { try await client.close() }
            try await server.wait { $0.endpoint.service.cache.unsentBytes == 0 }
        }
        #expect(origin.hits("/a.png") == 1)
    }

    /// NIO tells a writer that there is no room only after the event loop has taken the earlier writes. A writer that
    /// ran ahead of a busy event loop once left a whole body in memory for each client.
    @Test func aBodyIsWrittenAsTheEventLoopTakesIt() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let writer = WatchingWriter(loop)
        let answer = Answer(body: .bytes([UInt8](repeating: 1, count: Self.length)))
        try await ImageResponder.body(answer, loop).write(writer)
        #expect(writer.state.withLock { $0.bytes == Self.length && $0.maxAhead == 1 })
    }

    @Test func aResultBeingSentIsFoundInItsNewestState() async throws {
        let folder = try ScratchDirectory()
        let sent = SentResults()
        let cache = cache(disk(folder), sent)
        let share = try #require(cache.share(result(), "a"))
        var renewed = result()
        renewed.freshness.freshUntil = 200
        cache.renew(renewed, "a")
        #expect(await cache.result("a")?.0.freshness.freshUntil == 200)
        #expect(try #require(cache.share(renewed, "a")).bytes.first == 1 && sent.bytes == Self.length)
        // The bytes of another result count in addition.
        let other = try #require(cache.share(result(2), "a"))
        #expect(sent.bytes == 2 * Self.length && sent.result("a")?.bytes.first == 2)
        cache.keep(result(3), "a")
        #expect(sent.result("a") == nil)
        withExtendedLifetime((share, other)) {}
        await cache.flush()
    }

    @Test func sentResultsThatForbidStoringAreNotFound() throws {
        let sent = SentResults()
        var secret = result()
        secret.freshness.forbidsStoring = true
        let share = try #require(sent.share(secret, "a"))
        #expect(sent.result("a") == nil && sent.bytes == share.bytes.count)
    }

    @Test func theBytesBeingSentAreLimited() throws {
        let sent = SentResults(most: Self.length * 3 / 2)
        var share = sent.share(result(), "a")
        #expect(share != nil && sent.share(result(), "a") != nil && sent.share(result(2), "b") == nil)
        share = nil
        // A single result always fits.
        #expect(SentResults(most: 1).share(result(), "a") != nil && sent.share(result(2), "b") != nil)
    }

    @Test func oneClientLeavesAsMuchToOthersAsItHolds() throws {
        let sent = SentResults(most: Self.length * 4)
        var shares = (0..<4).map { sent.share(result(UInt8($0)), "\($0)", for: "slow") }
        #expect(shares.map { $0 != nil } == [true, true, false, false])
        // A result that the client is already being sent counts only once.
        #expect(sent.share(result(0), "0", for: "slow") != nil && sent.bytes == 2 * Self.length)
        // A result that several clients are sent counts for each of them, but only once in total.
        let good = sent.share(result(0), "0", for: "good")
        #expect(good != nil && sent.share(result(5), "5", for: "good") == nil && sent.bytes == 2 * Self.length)
        #expect(sent.share(result(6), "6", for: "third") != nil)
        shares[0] = nil
        #expect(sent.bytes == 2 * Self.length && sent.result("0") != nil)
        #expect(sent.share(result(7), "7", for: "slow") == nil)
        shares = []
        #expect(sent.bytes == Self.length && sent.share(result(7), "7", for: "slow") != nil)
        withExtendedLifetime(good) {}
        #expect(sent.share(result(8), "8", for: nil) != nil)
    }

    @Test func rawSourcesAreSharedFairly() {
        let sources = StreamedBytes(most: 100)
        let slow = [40, 40, 10, 0].map { sources.take($0, for: "slow") }
        #expect(slow.map { $0 != nil } == [true, false, true, true])
        #expect(sources.take(50, for: "good") != nil && sources.take(51, for: "good") == nil)
        withExtendedLifetime(slow) {}
    }

    @Test func unreadResultsOverTheLimitRefuseOtherRequests() async throws {
        let server = try TestServer(sent: SentResults(most: 1))
        try server.serve()
        try server.serve("/b.png", PixelSize(width: 20, height: 30))
        let first = await server.picture("w:10")
        #expect(first.status == 200 && first.share != nil)
        let second = await server.picture("w:10", "/b.png")
        #expect(second.status == 503 && second.fields[.retryAfter] == "1")
        #expect(await server.picture("w:10").status == 200)
        let tag = try #require(first.fields[.eTag])
        #expect(await server.picture("w:10", "/a.png", [.ifNoneMatch: tag]).share == nil)
        withExtendedLifetime(first) {}
    }
}

/// A body writer that counts how many writes are ahead of an event loop.
private final class WatchingWriter: ResponseBodyWriter, Sendable {
    struct State {
        var bytes = 0
        var ahead = 0
        var maxAhead = 0
    }

    let state = Mutex(State())
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func write(_ buffer: ByteBuffer) async throws {
        state.withLock { state in
            state.bytes += buffer.readableBytes
            state.ahead += 1
            state.maxAhead = max(state.maxAhead, state.ahead)
        }
        loop.execute { self.state.withLock { $0.ahead -= 1 } }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
