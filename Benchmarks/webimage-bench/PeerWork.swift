import CBench
import WebImage
import WebImageCore
import WebImageProcessing
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// This program's part of `make bench-peers`: drawing the pictures, and our side of each measurement.
enum PeerWork {
    /// Writes the pictures with which all programs are measured.
    static func draw(into directory: String) throws {
        let photo = try SamplePictures.grainySunset(PixelSize(width: 4000, height: 3000))
        let noisy = try SamplePictures.nebula(PixelSize(width: 2304, height: 1728))
        try write(photo.encoded(as: .jpeg, EncodeOptions(quality: 88)), to: "\(directory)/p12.jpg")
        try write(photo.encoded(as: .jpeg, EncodeOptions(quality: 88, progressive: true)), to: "\(directory)/p12p.jpg")
        try write(photo.encoded(as: .webp), to: "\(directory)/p12.webp")
        for (format, name) in [
            (ImageFormat.png, "png"), (.avif, "avif"), (.heic, "heic"), (.jxl, "jxl"), (.tiff, "tif"), (.bmp, "bmp"),
            (.qoi, "qoi"), (.pnm, "ppm"),
        ] {
            guard let bytes = try? noisy.encoded(as: format) else { continue }
            try write(bytes, to: "\(directory)/p4.\(name)")
        }
        let small = try SamplePictures.nebula(PixelSize(width: 1152, height: 864))
        try write(small.encoded(as: .png), to: "\(directory)/p1.png")
        try write(movingGIF(photo), to: "\(directory)/anim.gif")
    }

    /// Sixty frames of 480 x 360 that pan over a photo, so that every pixel changes from one frame to the next.
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

    /// Measures one cell of the table: repeats an operation on a picture in memory for `seconds`, and prints one JSON
    /// line of medians.
    ///
    /// Operations: `decode` (all pixels, of an animation all frames), `thumb` (256 pixels wide), `tjpeg` and `twebp`
    /// (the thumbnail, encoded at quality 80), `raw` (the RGB bytes of the thumbnail to standard output and no JSON),
    /// `resample-W` and `raw-W` (decoded pixels, scaled to a width of W), `encode-FORMAT` (decoded pixels), and
    /// `bare-decode` and `bare-encode-FORMAT`, the same by the plain library; `do-NAME` and `rawdo-NAME`, one of
    /// ``TransformWork``'s chains (on decoded pixels), and `share-NAME`, the same with the help of another thread.
    /// Modes: `t1` one at a time, `t2` two at a time (times are for one).
    static func work(_ path: String, _ operation: String, _ mode: String, seconds: Double) async throws {
        let bytes = try read(path)
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration)
        let isAnimation = path.split(separator: "/").last?.hasPrefix("anim") ?? false
        let words = operation.split(separator: "-").map(String.init)
        let isOfPixels = ["resample", "do", "share"].contains(words.first) || words.dropLast().last == "encode"
        let picture = isOfPixels ? try await manager.image(for: ImageRequest(data: bytes, name: path)).image : nil
        let helpers = TransformProgram.Helpers(ThreadPool(name: "bench", width: 2))
        let hasChain = words.first?.hasSuffix("do") == true || words.first == "share"
        let chain = hasChain ? try TransformWork.chain(words.last ?? "") : []
        let format = ImageFormat(name: words.last ?? "") ?? ImageFormat(sniffing: bytes)
        let once: @Sendable () async throws -> Int = {
            switch (words.first, picture, format) {
            case ("resample", let picture?, _): try scaled(picture, toWidth: Int(words[1]) ?? 256).byteCount.bytes
            case ("do", let picture?, _): try picture.transformed(by: chain).pixels.byteCount.bytes
            case ("share", let picture?, _):
                try TransformProgram(chain, size: picture.size, isOpaque: picture.alpha == .opaque)
                    .run(picture, with: helpers).pixels.byteCount.bytes
            case ("encode", let picture?, let format?):
                try await manager.encode(picture, as: format, EncodeOptions()).count
            case ("bare", let picture?, let format?): try BareLibrary.encode(format, picture) ?? 0
            case ("bare", nil, let format?): try BareLibrary.decode(format, bytes) ?? 0
            default: try await run(operation, bytes, name: path, isAnimation: isAnimation, with: manager)
            }
        }
        if words.first == "rawdo" {
            let picture = try await manager.image(for: ImageRequest(data: bytes, name: path)).image
            return try write(picture.transformed(by: chain).pixels)
        }
        if words.first == "raw" {
            guard words.count > 1, let width = Int(words[1]) else {
                return try await writePixels(bytes, name: path, with: manager)
            }
            let picture = try await manager.image(for: ImageRequest(data: bytes, name: path)).image
            return try write(scaled(picture, toWidth: width))
        }

        let before = peakMemory
        let output = try await once()
        var (walls, cpus) = ([Double](), [Double]())
        let atOnce = mode == "t2" ? 2 : 1
        let start = ContinuousClock.now
        while walls.count < 3 || (ContinuousClock.now - start < .seconds(seconds) && walls.count < 60) {
            let (cpu, began) = (Measure.processCPU, ContinuousClock.now)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<atOnce { group.addTask { _ = try await once() } }
                try await group.waitForAll()
            }
            walls.append((ContinuousClock.now - began) / .milliseconds(1) / Double(atOnce))
            cpus.append((Measure.processCPU - cpu) / 1000 / Double(atOnce))
        }
        print(
            """
            {"ver": "own", "n": \(walls.count), "wall_ms": \(Measure.median(walls)), "min_ms": \(walls.min() ?? 0), \
            "cpu_ms": \(Measure.median(cpus)), "rss_mb": \(Double(peakMemory) / 1024), \
            "base_mb": \(Double(before) / 1024), "out": \(output)}
            """)
    }

    /// Runs the operation once, and returns the number of bytes that it produced.
    private static func run(
        _ operation: String, _ bytes: [UInt8], name: String, isAnimation: Bool, with manager: ImageManager
    ) async throws -> Int {
        var request = ImageRequest(data: bytes, name: name)
        if operation != "decode" { request.size = TargetSize(width: 256) }
        request.decoding.firstFrameOnly = !isAnimation
        let image = try await manager.image(for: request).image
        switch operation {
        case "tjpeg": return try await manager.encode(image, as: .jpeg, EncodeOptions(quality: 80)).count
        case "twebp": return try await manager.encode(image, as: .webp, EncodeOptions(quality: 80)).count
        default: break
        }
        guard let animation = image.animation else { return image.size.width * image.size.height * 4 }
        var count = 0
        for index in 0..<animation.frameCount {
            let frame = try await animation.frame(at: index)
            count += frame.size.width * frame.size.height * 4
        }
        return count
    }

    private static func scaled(_ image: Image, toWidth width: Int) throws -> PixelBuffer {
        let height = (Double(image.size.height * width) / Double(image.size.width)).rounded()
        let size = PixelSize(width: width, height: Int(height))
        return try Resampler.resample(image.pixels, alpha: image.alpha, to: size)
    }

    private static func writePixels(_ bytes: [UInt8], name: String, with manager: ImageManager) async throws {
        var request = ImageRequest(data: bytes, name: name)
        request.size = TargetSize(width: 256)
        try write(await manager.image(for: request).image.pixels)
    }

    /// Writes RGB bytes to standard output.
    private static func write(_ pixels: PixelBuffer) throws {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pixels.size.width * pixels.size.height * 3)
        let source = pixels.base.assumingMemoryBound(to: UInt8.self)
        for index in 0..<pixels.byteCount.bytes where index % 4 != 3 { bytes.append(source[index]) }
        withExtendedLifetime(pixels) {
            bytes.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = writeSome(UnsafeRawBufferPointer(rebasing: rest))
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    /// The peak memory in KiB.
    private static var peakMemory: Int { cb_peak_kibibytes() }

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

/// Calls the system's function, which is shadowed by methods of the same name.
private func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int { write(1, bytes.baseAddress, bytes.count) }
