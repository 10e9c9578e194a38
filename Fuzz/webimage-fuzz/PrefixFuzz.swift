import WebImageCodecs
import WebImageCore
import WebImageProcessing
import WebImageTesting

/// Recognises formats and reads headers from arbitrary first bytes.
enum SniffingFuzz {
    static func run(_ bytes: [UInt8]) {
        let format = ImageFormat(sniffing: bytes)
        bytes.withUnsafeBytes { all in
            // Bytes after those that sniffing needs must not change the result.
            let start = UnsafeRawBufferPointer(rebasing: all.prefix(ImageFormat.sniffingLength))
            precondition(ImageFormat(sniffing: start) == format, "the answer depends on later bytes")
            _ = try? CoderRegistry.standard.coder(for: format, prefix: all)
        }
    }
}

/// Metadata of a picture: an EXIF block, a colour profile.
enum MetadataFuzz {
    static func run(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { EXIFOrientation.read($0) }
        if let block = EXIFBlock(bytes) {
            precondition(block.orientation == block.orientation && block.density == block.density)
        }
        rewrite(bytes)
        _ = ICCProfile.name(of: bytes)
        guard bytes.count >= 128, let pixels = try? PixelBuffer(size: PixelSize(width: 4, height: 1), layout: .rgba8)
        else { return }
        pixels.row(0).initializeMemory(as: UInt8.self, repeating: 77, count: pixels.bytesPerRow)
        ColorConverter(iccProfile: bytes, layout: .rgba8)?.convert(pixels)
    }

    /// When a picture is encoded again, its EXIF block is changed, and must then contain the new values.
    private static func rewrite(_ block: [UInt8]) {
        let size = PixelSize(width: 4, height: 1)
        let plain = try? Image(size: size, layout: .rgba8, alpha: .opaque) {
            $0.initializeMemory(as: UInt8.self, repeating: 200)
        }
        guard let plain else { return }
        let image = plain.with {
            $0.metadata = ImageMetadata(exif: block)
            $0.orientation = .left
        }
        let options = EncodeOptions(keepsMetadata: true)
        guard let file = try? PNGCoder().encode(image, as: .png, options) else { return }
        let header = file.withUnsafeBytes { try? CoderRegistry.standard.readHeader(of: $0) }
        precondition(header?.size == size && header?.orientation == .left, "the block says what is not so")
    }

    /// The colour profile of a picture, as a seed.
    static func profile(in picture: [UInt8]) -> [UInt8]? {
        picture.withUnsafeBytes { try? CoderRegistry.standard.readHeader(of: $0) }?.iccProfile
    }
}
