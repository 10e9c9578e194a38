import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

@Suite struct EncodeLimitTests {
    @Test func qualityIsLoweredUntilTheFileFits() throws {
        let image = try SamplePictures.sunset(PixelSize(width: 300, height: 200))
        let whole = try CoderRegistry.standard.encode(image, as: .jpeg)
        for format in [ImageFormat.jpeg, .webp] {
            var options = EncodeOptions()
            options.maxFileSize = ByteCount(whole.count / 2)
            let bytes = try CoderRegistry.standard.encode(image, as: format, options)
            #expect(bytes.count <= whole.count / 2 && bytes.count > whole.count / 6)
        }
    }

    @Test func aFileSizeThatCannotBeReachedIsAnError() throws {
        let image = try SamplePictures.sunset(PixelSize(width: 300, height: 200))
        for format in [ImageFormat.jpeg, .png] {
            var options = EncodeOptions()
            options.maxFileSize = 200
            let error = #expect(throws: WebImageError.self) {
                try CoderRegistry.standard.encode(image, as: format, options)
            }
            #expect(error?.code == .cannotEncode)
        }
    }

    @Test func largerPicturesAreScaledToFit() throws {
        let image = try SamplePictures.sunset(PixelSize(width: 300, height: 200))
        for (most, size) in [
            (PixelSize(width: 100, height: 100), PixelSize(width: 100, height: 67)),
            (PixelSize(width: 1000, height: 1000), image.size),
        ] {
            var options = EncodeOptions()
            options.maxPixelSize = most
            let bytes = try CoderRegistry.standard.encode(image, as: .png, options)
            #expect(try CoderRegistry.standard.decode(bytes).image.size == size)
        }
    }
}
