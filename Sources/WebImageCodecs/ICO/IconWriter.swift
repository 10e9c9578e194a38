import WebImageCore
import WebImageProcessing

/// Writes icons with one entry, a PNG of 32 bits a pixel, which Windows reads since Vista.
enum IconWriter {
    /// The side of an entry is stored in one byte, in which 0 means 256.
    static let longestSide = 256

    /// The picture, rotated upright because icons store no orientation, and scaled down to fit.
    ///
    /// - Throws: `cannotEncode` if the encoding must be lossless, and the picture is larger or has 16 bits a channel;
    ///   `limitExceeded` without memory.
    static func bytes(of image: Image, _ options: EncodeOptions) throws(WebImageError) -> [UInt8] {
        try options.checkDepth(of: image, .ico)
        var picture = try image.upright()
        let most = PixelSize(width: longestSide, height: longestSide)
        if max(picture.size.width, picture.size.height) > longestSide {
            guard !options.isLossless else {
                throw WebImageError(
                    .cannotEncode,
                    "an icon's sides are at most \(longestSide) pixels: a picture of \(picture.size) cannot be lossless",
                    format: .ico)
            }
            picture = try picture.resized(
                ResizePlan(stored: picture.size, target: TargetSize(most, fit: .contain)))
        }
        if picture.layout == .rgba16 { picture = Image(pixels: try picture.pixels.narrowed(), info: picture.info) }
        picture = try picture.withFullAlpha()
        var info = picture.info
        // Entries always have red, green, blue and alpha.
        info.header?.colorModel = .rgb
        var options = options
        (options.progressive, options.paletteColors) = (false, nil)
        let png = try PNGCoder().encode(Image(pixels: picture.pixels, info: info), as: .png, options)
        let size = picture.size
        let entry: [UInt8] = [
            UInt8(truncatingIfNeeded: size.width), UInt8(truncatingIfNeeded: size.height), 0, 0, 1, 0, 32, 0,
        ]
        let start = 6 + entry.count + 8
        return [0, 0, 1, 0, 1, 0] + entry + long(png.count) + long(start) + png
    }

    private static func long(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
}
