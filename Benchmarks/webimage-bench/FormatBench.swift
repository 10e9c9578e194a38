import CBench
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// A full decode and an encode of each format, in turn with the plain loop of its C library. Bar: 1.05 times its CPU
/// time, of all threads.
enum FormatBench {
    static func run() throws {
        let photo = try SamplePictures.grainySunset(PixelSize(width: 4000, height: 3000))
        let noisy = try SamplePictures.nebula(PixelSize(width: 2304, height: 1728))
        let small = try SamplePictures.nebula(PixelSize(width: 1152, height: 864))
        print("decode")
        let progressive = try photo.encoded(.jpeg, EncodeOptions(quality: 88, progressive: true))
        try decode("12 MP baseline JPEG", .jpeg, photo.encoded(.jpeg, EncodeOptions(quality: 88)))
        try decode("12 MP progressive JPEG", .jpeg, progressive)
        try decode("4 MP PNG", .png, noisy.encoded(.png, EncodeOptions()))
        try decode("12 MP WebP", .webp, photo.encoded(.webp, EncodeOptions()))
        try decode("4 MP lossless WebP", .webp, noisy.encoded(.webp, EncodeOptions(isLossless: true)))
        for format in [ImageFormat.avif, .heic, .jxl] {
            guard let bytes = try? noisy.encoded(format, EncodeOptions()) else { continue }
            try decode("4 MP \(format.rawValue)", format, bytes)
        }
        print("encode")
        try encode("4 MP", noisy, [.jpeg, .png, .webp])
        try encode("1 MP", small, [.avif, .heic, .jxl])
        print("ours asks the kernel for large pages for its output, which the bare loop does not: see LargePages+Linux")
    }

    private static func decode(_ name: String, _ format: ImageFormat, _ bytes: [UInt8]) throws {
        let coder = try bytes.withUnsafeBytes { bytes in try CoderRegistry.standard.coder(for: format, prefix: bytes) }
        try compare(
            "\(name), \(ByteCount(bytes.count))", { try decode(bytes, with: coder) },
            { try BareLibrary.decode(format, bytes) })
    }

    private static func encode(_ name: String, _ image: Image, _ formats: [ImageFormat]) throws {
        for format in formats {
            guard let coder = try? CoderRegistry.standard.encoder(for: format) else { continue }
            try compare(
                "\(name) to \(format.rawValue)", { _ = try coder.encode(image, as: format, EncodeOptions()) },
                { try BareLibrary.encode(format, image) })
        }
    }

    private static func compare(_ name: String, _ ours: () throws -> Void, _ bare: () throws -> Int?) throws {
        let rounds = 9
        guard try bare() != nil else { return }
        var failure: (any Error)?
        func measure(_ work: () throws -> Void) -> Double {
            let begin = Measure.processCPUNanoseconds
            do { try work() } catch { failure = error }
            return Double(Measure.processCPUNanoseconds - begin) / 1e6
        }
        let result = Measure.alternating(rounds, { measure(ours) }, { measure { _ = try bare() } })
        if let failure { throw failure }
        print(
            "  \(name): ours \(Measure.text(result.0)) ms CPU, bare C \(Measure.text(result.1)) ms, "
                + "ratio \(Measure.text(result.ratio, 3)) (median of \(rounds))")
    }

    /// Decodes pieces of 64 KiB, as they come from a network.
    private static func decode(_ bytes: [UInt8], with coder: any ImageCoder) throws(WebImageError) {
        let sink = PixelBufferSink()
        let decoder = try coder.makeDecoder(DecodeOptions()) { _ in DecodePlan(sink: sink) }
        var failure: WebImageError?
        bytes.withUnsafeBytes { all in
            var rest = all[...]
            while !rest.isEmpty, failure == nil {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(64 << 10))
                rest = rest.dropFirst(piece.count)
                do throws(WebImageError) { _ = try decoder.push(piece) } catch { failure = error }
            }
        }
        if let failure { throw failure }
        try decoder.finish()
    }
}

extension Image {
    func encoded(_ format: ImageFormat, _ options: EncodeOptions) throws(WebImageError) -> [UInt8] {
        try CoderRegistry.standard.encoder(for: format).encode(self, as: format, options)
    }
}
