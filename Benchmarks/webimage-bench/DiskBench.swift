import WebImage
import WebImageCache
import WebImageSystem
import WebImageTesting

/// The whole public call for a picture that is in the disk cache and not in memory, one call after the other, with its
/// file in the page cache: a JPEG of 256 pixels, about 20 KB. It is compared with reading the same bytes from the cache
/// and decoding them by blocking calls on one thread, which is the least that a hit can take.
enum DiskBench {
    private static let count = 200

    @concurrent static func run() async throws {
        let folder = try BenchFolder()
        let transport = FakeTransport()
        let picture = try SamplePictures.grainySunset(PixelSize(width: 256, height: 192)).encoded(as: .jpeg)
        transport.answerAll { _ in .bytes(picture, contentType: "image/jpeg") }
        var configuration = ImageManager.Configuration()
        configuration.disk = DiskCacheConfiguration(directory: folder.path)
        let manager = ImageManager(configuration: configuration, transport: transport)
        let requests = (0..<count).map { ImageRequest("https://images.example.com/photos/\($0)/small.jpg") }
        for var request in requests {
            request.caching.waitsForStore = true
            _ = try await manager.image(for: request)
        }
        let cache = manager.diskCache!
        var rounds: [(wall: Double, cpu: Double, bareWall: Double, bareCPU: Double)] = []
        for _ in 0..<15 {
            manager.memoryCache.removeAll()
            var (wall, cpu) = (Time.now, Time.processCPU)
            for request in requests {
                let response = try await manager.image(for: request)
                precondition(response.source == .disk, "a hit missed")
            }
            (wall, cpu) = (Time.now - wall, Time.processCPU - cpu)
            var (bareWall, bareCPU) = (Time.now, Time.processCPU)
            for request in requests {
                let entry = try blockingRead(cache, request.originalKey)
                _ = try entry!.body.withUnsafeBytes { try CoderRegistry.standard.decode($0) }
            }
            (bareWall, bareCPU) = (Time.now - bareWall, Time.processCPU - bareCPU)
            rounds.append((wall, cpu, bareWall, bareCPU))
        }
        func median(_ of: ((wall: Double, cpu: Double, bareWall: Double, bareCPU: Double)) -> Double) -> Double {
            Measure.median(rounds.map(of)) / Double(count) * 1e6
        }
        print(
            "disk hit of \(picture.count) B, whole call: \(Measure.text(median(\.wall), 1)) us, "
                + "\(Measure.text(median(\.cpu), 1)) us of CPU; read and decoded on one thread: "
                + "\(Measure.text(median(\.bareWall), 1)) us, \(Measure.text(median(\.bareCPU), 1)) us of CPU")
    }

    private static func blockingRead(_ cache: DiskCache, _ key: CacheKey) throws -> DiskEntry? { try cache.read(key) }
}
