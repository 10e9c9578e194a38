import WebImageCore
import WebImageProcessing

extension Image {
    /// The picture as a format can hold it that knows neither orientation nor premultiplied pixels.
    func plain() throws(WebImageError) -> Image {
        let upright = try upright()
        return alpha == .premultiplied ? try upright.with(alpha: .straight) : upright
    }
}
