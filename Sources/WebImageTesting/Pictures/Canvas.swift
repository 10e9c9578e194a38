import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Draws antialiased shapes on RGBA pixels (straight alpha). Parts outside of the picture are clipped.
struct Canvas {
    let width: Int
    let height: Int
    private let base: UnsafeMutablePointer<UInt8>

    /// Makes an image on whose transparent black pixels `draw` draws.
    static func image(
        _ size: PixelSize, alpha: AlphaMode = .straight, _ draw: (Canvas) -> Void
    ) throws(WebImageError) -> Image {
        try Image(size: size, alpha: alpha) { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            draw(Canvas(width: size.width, height: size.height, base: base))
        }
    }

    private init(width: Int, height: Int, base: UnsafeMutablePointer<UInt8>) {
        self.width = width
        self.height = height
        self.base = base
    }

    /// Sets every pixel to the colour that `color` returns for its position.
    @inline(__always)
    func paint(_ color: (_ x: Int, _ y: Int) -> Ink) {
        for y in 0..<height {
            let row = base + y * width * 4
            for x in 0..<width { color(x, y).write(to: row + x * 4) }
        }
    }

    /// Blends `ink` over a pixel with an opacity.
    @inline(__always)
    func blend(_ x: Int, _ y: Int, _ ink: Ink, _ density: Float) {
        guard density > 0, x >= 0, y >= 0, x < width, y < height else { return }
        let pixel = base + (y * width + x) * 4
        let over = min(density, 1)
        let under = Float(pixel[3]) / 255 * (1 - over)
        let alpha = over + under
        let old = Ink(Float(pixel[0]) / 255, Float(pixel[1]) / 255, Float(pixel[2]) / 255)
        (ink * (over / alpha) + old * (under / alpha)).write(to: pixel, alpha: alpha)
    }

    /// Blends `ink` over a rectangle of pixels. `density` returns the opacity for the centre of each pixel.
    @inline(__always)
    func blend(_ area: PixelRect, _ ink: Ink, density: (_ x: Float, _ y: Float) -> Float) {
        let columns =
            max(Int(area.x), 0)..<max(min(Int((area.x + area.width).rounded(.up)), width), max(Int(area.x), 0))
        let rows = max(Int(area.y), 0)..<max(min(Int((area.y + area.height).rounded(.up)), height), max(Int(area.y), 0))
        for y in rows {
            for x in columns { blend(x, y, ink, density(Float(x) + 0.5, Float(y) + 0.5)) }
        }
    }

    func disc(_ x: Float, _ y: Float, radius: Float, _ ink: Ink, density: Float = 1, softness: Float = 1) {
        let reach = Double(radius + softness + 1)
        let area = PixelRect(x: Double(x) - reach, y: Double(y) - reach, width: reach * 2, height: reach * 2)
        blend(area, ink) { column, row in
            let (dx, dy) = (column - x, row - y)
            let distance = (dx * dx + dy * dy).squareRoot()
            return density * (1 - smoothstep(radius - softness / 2, radius + softness / 2, distance))
        }
    }

    func line(
        from start: (x: Float, y: Float), to end: (x: Float, y: Float), width: Float, _ ink: Ink, density: Float = 1
    ) {
        let (dx, dy) = (end.x - start.x, end.y - start.y)
        let square = max(dx * dx + dy * dy, 1e-6)
        let reach = width / 2 + 1
        let (left, top) = (min(start.x, end.x) - reach, min(start.y, end.y) - reach)
        let area = PixelRect(
            x: Double(left), y: Double(top), width: Double(abs(dx) + 2 * reach), height: Double(abs(dy) + 2 * reach))
        blend(area, ink) { x, y in
            let along = min(max(((x - start.x) * dx + (y - start.y) * dy) / square, 0), 1)
            let (offX, offY) = (x - start.x - along * dx, y - start.y - along * dy)
            let distance = (offX * offX + offY * offY).squareRoot()
            return density * min(max(width / 2 + 0.5 - distance, 0), 1)
        }
    }

    func rectangle(_ area: PixelRect, corner: Float = 0, _ ink: Ink, density: Float = 1, softness: Float = 1) {
        let reach = Double(softness)
        let wider = PixelRect(
            x: area.x - reach, y: area.y - reach, width: area.width + 2 * reach, height: area.height + 2 * reach)
        blend(wider, ink) { density * Self.cover(area, corner: corner, softness: softness, $0, $1) }
    }

    /// The coverage of a position by a rounded rectangle: 1 inside, 0 outside, and between them at the edge.
    @inline(__always)
    static func cover(_ area: PixelRect, corner: Float, softness: Float = 1, _ x: Float, _ y: Float) -> Float {
        let (halfWidth, halfHeight) = (Float(area.width) / 2, Float(area.height) / 2)
        let dx = abs(x - Float(area.x) - halfWidth) - halfWidth + corner
        let dy = abs(y - Float(area.y) - halfHeight) - halfHeight + corner
        let (outX, outY) = (max(dx, 0), max(dy, 0))
        let distance = (outX * outX + outY * outY).squareRoot() + min(max(dx, dy), 0) - corner
        return min(max(0.5 - distance / softness, 0), 1)
    }

    /// Draws a line of ASCII text in the built-in font, with `scale` pixels for each dot.
    func text(_ text: String, x: Int, y: Int, scale: Int, _ ink: Ink, density: Float = 1) {
        var left = x
        for letter in text.utf8 {
            for (row, dots) in BitmapFont.rows(of: letter).enumerated() {
                for column in 0..<BitmapFont.width where dots >> (BitmapFont.width - 1 - column) & 1 == 1 {
                    let (dotX, dotY) = (left + column * scale, y + row * scale)
                    for pixel in 0..<scale * scale {
                        blend(dotX + pixel % scale, dotY + pixel / scale, ink, density)
                    }
                }
            }
            left += BitmapFont.advance * scale
        }
    }

    /// The width of a line of text in pixels.
    static func textWidth(_ text: String, scale: Int) -> Int {
        max(text.utf8.count * BitmapFont.advance - 1, 0) * scale
    }
}
