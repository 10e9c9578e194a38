import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Custom image loaders (SDWebImage's rows D-27, C-05 and X-04).
@Suite struct ImageLoaderTests {
    /// A loader that serves pictures under `album:` URLs.
    private final class Album: ImageLoader {
        let name: String
        let scheme: String
        private let body: [UInt8]
        private let gate: Gate?
        private let counted = Counter()

        init(_ body: [UInt8], scheme: String = "album", gate: Gate? = nil) {
            (name, self.scheme, self.body, self.gate) = ("album of \(scheme)", scheme, body, gate)
        }

        var count: Int { counted.value }

        func canLoad(_ url: String) -> Bool { url.hasPrefix(scheme + ":") }

        func load(_ url: String, to receiver: ImageReceiver) async throws {
            counted.increment()
            guard !url.hasSuffix("missing") else { throw WebImageError(.fileNotFound, "there is no such picture") }
            receiver.expect(ByteCount(body.count))
            try await receiver.receive(Array(body[..<(body.count / 2)]))
            await gate?.opened()
            try await receiver.receive(Array(body[(body.count / 2)...]))
        }
    }

    private func makeBench(_ loaders: [any ImageLoader], disk: String? = nil) -> TestBench {
        TestBench(disk: disk) { $0.download.loaders = loaders }
    }

    @Test func aCustomSchemeIsLoadedSharedAndCached() async throws {
        let folder = try TemporaryFolder()
        let album = Album(try Fixture.png(16, 12))
        let bench = makeBench([album], disk: folder.path)
        let ledger = Ledger()
        for _ in 0..<20 { bench.manager.load(ImageRequest("album:1/cover")) { ledger.take($0) } }
        #expect(try await ledger.finished(20).get().image.size == PixelSize(width: 16, height: 12))
        #expect(ledger.failures.isEmpty && album.count == 1)
        #expect(bench.manager.cachedImage(for: ImageRequest("album:1/cover")) != nil)
        await bench.manager.finishStores()
        let next = makeBench([album], disk: folder.path)
        #expect(try await next.manager.image(for: ImageRequest("album:1/cover")).source == .disk)
        #expect(try await next.manager.data(for: ImageRequest("album:1/cover")) == (try Fixture.png(16, 12)))
        #expect(album.count == 1)
    }

    /// A loader whose picture is one pixel wider each time.
    private final class Growing: ImageLoader {
        let name = "growing"
        private let counted = Counter()

        var count: Int { counted.value }

        func canLoad(_ url: String) -> Bool { url.hasPrefix("album:") }

        func load(_ url: String, to receiver: ImageReceiver) async throws {
            counted.increment()
            try await receiver.receive(try Fixture.png(7 + count, 8))
        }
    }

    /// The revalidation once forgot that the configuration had chosen the loader, and stored its picture under another
    /// key, so that the old picture stayed.
    @Test(arguments: [true, false]) func aRefreshRenewsAPictureThatALoaderLoads(ofData: Bool) async throws {
        let folder = try TemporaryFolder()
        let loader = Growing()
        let bench = makeBench([loader], disk: folder.path)
        var request = ImageRequest("album:a")
        #expect(try await bench.manager.image(for: request).image.size.width == 8)
        await bench.manager.finishStores()
        request.caching.policy = .refresh
        if ofData {
            #expect(try await Image(data: bench.manager.data(for: request)).size.width == 8)
        } else {
            #expect(try await bench.manager.image(for: request).image.size.width == 8)
        }
        let running = { bench.manager.loader.table.withLock { $0.runningCount + $0.preliminaries } }
        #expect(await eventually { loader.count == 2 && running() == 0 })
        await bench.manager.finishStores()
        request.caching.policy = .cacheFirst
        #expect(try await bench.manager.image(for: request).image.size.width == 9)
        bench.manager.memoryCache.removeAll()
        #expect(try await bench.manager.image(for: request).image.size.width == 9)
        #expect(loader.count == 2)
    }

    @Test func theLastLoaderThatAcceptsAURLLoadsIt() async throws {
        let (first, second) = (Album(try Fixture.png(8, 8)), Album(try Fixture.png(9, 9)))
        let other = Album(try Fixture.png(10, 10), scheme: "shelf")
        let bench = makeBench([first, second, other])
        #expect(try await bench.manager.image(for: ImageRequest("album:a")).image.size.width == 9)
        #expect(try await bench.manager.image(for: ImageRequest("shelf:a")).image.size.width == 10)
        #expect(first.count == 0)
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.image(for: ImageRequest("attic:a"))
        }
        #expect(error?.code == .unsupportedScheme)
    }

    @Test func aRequestMayHaveALoaderForAnyURL() async throws {
        let album = Album(try Fixture.png(8, 8))
        let bench = makeBench([])
        var request = ImageRequest("http://pictures.test/a.png")
        request.http.loader = album
        #expect(try await bench.manager.image(for: request).image.size.width == 8)
        #expect(album.count == 1 && bench.transport.requests.isEmpty)
    }

    @Test func aLoadersErrorIsTheErrorOfTheLoad() async throws {
        let bench = makeBench([Album(try Fixture.png(8, 8))])
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.image(for: ImageRequest("album:missing"))
        }
        #expect(error?.code == .fileNotFound && error?.location == "album:missing")
        var request = ImageRequest("album:a")
        request.http.bodyLimit = 10
        let tooLong = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(tooLong?.code == .bodyTooLarge)
    }

    /// A loader that delivers fewer bytes than it announced.
    private struct Short: ImageLoader {
        let name = "short"
        let body: [UInt8]

        func canLoad(_ url: String) -> Bool { true }

        func load(_ url: String, to receiver: ImageReceiver) async throws {
            receiver.expect(ByteCount(body.count + 1))
            try await receiver.receive(body)
        }
    }

    @Test func aBodyThatIsShorterThanPromisedIsNoPicture() async throws {
        let bench = makeBench([Short(body: try Fixture.png(8, 8))])
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.image(for: ImageRequest("album:a"))
        }
        #expect(error?.code == .truncatedBody)
    }

    @Test func anAddressPolicyKeepsSchemesFromLoaders() async throws {
        let album = Album(try Fixture.png(8, 8))
        let bench = makeBench([album])
        var request = ImageRequest("album:a")
        request.http.addressPolicy = .publicOnly
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(error?.code == .addressRefused && album.count == 0)
    }

    @Test func theLastCancelEndsTheLoader() async throws {
        let gate = Gate()
        let album = Album(try Fixture.png(64, 64), gate: gate)
        let bench = makeBench([album])
        let ledger = Ledger()
        let token = bench.manager.load(ImageRequest("album:a")) { ledger.take($0) }
        #expect(await eventually { album.count == 1 })
        token.cancel()
        _ = await ledger.finished()
        gate.open()
        #expect(ledger.failures == [.cancelled: 1])
        #expect(await eventually { bench.manager.downloader.counters.running == 0 })
        #expect(bench.manager.memoryCache.count == 0)
    }
}

/// A thread-safe counter.
private final class Counter: Sendable {
    private let counted = Guarded(0)

    var value: Int { counted.withLock { $0 } }
    func increment() { counted.withLock { $0 += 1 } }
}
