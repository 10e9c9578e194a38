import Testing
import WebImage
import WebImageCore
import WebImageTesting

@testable import WebImageCommands

/// The number of bits a channel with which `webimage convert` decodes. 16 bits take twice the memory of 8.
struct BitDepthTests {
    private static func needs16(
        for format: ImageFormat?, isLossless: Bool = false, _ change: (inout ImageRequest) -> Void = { _ in }
    ) -> Bool {
        var request = ImageRequest("https://example.com/deep.png")
        change(&request)
        return request.needsBitDepth(for: format, isLossless: isLossless)
    }

    /// Converting a picture of 132 megapixels to JPEG once took 1.4 GB.
    @Test(arguments: [ImageFormat.jpeg, .webp, .bmp, .qoi, .gif, .ico])
    func eightBitsAreEnoughForAFormatOfEight(_ format: ImageFormat) {
        #expect(!Self.needs16(for: format))
        #expect(!Self.needs16(for: format) { $0.size = TargetSize(width: 20) })
        // Transforms that change values profit from more bits, and `--lossless` must not drop any.
        #expect(Self.needs16(for: format) { $0.transformers = [ImageTransform.brightness(0.5)] })
        #expect(Self.needs16(for: format, isLossless: true))
    }

    @Test(arguments: [ImageFormat.png, .apng, .tiff, .jxl, .avif, .pnm, nil])
    func allBitsStayWhereTheFormatHoldsThem(_ format: ImageFormat?) {
        #expect(Self.needs16(for: format))
    }

    @Test func coloursAreConvertedWithAllBits() async throws {
        let description = ColorDescription(primaries: 1, transfer: 8)
        let dark = try Image(size: PixelSize(width: 256, height: 1), layout: .rgba16, alpha: .opaque) { bytes in
            let channels = bytes.bindMemory(to: UInt16.self)
            for place in channels.indices { channels[place] = place % 4 == 3 ? 65_535 : UInt16(place / 4 * 16) }
        }.with { $0.colorDescription = description }
        let bench = try CommandBench()
        try bench.write(try dark.encoded(as: .png), to: "in.png")
        #expect(try await bench.run("convert", "in.png", "out.bmp").code == 0)
        let made = try await Pictures.stored(try #require(bench.read("out.bmp")))
        #expect(Set(made.pixels).count > 60)
    }
}
