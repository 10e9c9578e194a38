import CBench
import WebImageCodecs
import WebImageCore
import WebImageSystem
import WebImageTesting

/// Compares decoding in another process with decoding in this one, in turn. Bars: 0.1 ms more for a small JPEG; for
/// pictures of 12 megapixels no more time, and 1.2 times the CPU of both processes; 50 ms more for the first picture.
enum IsolationBench {
    static func run() throws {
        let photo = try SamplePictures.grainySunset(PixelSize(width: 4000, height: 3000))
        let noisy = try SamplePictures.nebula(PixelSize(width: 2304, height: 1728))
        let small = try SamplePictures.grainySunset(PixelSize(width: 320, height: 240))
        let pool = DecoderPool(.all)
        defer { pool.shutDown() }
        let dot = try SamplePictures.nebula(PixelSize(width: 8, height: 8))
        try compare("8x8 PNG", .png, dot.encoded(.png, EncodeOptions()), pool)
        try compare("small JPEG", .jpeg, small.encoded(.jpeg, EncodeOptions(quality: 84)), pool)
        try compare("small WebP", .webp, small.encoded(.webp, EncodeOptions()), pool)
        try compare("12 MP JPEG", .jpeg, photo.encoded(.jpeg, EncodeOptions(quality: 88)), pool)
        try compare("12 MP WebP", .webp, photo.encoded(.webp, EncodeOptions()), pool)
        for format in [ImageFormat.avif, .heic, .jxl, .tiff] {
            guard let bytes = try? noisy.encoded(format, EncodeOptions()) else { continue }
            try compare("4 MP \(format.rawValue)", format, bytes, pool)
        }
        try first(small.encoded(.webp, EncodeOptions()))
    }

    private static func compare(
        _ name: String, _ format: ImageFormat, _ bytes: [UInt8], _ pool: DecoderPool
    ) throws {
        let (here, there) = try bytes.withUnsafeBytes { bytes in
            (
                try CoderRegistry.standard.coder(for: format, prefix: bytes),
                try CoderRegistry.standard.isolated(by: pool).coder(for: format, prefix: bytes)
            )
        }
        // Small pictures are decoded often enough for the resolution of the other process's clock.
        let count = bytes.count > 100_000 ? 1 : 50
        var (wallHere, wallThere, cpuHere, cpuThere): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for round in 0..<12 {
            let first = try measure(here, bytes, count, pool)
            let second = try measure(there, bytes, count, pool)
            // The first rounds start a process and warm up.
            guard round >= 3 else { continue }
            wallHere.append(first.wall)
            cpuHere.append(first.cpu)
            wallThere.append(second.wall)
            cpuThere.append(second.cpu)
        }
        let (here1, there1) = (Measure.median(wallHere), Measure.median(wallThere))
        let (here2, there2) = (Measure.median(cpuHere), Measure.median(cpuThere))
        print(
            "  \(name), \(ByteCount(bytes.count)): here \(Measure.text(here1, 3)) ms, apart \(Measure.text(there1, 3)) ms, "
                + "\(Measure.text(there1 - here1, 3)) more, ratio \(Measure.text(there1 / here1)); CPU \(Measure.text(here2, 3)) "
                + "and \(Measure.text(there2, 3)) ms, ratio \(Measure.text(there2 / here2))")
    }

    private static func measure(
        _ coder: any ImageCoder, _ bytes: [UInt8], _ count: Int, _ pool: DecoderPool
    ) throws -> (wall: Double, cpu: Double) {
        let (begin, own) = (ContinuousClock.now, Measure.processCPUNanoseconds)
        let others = Measure.nanoseconds(of: pool.processNumbers)
        for _ in 0..<count { try decode(bytes, with: coder) }
        let wall = (ContinuousClock.now - begin) / .milliseconds(1)
        let cpu =
            (Double(Measure.processCPUNanoseconds - own) + Double(Measure.nanoseconds(of: pool.processNumbers) - others))
            / 1e6
        return (wall / Double(count), cpu / Double(count))
    }

    /// The first picture of a program, for which the process must be started.
    private static func first(_ bytes: [UInt8]) throws {
        var (here, apart): ([Double], [Double]) = ([], [])
        for _ in 0..<10 {
            let pool = DecoderPool(.all)
            let coders = CoderRegistry.standard.isolated(by: pool)
            for isApart in [false, true] {
                let begin = ContinuousClock.now
                let coder = try bytes.withUnsafeBytes { bytes in
                    try (isApart ? coders : .standard).coder(for: .webp, prefix: bytes)
                }
                try decode(bytes, with: coder)
                let time = (ContinuousClock.now - begin) / .milliseconds(1)
                if isApart { apart.append(time) } else { here.append(time) }
            }
            pool.shutDown()
        }
        print(
            "  first small WebP: here \(Measure.text(Measure.median(here))) ms, apart \(Measure.text(Measure.median(apart))) ms "
                + "(median of 10; least \(Measure.text(apart.min() ?? 0)))")
    }

    private static func decode(_ bytes: [UInt8], with coder: any ImageCoder) throws(WebImageError) {
        let sink = PixelBufferSink()
        let decoder = try coder.makeDecoder(DecodeOptions()) { _ in DecodePlan(sink: sink) }
        let pushed = bytes.withUnsafeBytes { bytes in
            Result { () throws(WebImageError) in try decoder.push(bytes) }
        }
        _ = try pushed.get()
        try decoder.finish()
    }
}
