import Logging
import ServerConfiguration
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// Which results are written to disk, and in which order.
@Suite struct ResultsOnDiskTests {
    /// A result cache on a folder of its own, opened anew to see what reached the disk.
    private struct DiskFolder {
        let folder: ScratchDirectory
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

        init() throws { folder = try ScratchDirectory() }

        func open(maxUnwritten: Int = 64 << 20) -> ResultCache {
            let disk = DiskCache(DiskCacheConfiguration(directory: folder.path, namespace: "results"))
            return ResultCache(memoryLimit: 1 << 20, disk: disk, maxUnwritten: maxUnwritten, logger: logger)
        }

        /// The result on disk for this key, after all pending writes.
        func result(_ key: String, of cache: ResultCache) async -> StoredResult? {
            await cache.flush()
            return await open().result(key)?.0
        }

        static func result(_ count: Int, freshUntil: Int = 1 << 50) -> StoredResult {
            StoredResult(
                bytes: [UInt8](repeating: 7, count: count), mediaType: "image/png", fileExtension: "png", storedAt: 0,
                freshness: SourceFreshness(freshUntil: freshUntil), sourceSize: PixelSize(width: 1, height: 1),
                resultSize: PixelSize(width: 1, height: 1), sourceBytes: 1)
        }
    }

    @Test func renewalsAreWrittenToDisk() async throws {
        let folder = try DiskFolder()
        let cache = folder.open()
        cache.keep(DiskFolder.result(500, freshUntil: 1), "a")
        #expect(await folder.result("a", of: cache)?.freshness.freshUntil == 1)
        cache.renew(DiskFolder.result(500, freshUntil: 2), "a")
        let renewed = try #require(await folder.result("a", of: cache))
        #expect(renewed.freshness.freshUntil == 2)
        #expect(renewed.bytes.count == 500)
        // If the result is not on disk, its renewal writes it as a whole.
        cache.renew(DiskFolder.result(300, freshUntil: 3), "b")
        #expect(await folder.result("b", of: cache)?.bytes.count == 300)
    }

    /// Each write was once a task of its own, and the tasks ended in any order.
    @Test func theNewestResultOfAKeyIsWrittenLast() async throws {
        let folder = try DiskFolder()
        let cache = folder.open()
        for round in 1...50 {
            for number in 0..<20 { cache.keep(DiskFolder.result(400, freshUntil: round), "\(number)") }
        }
        await cache.flush()
        let written = folder.open()
        for number in 0..<20 { #expect(await written.result("\(number)")?.0.freshness.freshUntil == 50) }
    }

    /// If the disk is too slow, results are not written to it, but stay in memory.
    @Test func resultsTooManyForTheDiskStayInMemory() async throws {
        let folder = try DiskFolder()
        let cache = folder.open(maxUnwritten: 5000)
        cache.keep(DiskFolder.result(10_000), "long")
        cache.keep(DiskFolder.result(1000), "short")
        #expect(cache.cachedResult("long")?.bytes.count == 10_000)
        #expect(await folder.result("short", of: cache)?.bytes.count == 1000)
        #expect(await folder.open().result("long") == nil)
        // Completed writes make room again.
        for number in 0..<8 {
            cache.keep(DiskFolder.result(3000), "\(number)")
            #expect(await folder.result("\(number)", of: cache)?.bytes.count == 3000)
        }
    }

    @Test func aRestartFindsResultsOnDisk() async throws {
        let folder = try ScratchDirectory()
        let bytes = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        let first = try TestServer(["WEBIMAGE_CACHE_DIR": folder.path])
        first.origin.serve("/a.png", OriginResponse(headers: [("Cache-Control", "max-age=1000")], body: bytes))
        let path = "/_/w:10/plain/\(first.origin.url("/a.png"))"
        let made = await first.get(path)
        await first.endpoint.service.cache.flush()
        let second = try TestServer(["WEBIMAGE_CACHE_DIR": folder.path])
        let found = await second.get(path)
        #expect(found.fields[.cacheStatus] == "webimage; hit; detail=disk")
        #expect(found.bytes == made.bytes)
        #expect(found.fields[.eTag] == made.fields[.eTag])
    }

    /// Results are evicted when there is no more room, not because of their age.
    @Test func resultsOnDiskHaveNoMaximumAge() throws {
        let server = try TestServer(["WEBIMAGE_CACHE_DIR": "/nowhere/cache"])
        for name in ["results", "originals", "purges"] {
            let disk = ManagerMaking.disk(server.endpoint.settings, name, .mebibytes(1), Logger(label: "test"))
            let limits = try #require(disk).limits
            #expect(limits.age == nil && limits.bytes == .mebibytes(1))
        }
    }
}
