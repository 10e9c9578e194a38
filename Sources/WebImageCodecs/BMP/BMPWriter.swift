import WebImageCore
import WebImageProcessing

/// Writes bitmaps: 24 bits a pixel, or 32 with a mask for alpha and the first header that has one (BITMAPV4HEADER).
enum BMPWriter {
    private static let colorSpace: UInt32 = 0x7352_4742  // "sRGB"

    /// The picture with the last row first, rotated upright, because bitmaps store no orientation.
    ///
    /// - Throws: `cannotEncode` for pictures over 4 GiB, and for lossless encoding of 16 bits a channel;
    ///   `limitExceeded` without memory.
    static func bytes(of image: Image, _ options: EncodeOptions) throws(WebImageError) -> [UInt8] {
        try options.checkDepth(of: image, .bmp)
        let upright = try image.upright()
        let density = EmbeddedMetadata(upright, options, formatTells: .density).density
        let straight = upright.alpha == .premultiplied ? try upright.with(alpha: .straight) : upright
        let pixels = straight.layout == .rgba16 ? try straight.pixels.narrowed() : straight.pixels
        let hasAlpha = straight.alpha != .opaque
        let size = pixels.size
        let (step, headerLength) = hasAlpha ? (4, 108) : (3, 40)
        let bytesPerRow = (size.width * step + 3) / 4 * 4
        let start = BMPHeader.fileHeaderLength + headerLength
        let (body, overflow) = bytesPerRow.multipliedReportingOverflow(by: size.height)
        guard !overflow, UInt32(exactly: body + start) != nil, Int32(exactly: max(size.width, size.height)) != nil
        else {
            throw WebImageError(.cannotEncode, "a BMP cannot hold a picture of \(size)", format: .bmp)
        }
        var bytes = header(size, headerLength: headerLength, bits: step * 8, start: start, body: body, density)
        bytes.reserveCapacity(start + body)
        let padding = [UInt8](repeating: 0, count: bytesPerRow - size.width * step)
        pixels.withBytes { source in
            for row in stride(from: size.height - 1, through: 0, by: -1) {
                let first = row * pixels.bytesPerRow
                for pixel in stride(from: first, to: first + size.width * 4, by: 4) {
                    bytes.append(source[pixel + 2])
                    bytes.append(source[pixel + 1])
                    bytes.append(source[pixel])
                    if hasAlpha { bytes.append(source[pixel + 3]) }
                }
                bytes.append(contentsOf: padding)
            }
        }
        return bytes
    }

    private static func header(
        _ size: PixelSize, headerLength: Int, bits: Int, start: Int, body: Int, _ density: PixelDensity?
    ) -> [UInt8] {
        // Pixels a metre: 72 an inch if the density is unknown.
        func perMetre(_ perInch: Double?) -> UInt32 { UInt32(((perInch ?? 72) / 0.0254).rounded()) }
        let compression: BMPHeader.Compression = bits == 32 ? .masks : .none
        var longs: [UInt32] = [
            UInt32(start + body), 0, UInt32(start), UInt32(headerLength), UInt32(size.width), UInt32(size.height),
            1 | UInt32(bits) << 16, compression.rawValue, UInt32(body), perMetre(density?.horizontal),
            perMetre(density?.vertical), 0, 0,
        ]
        if bits == 32 {
            longs += [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000, colorSpace]
            longs += [UInt32](repeating: 0, count: 12)
        }
        return Array("BM".utf8) + longs.flatMap { long in (0..<4).map { UInt8(truncatingIfNeeded: long >> ($0 * 8)) } }
    }
}
