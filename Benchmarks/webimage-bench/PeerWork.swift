import Glibc
import WebImage
import WebImageSystem
import WebImageTesting

/// What `make bench-peers` asks of this program: pictures to measure with, and our side of each measurement.
enum PeerWork {
    /// Writes the pictures that everybody is measured with.
    static func draw(into directory: String) throws {
        let photo = try SamplePictures.grainySunset(PixelSize(width: 4000, height: 3000))
        let noisy = try SamplePictures.nebula(PixelSize(width: 2304, height: 1728))
        try write(photo.encoded(as: .jpeg, EncodeOptions(quality: 88)), to: "\(directory)/p12.jpg")
        try write(photo.encoded(as: .jpeg, EncodeOptions(quality: 88, progressive: true)), to: "\(directory)/p12p.jpg")
        try write(noisy.encoded(as: .png), to: "\(directory)/p4.png")
    }

    /// Prints the CPU milliseconds of the process for one decode or thumbnail (256 pixels wide), the median of several.
    static func work(_ operation: String, _ path: String, rounds: Int) async throws {
        let bytes = try read(path)
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration)
        var times: [Double] = []
        for _ in 0..<rounds {
            var request = ImageRequest(data: bytes, name: path)
            if operation == "thumb" { request.size = TargetSize(width: 256) }
            let begin = Measure.processCPU
            _ = try await manager.image(for: request)
            times.append((Measure.processCPU - begin) / 1000)
        }
        print(Measure.text(Measure.median(times), 1))
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        let files = PosixFileSystem()
        let file = try files.open(path, .readWrite)
        defer { files.close(file) }
        try bytes.withUnsafeBytes { try files.writeAll(file, $0, at: 0) }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let files = PosixFileSystem()
        let file = try files.open(path, .read)
        defer { files.close(file) }
        var bytes = [UInt8](repeating: 0, count: Int(try files.status(of: file).size))
        _ = try bytes.withUnsafeMutableBytes { try files.readAll(file, into: $0, at: 0) }
        return bytes
    }
}
