import Testing
import WebImageCodecs
import WebImageCore

@Suite struct ChromaTests {
    /// The sampling factors of brightness in a JPEG's frame header (ITU-T T.81, B.2.2).
    private static func factors(_ jpeg: [UInt8]) -> UInt8? {
        let place = jpeg.indices.first { jpeg[$0] == 0xFF && $0 + 11 < jpeg.count && jpeg[$0 + 1] == 0xC0 }
        return place.map { jpeg[$0 + 11] }
    }

    private static func options(_ chroma: ChromaSubsampling, quality: Int = 80) -> EncodeOptions {
        var options = EncodeOptions(quality: quality)
        options.chroma = chroma
        return options
    }

    @Test(arguments: [
        (ChromaSubsampling.automatic, 80, 0x22), (.automatic, 90, 0x11), (.yuv444, 50, 0x11), (.yuv422, 95, 0x21),
        (.yuv420, 95, 0x22),
    ])
    func aJPEGHasTheRequestedChromaSubsampling(_ chroma: ChromaSubsampling, _ quality: Int, _ factors: UInt8) throws {
        let bytes = try JPEGCoder().encode(
            Drawings.picture(33, 21), as: .jpeg, Self.options(chroma, quality: quality))
        #expect(Self.factors(bytes) == factors)
        #expect(try CoderRegistry.standard.decode(bytes).image.size == PixelSize(width: 33, height: 21))
    }

    private static let formats: [ImageFormat] = [.jpeg, .avif, .heic, .heicSequence].filter {
        (try? CoderRegistry.standard.encoder(for: $0)) != nil
    }

    @Test(arguments: formats)
    func moreResolutionKeepsMoreOfTheColours(_ format: ImageFormat) throws {
        // Columns and rows of colours that are equally bright.
        let image = try Image(size: PixelSize(width: 64, height: 64), alpha: .opaque) { bytes in
            for index in 0..<64 * 64 {
                let isFirst = (index % 64 + index / 64) % 2 == 0
                let color: [UInt8] = isFirst ? [200, 40, 40, 255] : [40, 122, 40, 255]
                for channel in 0..<4 { bytes[index * 4 + channel] = color[channel] }
            }
        }
        let losses = try [ChromaSubsampling.yuv444, .yuv422, .yuv420].map { chroma in
            let bytes = try CoderRegistry.standard.encode(image, as: format, Self.options(chroma, quality: 95))
            return try CoderRegistry.standard.decode(bytes).image.bytes.meanDifference(to: image.bytes)
        }
        #expect(losses[0] < 10 && losses[1] > losses[0] * 2 && losses[2] > losses[0] * 2, "\(losses)")
    }

    @Test func unsupportedSubsamplingIsRefusedExceptByFormatsWithoutAny() throws {
        let image = try Drawings.picture(16, 16)
        for format in [ImageFormat.png, .gif, .bmp] {
            #expect(try !CoderRegistry.standard.encode(image, as: format, Self.options(.yuv420)).isEmpty)
        }
        var cases: [(ImageFormat, ChromaSubsampling)] = [(.webp, .yuv444), (.webp, .yuv422)]
        #if JXL
            cases += [(.jxl, .yuv420), (.jxl, .yuv422)]
        #endif
        for (format, chroma) in cases {
            let error = #expect(throws: WebImageError.self) {
                try CoderRegistry.standard.encode(image, as: format, Self.options(chroma))
            }
            #expect(error?.code == .cannotEncode && error?.message.contains("4:") == true)
        }
        #expect(try !CoderRegistry.standard.encode(image, as: .webp, Self.options(.yuv420)).isEmpty)
        #if AVIF
            var lossless = EncodeOptions(isLossless: true)
            lossless.chroma = .yuv420
            #expect(throws: WebImageError.self) { try AVIFCoder().encode(image, as: .avif, lossless) }
        #endif
    }
}
