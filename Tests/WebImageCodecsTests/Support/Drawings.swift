import WebImageCodecs
import WebImageCore
import WebImageTesting

enum Drawings {
    /// Smooth colours with a few hard edges, which a lossy format preserves well but not exactly.
    static func picture(
        _ width: Int, _ height: Int, layout: PixelLayout = .rgba8, alpha: AlphaMode = .opaque
    ) throws -> Image {
        try Image(size: PixelSize(width: width, height: height), layout: layout, alpha: alpha) { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    var pixel = [
                        x * 255 / max(width - 1, 1), y * 255 / max(height - 1, 1), (x / 8 + y / 8) % 2 * 200, 255,
                    ]
                    if alpha != .opaque { pixel[3] = (x + y) * 255 / max(width + height - 2, 1) }
                    if alpha == .premultiplied { for c in 0..<3 { pixel[c] = pixel[c] * pixel[3] / 255 } }
                    for channel in 0..<4 {
                        let index = (y * width + x) * 4 + channel
                        if layout == .rgba8 {
                            bytes[index] = UInt8(pixel[channel])
                        } else {
                            let fine = channel < 3 && alpha != .premultiplied ? (x * 7 + y * 3) % 256 : pixel[channel]
                            bytes.storeBytes(
                                of: UInt16(pixel[channel] << 8 | fine), toByteOffset: index * 2, as: UInt16.self)
                        }
                    }
                }
            }
        }
    }

    /// Noise, whose encoded size is large.
    static func noise(_ width: Int, _ height: Int, alpha: AlphaMode = .straight, seed: UInt64 = 1) throws -> Image {
        var generator = SeededGenerator(seed: seed)
        let values = (0..<width * height * 4).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return try Image(size: PixelSize(width: width, height: height), alpha: alpha) { $0.copyBytes(from: values) }
    }

    static func jpeg(
        _ width: Int, _ height: Int, progressive: Bool = false, quality: Int = 85, orientation: Orientation = .up
    ) throws -> [UInt8] {
        let image = try picture(width, height).with { $0.orientation = orientation }
        return try JPEGCoder().encode(image, as: .jpeg, EncodeOptions(quality: quality, progressive: progressive))
    }
}

extension Image {
    var bytes: Pixels { withPixels { Pixels(Array($0)) } }
}
