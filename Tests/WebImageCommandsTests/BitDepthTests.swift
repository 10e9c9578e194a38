import Testing
import WebImage
import WebImageCore
import WebImageTesting

@testable import WebImageCommands

/// With how many bits a channel `webimage convert` decodes: 16 take twice the memory.
struct BitDepthTests {
    private static func needs16(
        _ bytes: [UInt8], for format: ImageFormat?, isLossless: Bool = false,
        _ change: (inout ImageRequest) -> Void = { _ in }
    ) async -> Bool {
        var request = ImageRequest(data: bytes, name: "deep")
        change(&request)
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        return await ImageManager(configuration: configuration)
            .needsBitDepth(of: request, for: format, isLossless: isLossless)
    }

    /// A picture of 132 megapixels once took 1.4 GB to become a JPEG.
    @Test(arguments: [ImageFormat.jpeg, .webp, .bmp, .qoi, .gif, .ico])
    func eightBitsAreEnoughForAFormatOfEight(_ format: ImageFormat) async throws {
        let deep = try Pictures.deep()
        #expect(await !Self.needs16(deep, for: format))
        #expect(await !Self.needs16(deep, for: format) { $0.size = TargetSize(width: 20) })
        // More bits are of use to what changes the values, and a loss is refused.
        #expect(await Self.needs16(deep, for: format) { $0.transformers = [ImageTransform.brightness(0.5)] })
        #expect(await Self.needs16(deep, for: format, isLossless: true))
    }

    @Test(arguments: [ImageFormat.png, .apng, .tiff, .jxl, .avif, .pnm, nil])
    func allBitsStayWhereTheFormatHoldsThem(_ format: ImageFormat?) async throws {
        #expect(await Self.needs16(try Pictures.deep(), for: format))
    }

    @Test func coloursAreConvertedWithAllBits() async throws {
        let description = ColorDescription(primaries: 9, transfer: 16)
        let wide = try SamplePictures.deepGradient(PixelSize(width: 16, height: 9))
            .with { $0.colorDescription = description }.encoded(as: .png)
        #expect(await Self.needs16(wide, for: .jpeg))
        #expect(await !Self.needs16(wide, for: .jpeg) { $0.decoding.convertsToSRGB = false })
    }
}
