import Testing
import WebImageCore

/// Descriptions of values, which are one short line, no matter how much metadata a picture has.
@Suite struct DescriptionTests {
    private let header: ImageHeader = {
        var header = ImageHeader(
            format: .jpeg, size: PixelSize(width: 4000, height: 3000), orientation: .right, isProgressive: true,
            iccProfile: [UInt8](repeating: 7, count: 3144))
        header.metadata = ImageMetadata(
            exif: [UInt8](repeating: 9, count: 2048), density: PixelDensity(horizontal: 300, vertical: 300))
        return header
    }()

    @Test func aHeaderIsALine() {
        let expected =
            "ImageHeader(jpeg 4000x3000, orientation 6, 8 bit, progressive, ICC profile 3.1 KiB, "
            + "EXIF 2.0 KiB, 300x300 dpi)"
        #expect("\(header)" == expected)
        #expect(String(reflecting: header) == expected)
        #expect(
            "\(ImageHeader(format: .png, size: PixelSize(width: 1, height: 2), hasAlpha: true))"
                == "ImageHeader(png 1x2, 8 bit, alpha)")
    }

    @Test func aPictureIsALine() throws {
        let image = Image(
            pixels: try PixelBuffer(size: PixelSize(width: 400, height: 300)),
            info: Image.Info(header: header, alpha: .opaque, iccProfile: header.iccProfile, isPartial: true))
        let expected =
            "Image(400x300 of 4000x3000, jpeg, opaque, ICC profile 3.1 KiB, EXIF 2.0 KiB, 300x300 dpi, partial)"
        #expect("\(image)" == expected)
        #expect("\([image])" == "[\(expected)]")
        #expect("\(image.info)" == "Info(jpeg, opaque, ICC profile 3.1 KiB, EXIF 2.0 KiB, 300x300 dpi, partial)")
        let drawn = try Image(size: PixelSize(width: 2, height: 1)) { _ in }
        #expect("\(drawn)" == "Image(2x1, straight)")
    }

    @Test func metadataIsCountedAndNotShown() {
        #expect("\(ImageMetadata())" == "no metadata")
        #expect("\(ImageMetadata(xmp: [UInt8](repeating: 1, count: 100)))" == "XMP 100 B")
    }
}
