import CBench
import WebImageCore

/// The baselines of the measurements: the shortest way through a format's own C library. All bytes are passed at once,
/// and the pixels are RGBA of 8 bits a channel. They use one thread and the same settings as our coders.
enum BareLibrary {
    /// A library failed, so that the measurement is invalid.
    struct Failure: Error {}

    /// Decodes a picture.
    ///
    /// - Returns: the number of bytes of the pixels; nil for formats without a library here.
    static func decode(_ format: ImageFormat, _ bytes: [UInt8]) throws -> Int? {
        switch format {
        case .jpeg: return try decode(bytes, cb_decode_jpeg)
        case .png: return try decode(bytes, cb_decode_png)
        case .webp: return try decodeWebP(bytes)
        #if AVIF
            case .avif: return try decodeAVIF(bytes)
        #endif
        #if HEIF
            case .heic: return try decodeHEIC(bytes)
        #endif
        #if JXL
            case .jxl: return try decodeJXL(bytes)
        #endif
        #if TIFF
            case .tiff: return try decodeTIFF(bytes)
        #endif
        default: return nil
        }
    }

    /// Encodes opaque pixels with our default settings.
    ///
    /// - Returns: the number of encoded bytes; nil for formats without a library here.
    static func encode(_ format: ImageFormat, _ image: Image) throws -> Int? {
        switch format {
        case .jpeg: return try encode(image, cb_encode_jpeg, setting: 80)
        case .png: return try encode(image, cb_encode_png, setting: 6)
        case .webp: return try encodeWebP(image)
        #if AVIF
            case .avif: return try encodeAVIF(image)
        #endif
        #if HEIF
            case .heic: return try encodeHEIC(image)
        #endif
        #if JXL
            case .jxl: return try encodeJXL(image)
        #endif
        default: return nil
        }
    }

    private static func decode(
        _ bytes: [UInt8],
        _ body: (UnsafePointer<UInt8>, Int, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>) -> UInt64
    ) throws -> Int {
        var (width, height) = (Int32(0), Int32(0))
        let sum = bytes.withUnsafeBufferPointer { body($0.baseAddress!, $0.count, &width, &height) }
        guard sum != 0 else { throw Failure() }
        return Int(width) * Int(height) * 4
    }

    private static func encode(
        _ image: Image, _ body: (UnsafePointer<UInt8>, Int32, Int32, Int32) -> Int, setting: Int32
    ) throws -> Int {
        let count = image.withPixels { pixels in
            body(
                pixels.bindMemory(to: UInt8.self).baseAddress!, Int32(image.size.width), Int32(image.size.height),
                setting)
        }
        guard count > 0 else { throw Failure() }
        return count
    }

    static func check(_ isWell: Bool) throws {
        guard isWell else { throw Failure() }
    }
}
