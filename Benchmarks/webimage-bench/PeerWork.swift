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
        try write(photo.encoded(as: .webp), to: "\(directory)/p12.webp")
        if let avif = try? noisy.encoded(as: .avif) { try write(avif, to: "\(directory)/p4.avif") }
        try write(movingGIF(photo), to: "\(directory)/anim.gif")
    }

    /// Sixty frames of 480 x 360 that pan over a photo, with every pixel changing from one to the next.
    private static func movingGIF(_ photo: Image) throws -> [UInt8] {
        let size = PixelSize(width: 480, height: 360)
        let encoder = try GIFCoder().makeAnimationEncoder(
            .gif, AnimationDescription(size: size, loopCount: 0), EncodeOptions())
        for index in 0..<60 {
            let frame = try Image(size: size, alpha: .opaque) { output in
                photo.withPixels { input in
                    for row in 0..<size.height {
                        let start = ((row + 1200) * photo.size.width + 600 + index * 20) * 4
                        let line = UnsafeRawBufferPointer(rebasing: input[start..<start + size.width * 4])
                        let place = row * size.width * 4
                        UnsafeMutableRawBufferPointer(rebasing: output[place..<place + size.width * 4])
                            .copyMemory(from: line)
                    }
                }
            }
            try encoder?.add(frame, delay: .milliseconds(40))
        }
        return try encoder?.finish() ?? []
    }

    /// Prints the CPU milliseconds of the process for one decode, thumbnail (256 pixels wide) or thumbnail of
    /// all frames written as WebP, the median of several, and by how many KiB the process's peak memory grew.
    static func work(_ operation: String, _ path: String, rounds: Int) async throws {
        let bytes = try read(path)
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration)
        var times: [Double] = []
        let before = peakMemory
        for _ in 0..<rounds {
            var request = ImageRequest(data: bytes, name: path)
            if operation != "decode" { request.size = TargetSize(width: 256) }
            request.firstFrameOnly = operation != "twebp"
            let begin = Measure.processCPU
            let image = try await manager.image(for: request).image
            if operation == "twebp" { _ = try await manager.encode(image, as: .webp) }
            times.append((Measure.processCPU - begin) / 1000)
        }
        print(Measure.text(Measure.median(times), 1), peakMemory - before)
    }

    /// In KiB.
    private static var peakMemory: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss
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
