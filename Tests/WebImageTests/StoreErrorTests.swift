import Synchronization
import Testing
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// What a load that waits for its store learns about the store.
@Suite struct StoreErrorTests {
    private let url = "http://pictures.test/a.png"

    private func load(_ files: FaultyFileSystem, limit: ByteCount? = nil) async throws -> ImageResponse {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path, files: files) { configuration in
            if let limit { configuration.disk?.limits.bytes = limit }
        }
        bench.answer(url, with: try Fixture.png(40, 30), type: "image/png")
        var request = ImageRequest(url)
        request.caching.waitsForStore = true
        return try await bench.manager.image(for: request)
    }

    @Test func theResponseTellsTheTimeOfTheStore() async throws {
        let response = try await load(FaultyFileSystem())
        #expect(response.timings.store != nil && response.storeError == nil)
    }

    /// A failed load has nothing to store and does not wait for other loads' stores.
    @Test func aFailedLoadDoesNotWaitForOtherStores() async throws {
        let bench = TestBench()
        bench.transport.answer(url, .status(404))
        let announced = bench.manager.loader.originals.announce(for: ImageRequest(url).originalKey)
        var request = ImageRequest(url)
        request.caching.waitsForStore = true
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(error?.status == 404)
        announced.withdraw()
    }

    /// A load that waited for its own small original once waited for all stores announced before.
    @Test func aLoadWaitsOnlyForTheStoresOfItsOwnOriginal() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        let originals = bench.manager.loader.originals
        bench.answer(url, with: try Fixture.png(40, 30), type: "image/png")
        let announced = originals.announce(for: ImageRequest("http://pictures.test/other.png").originalKey)
        var request = ImageRequest(url)
        request.caching.waitsForStore = true
        #expect(try await bench.manager.image(for: request).timings.store != nil)
        request.caching.policy = .reload
        #expect(try await bench.manager.keepOriginal(for: request).timings.store != nil)
        announced.withdraw()
    }

    @Test func waitsForStoresEndWithTheAnnouncementsThatTheyConcern() async throws {
        let originals = TestBench().manager.loader.originals
        let (own, other) = (CacheKey("own"), CacheKey("other"))
        let ended = Guarded<[String]>([])
        func wait(_ name: String, _ key: CacheKey?) {
            originals.whenStored(key) { ended.withLock { $0.append(name) } }
        }
        let first = originals.announce(for: own)
        let foreign = originals.announce(for: other)
        let second = originals.announce(for: own)
        for (name, key) in [("none", CacheKey("none")), ("own", own), ("other", other), ("all", nil)] {
            wait(name, key)
        }
        #expect(ended.withLock { $0 } == ["none"])
        // A later announcement is not waited for.
        let late = originals.announce(for: own)
        first.withdraw()
        #expect(ended.withLock { $0 } == ["none"])
        second.withdraw()
        #expect(ended.withLock { $0 } == ["none", "own"])
        foreign.withdraw()
        #expect(ended.withLock { $0 } == ["none", "own", "other", "all"])
        late.withdraw()
        try await originals.finish()
    }

    @Test(arguments: [(Int32(28), WebImageError.Code.noSpace), (30, .readOnly), (5, .cacheIO)])
    func theResponseTellsWhyTheStoreFailed(number: Int32, code: WebImageError.Code) async throws {
        let files = FaultyFileSystem()
        files.failAll(.write, with: .error(number))
        let response = try await load(files)
        #expect(response.storeError?.code == code && response.timings.store == nil)
        #expect(response.image.size.width == 40)
    }

    @Test func aStoreOverTheDiskLimitIsANoSpaceError() async throws {
        let response = try await load(FaultyFileSystem(), limit: 1)
        #expect(response.storeError?.code == .noSpace && response.timings.store == nil)
    }
}
