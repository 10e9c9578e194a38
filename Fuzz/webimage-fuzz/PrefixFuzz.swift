import WebImageCodecs
import WebImageCore
import WebImageProcessing
import WebImageTesting

/// Recognising a format, and asking for a header, by any first bytes.
enum SniffingFuzz {
    static func run(_ bytes: [UInt8]) {
        let format = ImageFormat(sniffing: bytes)
        bytes.withUnsafeBytes { all in
            // What is behind the bytes that sniffing wants must not matter.
            let start = UnsafeRawBufferPointer(rebasing: all.prefix(ImageFormat.sniffingLength))
            precondition(ImageFormat(sniffing: start) == format, "the answer depends on later bytes")
            _ = try? CoderRegistry.standard.coder(for: format, prefix: all)
        }
    }
}

/// What rides along with a picture: an EXIF block, a colour profile.
enum MetadataFuzz {
    static func run(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { EXIFOrientation.read($0) }
        if let block = EXIFBlock(bytes) {
            precondition(block.orientation == block.orientation && block.density == block.density)
        }
        _ = ImageMetadata(exif: bytes, xmp: bytes).turned(by: .left)
        _ = ICCProfile.name(of: bytes)
        guard bytes.count >= 128, let pixels = try? PixelBuffer(size: PixelSize(width: 4, height: 1), layout: .rgba8)
        else { return }
        pixels.row(0).initializeMemory(as: UInt8.self, repeating: 77, count: pixels.bytesPerRow)
        ColorConverter(iccProfile: bytes, layout: .rgba8)?.convert(pixels)
    }

    /// The colour profile of a picture, to start from.
    static func profile(in picture: [UInt8]) -> [UInt8]? {
        picture.withUnsafeBytes { try? CoderRegistry.standard.readHeader(of: $0) }?.iccProfile
    }
}
