import WebImage

/// Draws with half blocks: each letter shows two pixels, one in its own colour and one in its background's. The output
/// consists of lines, without movements of the cursor, so that it can be saved to a file.
enum BlockDrawing {
    private enum Paint: Equatable {
        case own
        case color(RGBColor)
    }

    static func bytes(of bitmap: Bitmap, hasTrueColor: Bool) -> [UInt8] {
        var output: [UInt8] = []
        for top in stride(from: 0, to: bitmap.height, by: 2) {
            var (ink, ground) = (Paint.own, Paint.own)
            for x in 0..<bitmap.width {
                let letter = letter(bitmap.color(x, top), bitmap.color(x, top + 1))
                var codes: [String] = []
                if let wanted = letter.ink, wanted != ink {
                    codes.append(code(wanted, isGround: false, hasTrueColor))
                    ink = wanted
                }
                if letter.ground != ground {
                    codes.append(code(letter.ground, isGround: true, hasTrueColor))
                    ground = letter.ground
                }
                if !codes.isEmpty { output += Array("\u{1B}[\(codes.joined(separator: ";"))m".utf8) }
                output += Array(letter.text.utf8)
            }
            output += Array("\u{1B}[0m\n".utf8)
        }
        return output
    }

    /// The letter for two pixels. The terminal's own background shows for pixels that are not drawn.
    private static func letter(_ upper: RGBColor?, _ lower: RGBColor?) -> (text: String, ink: Paint?, ground: Paint) {
        switch (upper, lower) {
        case (nil, nil): (" ", nil, .own)
        case (nil, let lower?): ("\u{2584}", .color(lower), .own)
        case (let upper?, nil): ("\u{2580}", .color(upper), .own)
        case (let upper?, let lower?): ("\u{2580}", .color(upper), .color(lower))
        }
    }

    /// The parameters of SGR for a colour (ECMA-48, 8.3.117; colours as in xterm).
    private static func code(_ paint: Paint, isGround: Bool, _ hasTrueColor: Bool) -> String {
        let kind = isGround ? 48 : 38
        guard case .color(let color) = paint else { return isGround ? "49" : "39" }
        return hasTrueColor
            ? "\(kind);2;\(color.red);\(color.green);\(color.blue)" : "\(kind);5;\(XtermPalette.nearest(color))"
    }
}

/// The colours 16 to 255 of xterm: a cube of six levels a channel, and 24 greys. The first 16 are not used, because
/// users configure them.
enum XtermPalette {
    private static let levels = [0, 95, 135, 175, 215, 255]

    static func nearest(_ color: RGBColor) -> Int {
        let channels = [Int(color.red), Int(color.green), Int(color.blue)]
        let steps = channels.map { value in
            levels.indices.min { abs(levels[$0] - value) < abs(levels[$1] - value) } ?? 0
        }
        let cube = steps.map { levels[$0] }
        // Greys go from 8 to 238 in steps of 10.
        let grey = min(max((channels.reduce(0, +) / 3 - 3) / 10, 0), 23)
        let isGreyNearer = distance(channels, [8 + grey * 10, 8 + grey * 10, 8 + grey * 10]) < distance(channels, cube)
        return isGreyNearer ? 232 + grey : 16 + steps[0] * 36 + steps[1] * 6 + steps[2]
    }

    private static func distance(_ a: [Int], _ b: [Int]) -> Int {
        zip(a, b).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
    }
}
