import WebImage
import WebImageSystem
import WebImageTesting

/// Cold requests without network and disk, 64 at a time: the cost of the pipeline itself. Aim: 20 us of CPU each.
enum ColdBench {
    private static let count = 5_000
    private static let inFlight = 64

    static func run() async throws {
        let picture = try Image(size: PixelSize(width: 1, height: 1)) { $0[3] = 255 }.encoded(as: .png)
        var rounds: [(ours: Double, bare: Double)] = []
        for _ in 0..<5 {
            let transport = FakeTransport()
            transport.answerAll { _ in .bytes(picture, contentType: "image/png") }
            var configuration = ImageManager.Configuration()
            configuration.disk = nil
            configuration.download.maxConcurrent = inFlight
            configuration.download.maxConcurrentPerHost = inFlight
            let manager = ImageManager(configuration: configuration, transport: transport)
            let ours = await cpu { index in
                _ = try? await manager.image(for: ImageRequest("https://images.example.com/\(index).png"))
            }
            let thread = ThreadPool(name: "bench", width: 1)
            let bare = await cpu { _ in
                await withCheckedContinuation { continuation in thread.run(.normal) { continuation.resume() } }
            }
            rounds.append((ours, bare))
            manager.shutDown()
        }
        let (ours, bare) = (Measure.median(rounds.map(\.ours)), Measure.median(rounds.map(\.bare)))
        let decode = try await decodeAlone(picture)
        print(
            "cold request: \(Measure.text(ours, 1)) us CPU; a bare Task with one continuation resumed from another thread "
                + "\(Measure.text(bare, 1)) us; decoding the 1x1 PNG alone \(Measure.text(decode, 1)) us")
    }

    /// The CPU time of the process for each of `count` calls, `inFlight` at a time, in microseconds.
    private static func cpu(_ body: @escaping @Sendable (Int) async -> Void) async -> Double {
        let begin = Measure.processCPU
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                if index >= inFlight { await group.next() }
                group.addTask { await body(index) }
            }
        }
        return (Measure.processCPU - begin) / Double(count)
    }

    private static func decodeAlone(_ bytes: [UInt8]) async throws -> Double {
        let begin = Measure.threadCPU
        for _ in 0..<1000 {
            _ = try bytes.withUnsafeBytes { try CoderRegistry.standard.decode($0) }
        }
        return Double(Measure.threadCPU - begin) / 1e6
    }
}
