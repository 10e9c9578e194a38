import Foundation
import WebImage
import WebImageSystem
import WebImageTesting

/// Many loads at a time with limits of 64 MiB: the memory of the process during the loads, and after them.
///
/// Peak and rest are resident memory above that of the process before, in MiB. The pictures are small, so that those
/// that are retained as answers count for little.
enum CrowdBench {
    private static let count = 300
    private static let limit = ByteCount.mebibytes(64)

    static func run() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/webimage-bench-crowd-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let body = try noise().encoded(as: .jpeg, EncodeOptions(quality: 95))
        print(
            "\(count) originals of \(Measure.text(Double(body.count) / 1e6, 1)) MB at once, made 64 wide; limits 64 MiB"
        )
        for source in ["network", "disk", "memory"] {
            let transport = FakeTransport()
            transport.answerAll { _ in .bytes(body, contentType: "image/jpeg") }
            var configuration = ImageManager.Configuration()
            configuration.disk = DiskCacheConfiguration(directory: folder)
            configuration.disk?.limits.bytes = .gibibytes(4)
            configuration.decodeMemory = limit
            configuration.memoryLimits = .init(cost: limit)
            configuration.download.memoryForAll = limit
            let manager = ImageManager(configuration: configuration, transport: transport)
            if source == "memory" { await load(manager) }
            let before = Resident.now
            Resident.forgetPeak()
            await load(manager)
            await manager.finishStores()
            let peak = Resident.peak
            await manager.drain(within: .seconds(10))
            print(
                "\(source): peak \(Measure.text(peak - before, 0)) MiB above start, "
                    + "after drain \(Measure.text(Resident.now - before, 0)) MiB")
        }
    }

    private static func load(_ manager: ImageManager) async {
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                group.addTask {
                    var request = ImageRequest("https://images.example.com/\(index).jpg")
                    request.size = TargetSize(width: 64)
                    _ = try? await manager.image(for: request)
                }
            }
        }
    }

    /// A picture that compresses badly: some 2 MB.
    private static func noise() throws -> Image {
        var random = SeededGenerator(seed: 1)
        return try Image(size: PixelSize(width: 1600, height: 1200), alpha: .opaque) { bytes in
            for index in bytes.indices {
                bytes[index] = index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: random.next())
            }
        }
    }
}
