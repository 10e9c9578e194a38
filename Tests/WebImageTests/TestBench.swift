import HTTPTypes
import WebImage
import WebImageCore
import WebImageSystem
import WebImageTesting

/// A manager with a fake network, and with a disk cache only if a test asks for one.
struct TestBench {
    let transport = FakeTransport()
    let manager: ImageManager

    /// - Parameters:
    ///   - directory: the folder of the disk cache, or nil for a manager without one.
    ///   - change: changes the configuration before the manager is made.
    init(
        disk directory: String? = nil, clock: any LoadClock = SystemClock.shared,
        files: any FileSystem = PosixFileSystem(), coders: CoderRegistry = .standard,
        change: (inout ImageManager.Configuration) -> Void = { _ in }
    ) {
        var configuration = ImageManager.Configuration()
        configuration.disk = directory.map { DiskCacheConfiguration(directory: $0) }
        configuration.memoryLimits = .init(cost: .mebibytes(256))
        // On a busy machine a test may hold a transfer for long, so there are no deadlines. They have tests of their
        // own.
        configuration.download.deadlines = DownloadDeadlines(
            connect: nil, firstByte: nil, idle: nil, minimumSpeed: nil)
        // Retries and circuit breakers have tests of their own, too.
        configuration.download.retry = .never
        configuration.download.circuit = nil
        change(&configuration)
        manager = ImageManager(
            configuration, coders: coders, transport: transport, clock: clock, files: files)
    }

    /// Makes the origin answer requests for a URL with status 200 and these bytes.
    func answer(_ url: String, with bytes: [UInt8], type: String = "image/jpeg", fields: HTTPFields = [:]) {
        transport.answer(url, .bytes(bytes, contentType: type, headers: fields))
    }

    /// The disk cache's entry of the request's original, after all stores have finished.
    func entry(_ request: ImageRequest) async throws -> DiskEntry? {
        await manager.finishStores()
        return try await manager.diskCache?.read(request.originalKey)
    }
}

/// Small pictures with known pixels.
enum Fixture {
    /// A picture whose red grows to the right and whose green grows downwards; blue is 128.
    static func gradient(_ width: Int, _ height: Int) -> Image {
        let image = try? Image(size: PixelSize(width: width, height: height), alpha: .opaque) { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let at = (y * width + x) * 4
                    bytes[at] = UInt8(x * 255 / max(width - 1, 1))
                    bytes[at + 1] = UInt8(y * 255 / max(height - 1, 1))
                    bytes[at + 2] = 128
                    bytes[at + 3] = 255
                }
            }
        }
        guard let image else { preconditionFailure("a small picture can always be made") }
        return image
    }

    /// The gradient as a JPEG of quality 90.
    static func jpeg(_ width: Int, _ height: Int, progressive: Bool = false) throws -> [UInt8] {
        try gradient(width, height).encoded(as: .jpeg, EncodeOptions(quality: 90, progressive: progressive))
    }

    /// The gradient as a PNG.
    static func png(_ width: Int, _ height: Int) throws -> [UInt8] { try gradient(width, height).encoded(as: .png) }

    /// The PNG with an intact header and pixels that can no longer be decoded.
    static func damaged(_ png: [UInt8]) -> [UInt8] {
        var bytes = png
        for index in bytes.count - 40..<bytes.count - 16 { bytes[index] ^= 0x5A }
        return bytes
    }
}

/// A folder for one test, which is removed when the object goes.
typealias TemporaryFolder = ScratchFolder
