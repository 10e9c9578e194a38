import Testing
import WebImageCodecs
import WebImageCore
import WebImageSystem
import WebImageTesting

/// Threads that help with a picture do not change the result.
@Suite struct IdleThreadTests {
    private static let formats: [ImageFormat] = [.webp, .jxl, .avif]

    private func coder(_ format: ImageFormat) throws -> any ImageCoder {
        try CoderRegistry.standard.encoder(for: format)
    }

    private func isBuilt(_ format: ImageFormat) -> Bool {
        CoderRegistry.standard.encodableFormats.contains(format)
    }

    @Test(arguments: formats, [true, false])
    func encodersWriteTheSameBytes(_ format: ImageFormat, _ isLossless: Bool) throws {
        guard isBuilt(format) else { return }
        for image in [
            try SamplePictures.grainySunset(PixelSize(width: 900, height: 700)),
            try Drawings.picture(700, 600, alpha: .straight),
        ] {
            var options = EncodeOptions(isLossless: isLossless)
            // libaom gives the same lossless result with one thread and with several only from speed 9 on.
            options.avifSpeed = isLossless ? 9 : 6
            let alone = try coder(format).encode(image, as: format, options)
            options.context.idleThreads = ThreadPool(name: "idle", width: 4)
            #expect(try coder(format).encode(image, as: format, options) == alone)
        }
    }

    /// The same holds for files in pieces and for files that end early.
    @Test(arguments: formats, [1.0, 0.6])
    func decodersReadTheSamePixels(_ format: ImageFormat, _ part: Double) throws {
        guard isBuilt(format) else { return }
        let image = try SamplePictures.grainySunset(PixelSize(width: 1100, height: 800))
        let whole = try coder(format).encode(image, as: format, EncodeOptions())
        let bytes = Array(whole.prefix(Int(Double(whole.count) * part)))
        var helped = DecodeOptions()
        helped.idleThreads = ThreadPool(name: "idle", width: 4)
        for length in [bytes.count, 10_000] {
            let results = try [DecodeOptions(), helped].map { options in
                CoderDecode(try coder(format), bytes, options: options, length: { length })
            }
            #expect(results[0].error?.code == results[1].error?.code && (results[0].error == nil) == (part == 1))
            #expect(results[0].pixels == results[1].pixels)
        }
    }
}
