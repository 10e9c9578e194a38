import WebImage

/// The pixels of a picture for drawing, with 8 bits a channel and straight alpha.
struct Bitmap: Sendable {
    /// Pixels with a lower alpha are not drawn, so that the terminal's background shows.
    static let minAlpha = 16

    let width: Int
    let height: Int
    private let bytes: [UInt8]
    private let background: RGBColor

    /// - Parameter background: the colour with which half-transparent pixels are mixed.
    init(_ image: Image, background: RGBColor) throws(WebImageError) {
        let straight = try image.alpha == .premultiplied ? image.with(alpha: .straight) : image
        let pixels = try straight.pixels.narrowed()
        (width, height) = (pixels.size.width, pixels.size.height)
        bytes = pixels.withBytes { Array($0) }
        self.background = background
    }

    /// The colour to draw; nil for pixels that are not drawn, and below the picture.
    func color(_ x: Int, _ y: Int) -> RGBColor? {
        guard y < height else { return nil }
        let place = (y * width + x) * 4
        let alpha = Int(bytes[place + 3])
        guard alpha >= Self.minAlpha else { return nil }
        func mixed(_ value: UInt8, _ under: UInt8) -> UInt8 {
            UInt8((Int(value) * alpha + Int(under) * (255 - alpha) + 127) / 255)
        }
        return RGBColor(
            red: mixed(bytes[place], background.red), green: mixed(bytes[place + 1], background.green),
            blue: mixed(bytes[place + 2], background.blue))
    }
}
