import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing
import WebImageTesting

/// The thumbnail that is embedded in a file on request.
@Suite struct ThumbnailTests {
    private static func options(keepsMetadata: Bool = false) -> EncodeOptions {
        var options = EncodeOptions(quality: 90, keepsMetadata: keepsMetadata)
        options.embedsThumbnail = true
        return options
    }

    private static func thumbnail(of file: [UInt8]) throws -> Image? {
        let block = decode(file).header?.metadata.exif.flatMap { EXIFBlock($0) }
        return try block?.thumbnail.map { try CoderRegistry.standard.decode($0).image }
    }

    @Test func aJPEGGetsAThumbnailOnRequest() throws {
        let image = try Drawings.picture(400, 300)
        let file = try JPEGCoder().encode(image, as: .jpeg, Self.options())
        let small = try #require(try Self.thumbnail(of: file))
        #expect(small.size == PixelSize(width: 160, height: 120))
        let expected = try JPEGCoder().encode(try image.resized(to: TargetSize(small.size)), as: .jpeg, EncodeOptions())
        #expect(small.bytes == (try CoderRegistry.standard.decode(expected).image.bytes))
        #expect(try Self.thumbnail(of: JPEGCoder().encode(image, as: .jpeg, EncodeOptions())) == nil)
        // The thumbnail is never larger than the picture.
        let tiny = try JPEGCoder().encode(try Drawings.picture(30, 20), as: .jpeg, Self.options())
        #expect(try Self.thumbnail(of: tiny)?.size == PixelSize(width: 30, height: 20))
    }

    @Test(arguments: [true, false])
    func theThumbnailIsTurnedLikeThePictureAndReplacesAnOldOne(isBigEndian: Bool) throws {
        let old = EXIFMaker(isBigEndian: isBigEndian, orientation: 6, hasThumbnail: true).block()
        let image = try Drawings.picture(400, 300).with {
            $0.orientation = .right
            $0.metadata = ImageMetadata(exif: old)
        }
        let file = try JPEGCoder().encode(image, as: .jpeg, Self.options(keepsMetadata: true))
        let small = try #require(try Self.thumbnail(of: file))
        #expect(small.size == PixelSize(width: 160, height: 120))
        let header = try #require(decode(file).header)
        #expect(header.orientation == .right && !contains(EXIFMaker.thumbnail, in: file))
    }

    private func contains(_ part: [UInt8], in file: [UInt8]) -> Bool {
        file.indices.contains { file[$0] == part[0] && file[$0...].starts(with: part) }
    }

    #if HEIF
        @Test(.enabled(if: !HEIFCoder().encodableFormats.isEmpty))
        func theThumbnailOfAHEICIsNoFrame() throws {
            let image = try Drawings.picture(400, 300)
            let plain = try HEIFCoder().encode(image, as: .heic, EncodeOptions(quality: 90))
            let file = try HEIFCoder().encode(image, as: .heic, Self.options())
            #expect(contains(Array("thmb".utf8), in: file) && !contains(Array("thmb".utf8), in: plain))
            let (first, second) = (CoderDecode(HEIFCoder(), plain), CoderDecode(HEIFCoder(), file))
            #expect(second.error == nil && second.header?.frameCount == 1)
            #expect(first.header?.size == second.header?.size && first.pixels == second.pixels)
        }
    #endif
}
