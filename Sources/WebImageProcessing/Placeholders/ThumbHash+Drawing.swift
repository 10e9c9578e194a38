public import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension ThumbHash {
    /// The length of the placeholder's longer side, in pixels.
    private static let side = 32.0

    /// Draws the placeholder in roughly the picture's shape, 32 pixels along its longer side, with the pixels that the
    /// original implementation draws (evanw/thumbhash, thumbhash.js). Its alpha is straight, or it is opaque.
    ///
    /// The view that shows the picture should enlarge it smoothly.
    ///
    /// - Throws: `limitExceeded` when there is no memory for it.
    /// - Complexity: some 60 operations for each of at most 1024 pixels; less than a millisecond.
    public func image() throws(WebImageError) -> Image {
        let ratio = aspectRatio
        let size = PixelSize(
            width: Int((ratio > 1 ? Self.side : Self.side * ratio).rounded()),
            height: Int((ratio > 1 ? Self.side / ratio : Self.side).rounded()))
        let drawing = Drawing(self)
        let (columns, rows) = (Self.cosines(size.width), Self.cosines(size.height))
        return try Image(size: size, alpha: hasAlpha ? .straight : .opaque) { bytes in
            var place = 0
            for row in rows {
                for column in columns {
                    let pixel = drawing.pixel(column, row)
                    for channel in 0..<4 {
                        // Truncated, not rounded, as the original's Uint8Array does.
                        bytes[place + channel] = UInt8(max(0, 255 * min(1, pixel[channel])))
                    }
                    place += 4
                }
            }
        }
    }

    /// The cosines of each position, as many as a channel has waves at most.
    private static func cosines(_ length: Int) -> [[Double]] {
        (0..<length).map { place in
            (0..<7).map { cos(Double.pi / Double(length) * (Double(place) + 0.5) * Double($0)) }
        }
    }

    /// The waves of each channel with their strengths.
    private struct Drawing {
        private let header: Header
        private let light: [Wave]
        private let yellow: [Wave]
        private let red: [Wave]
        private let alpha: [Wave]

        struct Wave {
            let column: Int
            let row: Int
            let strength: Double
        }

        init(_ hash: ThumbHash) {
            header = hash.header
            var steps = hash.bytes.dropFirst(header.hasAlpha ? 6 : 5).flatMap { [$0 & 15, $0 >> 4] }[...]
            func read(_ waves: Waves, scale: Double) -> [Wave] {
                var read: [Wave] = []
                for row in 0..<waves.y {
                    for column in (row == 0 ? 1 : 0)..<waves.count(inRow: row) {
                        let strength = (Double(steps.popFirst() ?? 0) / 7.5 - 1) * scale
                        read.append(Wave(column: column, row: row, strength: strength))
                    }
                }
                return read
            }
            light = read(header.lightWaves, scale: header.scales.light)
            // The stored strength is increased, because its coarse steps make colours dull.
            yellow = read(.color, scale: header.scales.yellow * 1.25)
            red = read(.color, scale: header.scales.red * 1.25)
            alpha = header.hasAlpha ? read(.alpha, scale: header.opacity.scale) : []
        }

        /// Red, green, blue and alpha, 0 to 1 and beyond.
        func pixel(_ column: [Double], _ row: [Double]) -> SIMD4<Double> {
            let constants = header.constants
            var (light, yellow, red) = (constants.light, constants.yellow, constants.red)
            var alpha = header.opacity.constant
            for wave in self.light { light += wave.strength * column[wave.column] * (row[wave.row] * 2) }
            for index in self.yellow.indices {
                let wave = self.yellow[index]
                let shape = column[wave.column] * (row[wave.row] * 2)
                yellow += wave.strength * shape
                red += self.red[index].strength * shape
            }
            for wave in self.alpha { alpha += wave.strength * column[wave.column] * (row[wave.row] * 2) }
            let color = ThumbHash.color(light, yellow, red)
            return SIMD4(color.red, color.green, color.blue, alpha)
        }
    }
}
