import HTTPTypes
import Testing
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// The memory of originals that must be revalidated while further tiers are asked for them.
@Suite(.timeLimit(.minutes(2))) struct StaleOriginalMemoryTests {
    /// A load kept the bytes from the disk while it waited for memory for those of the next tier: for ever, if its own were what
    /// took up the memory.
    @Test(arguments: [1, 12]) func theBytesOfTheDiskDoNotKeepTheNextTierWaiting(count: Int) async throws {
        let (folder, tier) = (try TemporaryFolder(), MemoryTier())
        let bench = TestBench(disk: folder.path, clock: ManualClock()) { configuration in
            configuration.tiers = [tier]
            configuration.download.memoryForAll = .mebibytes(1)
        }
        let bytes = try Fixture.png(30, 20) + [UInt8](repeating: 0, count: 900_000)
        let urls = (0..<count).map { "http://pictures.test/\($0).png" }
        for url in urls {
            bench.answer(url, with: bytes, type: "image/png", fields: [.eTag: "\"1\"", .cacheControl: "max-age=0"])
            _ = try await bench.manager.image(for: ImageRequest(url))
        }
        await bench.manager.finishStores()
        bench.manager.memoryCache.removeAll()
        let before = tier.count(.entry)
        let loads = urls.map { url in
            Task { try await bench.manager.image(for: ImageRequest(url) { $0.caching.policy = .protocol }) }
        }
        for load in loads { _ = try await load.value }
        #expect(tier.count(.entry) >= before + count)
        #expect(await eventually { bench.manager.loader.decoding.inputMemory.used == 0 })
    }
}
