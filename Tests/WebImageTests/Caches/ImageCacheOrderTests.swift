import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@testable import WebImage

/// Concurrent operations on one picture. The tests begin tasks with `Task.immediate`, so that each has run up to the
/// first point at which it needs one of the cache's threads.
@Suite struct ImageCacheOrderTests {
    @Test func aRemoveBeatsAStoreThatIsStillEncoding() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        bench.decodeExecutor.hold()
        let store = Task.immediate { try await bench.cache.store(Fixture.gradient(8, 8), for: "a") }
        #expect(bench.cache.cachedImage(for: "a") != nil, "memory does not wait")
        try await bench.cache.remove("a")
        bench.decodeExecutor.release()
        #expect(try await !store.value)
        #expect(try await bench.cache.contains("a") == [])
        #expect(bench.cache.usage.disk?.count == 0)
    }

    @Test func aClearBeatsAStoreThatIsStillEncoding() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        bench.decodeExecutor.hold()
        let store = Task.immediate { try await bench.cache.store(Fixture.gradient(8, 8), for: "a") }
        try await bench.cache.clear()
        bench.decodeExecutor.release()
        #expect(try await !store.value)
        #expect(try await bench.cache.contains("a") == [])
    }

    @Test func aLaterStoreBeatsAnEarlierOneThatIsStillEncoding() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        bench.decodeExecutor.hold()
        let earlier = Task.immediate { try await bench.cache.store(Fixture.gradient(8, 8), for: "a") }
        let data = try Fixture.png(16, 16)
        #expect(try await bench.cache.store(Fixture.gradient(16, 16), data: data, for: "a"))
        bench.decodeExecutor.release()
        #expect(try await !earlier.value)
        #expect(try await bench.cache.data(for: "a") == data)
        #expect(bench.cache.cachedImage(for: "a")?.size.width == 16)
    }

    @Test func aStoredOriginalIsFoundBeforeItIsOnDisk() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        let disk = try #require(bench.cache.diskCache)
        bench.fileExecutor.hold()
        let data = try Fixture.png(8, 8)
        let store = Task.immediate { try await bench.cache.storeOriginal(data, for: "a") }
        let read = { try disk.read(CacheKey("a")) }
        #expect(try read()?.body == data && disk.usage.count == 0)
        bench.fileExecutor.release()
        #expect(try await store.value && disk.usage.count == 1)
    }

    @Test func aLookupAsksMemoryAgainBeforeReadingTheDisk() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        try await bench.cache.storeOriginal(Fixture.png(8, 8), for: "a")
        bench.fileExecutor.hold()
        let look = Task.immediate { try await bench.cache.image(for: "a") }
        try await bench.cache.store(Fixture.gradient(16, 16), for: "a", in: .memory)
        bench.fileExecutor.release()
        let found = try #require(try await look.value)
        #expect(found.source == .memory && found.image.size.width == 16)
        #expect(bench.cache.diskCache?.statistics.hits == 0)
    }

    @Test func concurrentLookupsShareOneReadAndOneDecode() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        try await bench.cache.storeOriginal(Fixture.png(8, 8), for: "a")
        bench.fileExecutor.hold()
        let looks = (0..<20).map { _ in Task.immediate { try await bench.cache.image(for: "a") } }
        bench.fileExecutor.release()
        var images: [Image] = []
        for look in looks { images.append(try #require(try await look.value).image) }
        #expect(images.allSatisfy { $0.storage === images[0].storage })
        #expect(bench.cache.diskCache?.statistics.hits == 1)
    }

    @Test func aCancelledLookupEndsAtOnceAndTheLastOneEndsTheRead() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        try await bench.cache.storeOriginal(Fixture.png(8, 8), for: "a")
        bench.fileExecutor.hold()
        let looks = (0..<2).map { _ in Task.immediate { try await bench.cache.image(for: "a") } }
        for look in looks {
            look.cancel()
            let error = await #expect(throws: WebImageError.self) { try await look.value }
            #expect(error?.code == .cancelled)
        }
        bench.fileExecutor.release()
        #expect(try await bench.cache.image(for: "a")?.source == .disk)
        #expect(bench.cache.diskCache?.statistics.hits == 1, "nothing was read for those who left")
    }

    @Test func aStoreCancelledWhileItEncodesIsNotWrittenToDisk() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        bench.decodeExecutor.hold()
        let store = Task.immediate { try await bench.cache.store(Fixture.gradient(8, 8), for: "a") }
        store.cancel()
        let error = await #expect(throws: WebImageError.self) { try await store.value }
        #expect(error?.code == .cancelled)
        bench.decodeExecutor.release()
        #expect(try await bench.cache.contains("a") == .memory)
    }

    @Test func aPictureThatIsRemovedWhileItIsDecodedIsNotKept() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        try await bench.cache.storeOriginal(Fixture.png(8, 8), for: "a")
        bench.decodeExecutor.hold()
        let look = Task.immediate { try await bench.cache.image(for: "a") }
        await bench.decodeExecutor.somethingWaits()
        try await bench.cache.remove("a")
        #expect(try await bench.cache.image(for: "a") == nil, "nobody joins the old read")
        bench.decodeExecutor.release()
        #expect(try await look.value?.source == .disk, "who asked before the remove has the picture")
        #expect(try await bench.cache.contains("a") == [])
    }

    @Test func anOlderDecodeDoesNotReplaceANewerPicture() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        try await bench.cache.storeOriginal(Fixture.png(8, 8), for: "a")
        bench.decodeExecutor.hold()
        let look = Task.immediate { try await bench.cache.image(for: "a") }
        await bench.decodeExecutor.somethingWaits()
        let data = try Fixture.png(16, 16)
        try await bench.cache.store(Fixture.gradient(16, 16), data: data, for: "a")
        bench.decodeExecutor.release()
        #expect(try await look.value?.image.size.width == 8)
        #expect(bench.cache.cachedImage(for: "a")?.size.width == 16)
    }

    @Test func aStoreWaitsWhileTooManyBytesAreStaged() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path) { $0.disk?.maxStaged = 1000 }
        bench.fileExecutor.hold()
        let bodies = (0..<5).map { [UInt8](repeating: UInt8($0), count: 600) }
        let stores = bodies.enumerated().map { index, body in
            Task.immediate { try await bench.cache.storeOriginal(body, for: "\(index)") }
        }
        bench.fileExecutor.release()
        for (index, store) in stores.enumerated() {
            #expect(try await store.value)
            #expect(try await bench.cache.data(for: "\(index)") == bodies[index])
        }
    }

    /// The replaced caller was once told while the cache held the lock that every load takes.
    @Test func aReplacedStoreIsAnsweredWithoutHoldingTheLock() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        let (cache, disk) = (bench.cache, try #require(bench.cache.diskCache))
        bench.fileExecutor.hold()
        let wasFree = Guarded<Bool?>(nil)
        disk.stage(CacheKey("a"), [1], DiskMetadata()) { _ in
            let answer = BlockingAnswer<Bool>()
            startThread(named: "probe") { answer.give(cache.pending.withLockIfAvailable { _ in true } ?? false) }
            let isFree = answer.value()
            wasFree.withLock { $0 = isFree }
        }
        let store = Task.immediate { try await cache.storeOriginal(Fixture.png(8, 8), for: "a") }
        #expect(wasFree.withLock { $0 } == true)
        bench.fileExecutor.release()
        #expect(try await store.value)
    }

    /// One entry that could not be removed once kept the removal's other entries on disk.
    @Test func anEntryThatCannotBeRemovedDoesNotKeepTheOthers() async throws {
        let (folder, files) = (try TemporaryFolder(), FaultyFileSystem())
        let configuration = ImageCache.Configuration(disk: DiskCacheConfiguration(directory: folder.path))
        let clock = ManualClock(wallTime: SystemClock.shared.wallTime)
        let cache = ImageCache(configuration, clock: clock, files: files)
        let small = ImageRequest("https://pictures.test/a.png", size: TargetSize(width: 4))
        func fill() async throws {
            try await cache.store(Fixture.gradient(4, 4), for: small)
            try await cache.storeOriginal(Fixture.png(8, 8), for: small)
            let beginning = try #require(cache.partials?.claim(CacheKey("b"), creates: true))
            #expect(beginning.restart(metadata: [1]) && [1].withUnsafeBytes { beginning.append($0) })
            beginning.release()
        }
        try await fill()
        files.fail(.remove, at: 0, with: .error(EROFS))
        await #expect(throws: WebImageError.self) { try await cache.remove(small) }
        #expect(try await cache.diskCache?.contains(small.originalKey) == false)
        try await fill()
        files.fail(.remove, at: 1, with: .error(EROFS))
        await #expect(throws: WebImageError.self) { try await cache.clear() }
        #expect(cache.partials?.usedBytes == .zero && cache.usage.disk?.count == 1)
    }
}
