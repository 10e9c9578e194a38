public import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension SamplePictures {
    /// A test card: an arrow that points up, a different colour in each corner (red and green above, blue and yellow
    /// below), circles, grey steps and its size. Opaque. It shows at a glance whether a picture was turned or mirrored.
    public static func testCard(_ size: PixelSize) throws(WebImageError) -> Image {
        try Canvas.image(size, alpha: .opaque) { canvas in
            let (width, height) = (Float(size.width), Float(size.height))
            let unit = min(width, height) / 12
            canvas.paint { x, y in
                let isLine =
                    Float(x).truncatingRemainder(dividingBy: unit) < 1.2
                    || Float(y).truncatingRemainder(dividingBy: unit) < 1.2
                return isLine ? Ink(0x3A4150) : Ink(0x2A303C)
            }
            let corner = Double(unit * 2.2)
            let (right, bottom) = (Double(width) - corner, Double(height) - corner)
            let corners = [
                (0, 0, Ink(0xE5484D)), (right, 0, Ink(0x46A758)), (0, bottom, Ink(0x3E63DD)),
                (right, bottom, Ink(0xF5D90A)),
            ]
            for (x, y, ink) in corners {
                canvas.rectangle(PixelRect(x: x, y: y, width: corner, height: corner), ink)
            }
            let (centreX, centreY) = (width / 2, height / 2)
            canvas.disc(centreX, centreY, radius: unit * 4.4, Ink(0xEDEFF3))
            canvas.disc(centreX, centreY, radius: unit * 4.2, Ink(0x12151C))
            drawArrow(canvas, centreX, centreY, unit)
            drawSteps(canvas, centreX, centreY, unit)
            let label = "\(size.width) x \(size.height)"
            let scale = max(Int(unit * 3.6) / max(Canvas.textWidth(label, scale: 1), 1), 1)
            canvas.text(
                label, x: Int(centreX) - Canvas.textWidth(label, scale: scale) / 2, y: Int(centreY + unit * 3),
                scale: scale, Ink(0xEDEFF3))
        }
    }

    private static func drawArrow(_ canvas: Canvas, _ centreX: Float, _ centreY: Float, _ unit: Float) {
        let ink = Ink(0xFFB224)
        let tip = (x: centreX, y: centreY - unit * 3.3)
        canvas.line(from: tip, to: (centreX, centreY + unit * 0.6), width: unit * 0.5, ink)
        canvas.line(from: tip, to: (centreX - unit * 1.3, centreY - unit * 1.9), width: unit * 0.5, ink)
        canvas.line(from: tip, to: (centreX + unit * 1.3, centreY - unit * 1.9), width: unit * 0.5, ink)
        let scale = max(Int(unit / 9), 1)
        canvas.text(
            "UP", x: Int(centreX + unit * 1.2), y: Int(centreY - unit * 0.9), scale: scale * 2, Ink(0xEDEFF3))
    }

    private static func drawSteps(_ canvas: Canvas, _ centreX: Float, _ centreY: Float, _ unit: Float) {
        let count = 11
        let width = unit * 6.6 / Float(count)
        for step in 0..<count {
            let gray = Float(step) / Float(count - 1)
            let area = PixelRect(
                x: Double(centreX - unit * 3.3 + width * Float(step)), y: Double(centreY + unit * 1.3),
                width: Double(width), height: Double(unit * 1.2))
            canvas.rectangle(area, Ink(gray, gray, gray))
        }
    }

    /// Squares of colour that fade from opaque to transparent.
    public static func checkerboard(_ size: PixelSize) throws(WebImageError) -> Image {
        try Canvas.image(size) { canvas in
            let side = max(Float(min(size.width, size.height)) / 8, 1)
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (column, row) = (Int(Float(x) / side), Int(Float(y) / side))
                    guard (column + row).isMultiple(of: 2) else { continue }
                    let (across, down) = (Float(x) / Float(size.width), Float(y) / Float(size.height))
                    canvas.blend(x, y, Ink(hue: across * 0.8, saturation: 0.65, value: 0.95), 1 - down * 0.92)
                }
            }
        }
    }

    /// Black to white from left to right, in steps below and smoothly above. Opaque.
    public static func grayRamp(_ size: PixelSize) throws(WebImageError) -> Image {
        try Canvas.image(size, alpha: .opaque) { canvas in
            canvas.paint { x, y in
                let place = Float(x) / Float(max(size.width - 1, 1))
                let gray = y * 2 < size.height ? place : (place * 15.99).rounded(.down) / 15
                return Ink(gray, gray, gray)
            }
        }
    }

    /// A slow gradient that shows bands at 8 bits a channel: 16 bits, opaque.
    public static func deepGradient(_ size: PixelSize) throws(WebImageError) -> Image {
        try Image(size: size, layout: .rgba16, alpha: .opaque) { bytes in
            let channels = bytes.bindMemory(to: UInt16.self)
            let (width, height) = (Float(max(size.width, 2) - 1), Float(max(size.height, 2) - 1))
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (across, down) = (Float(x) / width, Float(y) / height)
                    let left = Ink(0x16324F).mixed(down, with: Ink(0x18435A))
                    let ink = left.mixed(across, with: Ink(0x3C6E71).mixed(down, with: Ink(0xB5838D)))
                    let place = (y * size.width + x) * 4
                    for (channel, value) in [ink.red, ink.green, ink.blue, 1].enumerated() {
                        channels[place + channel] = UInt16(min(max(value, 0), 1) * 65535 + 0.5)
                    }
                }
            }
        }
    }

    /// The letter W on a disk with a soft shadow. Transparent around it.
    public static func logo(_ size: PixelSize) throws(WebImageError) -> Image {
        try Canvas.image(size) { canvas in
            let unit = Float(min(size.width, size.height))
            let (x, y) = (Float(size.width) / 2, Float(size.height) / 2 - unit * 0.02)
            canvas.disc(
                x, y + unit * 0.05, radius: unit * 0.38, Ink(0x0B1020), density: 0.55, softness: unit * 0.16)
            let radius = unit * 0.4
            let area = PixelRect(
                x: Double(x - radius) - 1, y: Double(y - radius) - 1, width: Double(radius * 2) + 2,
                height: Double(radius * 2) + 2)
            for row in max(Int(area.y), 0)..<min(Int(area.y + area.height) + 1, size.height) {
                let down = (Float(row) + 0.5 - y + radius) / (radius * 2)
                let ink = Ink(0x6EA8FE).mixed(down, with: Ink(0x3D3BC4))
                let line = PixelRect(x: area.x, y: Double(row), width: area.width, height: 1)
                canvas.blend(line, ink) { column, row in
                    let (dx, dy) = (column - x, row - y)
                    return min(max(radius + 0.5 - (dx * dx + dy * dy).squareRoot(), 0), 1)
                }
            }
            let places: [(Float, Float)] = [(-0.22, -0.15), (-0.11, 0.17), (0, -0.08), (0.11, 0.17), (0.22, -0.15)]
            for (from, to) in zip(places, places.dropFirst()) {
                canvas.line(
                    from: (x + from.0 * unit, y + from.1 * unit), to: (x + to.0 * unit, y + to.1 * unit),
                    width: unit * 0.075, Ink(1, 1, 1))
            }
        }
    }
}
