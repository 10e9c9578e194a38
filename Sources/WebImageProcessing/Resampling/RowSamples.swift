import CPixels
import WebImageCore

/// The storage of a stage's input or output rows: red, green, blue and alpha of each pixel.
struct RowSamples: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case eight, sixteen
        /// Floats from 0 to 1, with colours multiplied by alpha.
        case floats
    }

    let kind: Kind
    let alpha: AlphaMode

    /// The format of rows between stages.
    static func floats(isOpaque: Bool) -> RowSamples {
        RowSamples(kind: .floats, alpha: isOpaque ? .opaque : .premultiplied)
    }

    init(kind: Kind, alpha: AlphaMode) { (self.kind, self.alpha) = (kind, alpha) }

    init(_ layout: PixelLayout, _ alpha: AlphaMode) {
        self.init(kind: layout == .rgba8 ? .eight : .sixteen, alpha: alpha)
    }

    var bytesPerPixel: Int {
        switch kind {
        case .eight: 4
        case .sixteen: 8
        case .floats: 16
        }
    }

    /// The value of full light.
    var top: Float {
        switch kind {
        case .eight: 255
        case .sixteen: 65_535
        case .floats: 1
        }
    }

    var layout: PixelLayout? {
        switch kind {
        case .eight: .rgba8
        case .sixteen: .rgba16
        case .floats: nil
        }
    }

    var pixelKind: wi_pixel_kind {
        switch kind {
        case .eight: alpha == .straight ? WI_PIXEL_8_STRAIGHT : WI_PIXEL_8
        case .sixteen: alpha == .straight ? WI_PIXEL_16_STRAIGHT : WI_PIXEL_16
        case .floats: WI_PIXEL_FLOAT
        }
    }
}
