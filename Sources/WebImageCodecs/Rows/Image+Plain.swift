import WebImageCore
import WebImageProcessing

extension Image {
    /// The picture in a form for formats without orientation and premultiplied pixels.
    func plain() throws(WebImageError) -> Image {
        let upright = try upright()
        return alpha == .premultiplied ? try upright.with(alpha: .straight) : upright
    }
}
