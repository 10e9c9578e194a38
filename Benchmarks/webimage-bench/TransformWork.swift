import WebImage
import WebImageCore

/// The chains of transforms that `make bench-peers` measures. `worker.py` implements the same chains for the peers.
enum TransformWork {
    static func chain(_ name: String) throws -> [ImageTransform] {
        switch name {
        case "blur2": return [.blur(sigma: 2)]
        case "blur8": return [.blur(sigma: 8)]
        case "blur30": return [.blur(sigma: 30)]
        case "sharpen": return [.sharpen(sigma: 1.5)]
        case "resize": return [.resize(width: 1000)]
        case "round": return [.roundCorners(200)]
        case "overlay": return [.watermark(try mark(), at: .bottomRight, offset: (20, 20))]
        case "rotate": return [.rotate(degrees: 10)]
        case "point1": return [.contrast(1.2)]
        case "point5": return [.contrast(1.2), .brightness(0.1), .saturation(1.3), .sepia(0.2), .gamma(1.1)]
        case "chain5":
            return [.resize(width: 1000), .sharpen(sigma: 1), .saturation(1.2), .contrast(1.1), .roundCorners(40)]
        default: throw WebImageError(.unsupportedFeature, "there is no chain \(name)")
        }
    }

    /// A mark of 1000 x 750 pixels, from transparent at the left to opaque at the right.
    private static func mark() throws -> Image {
        let size = PixelSize(width: 1000, height: 750)
        return try Image(size: size) { bytes in
            for index in bytes.indices {
                let x = index / 4 % size.width
                bytes[index] = index % 4 == 3 ? UInt8(x * 255 / (size.width - 1)) : index % 4 == 0 ? 255 : 128
            }
        }
    }
}
