extension ThumbHash {
    /// The first five bytes of a hash, or six with alpha: its constants, and the strengths of its waves.
    struct Header {
        let constants: (light: Double, yellow: Double, red: Double)
        let scales: (light: Double, yellow: Double, red: Double)
        let opacity: (constant: Double, scale: Double)
        let hasAlpha: Bool
        let isLandscape: Bool
        /// The number of waves of light along the picture's shorter side.
        let shorterCount: Int

        static let empty = Header(first: 0, second: 0, alpha: nil)

        /// - Returns: nil when there are too few bytes.
        init?(_ bytes: [UInt8]) {
            guard bytes.count >= 5 else { return nil }
            let first = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
            guard first >> 23 == 0 || bytes.count >= 6 else { return nil }
            self.init(
                first: first, second: Int(bytes[3]) | Int(bytes[4]) << 8, alpha: first >> 23 == 0 ? nil : Int(bytes[5]))
        }

        private init(first: Int, second: Int, alpha: Int?) {
            constants = (
                Double(first & 63) / 63, Double(first >> 6 & 63) / 31.5 - 1, Double(first >> 12 & 63) / 31.5 - 1
            )
            scales = (Double(first >> 18 & 31) / 31, Double(second >> 3 & 63) / 63, Double(second >> 9 & 63) / 63)
            opacity = alpha.map { (Double($0 & 15) / 15, Double($0 >> 4) / 15) } ?? (1, 1)
            hasAlpha = alpha != nil
            isLandscape = second >> 15 != 0
            shorterCount = second & 7
        }

        /// The number of waves of light across and down.
        var counts: (x: Int, y: Int) {
            let longer = hasAlpha ? 5 : 7
            return isLandscape ? (longer, shorterCount) : (shorterCount, longer)
        }

        /// The waves of light: at least three in each direction.
        var lightWaves: Waves { Waves(x: max(3, counts.x), y: max(3, counts.y)) }

        var byteCount: Int {
            let waves = lightWaves.count + 2 * Waves.color.count + (hasAlpha ? Waves.alpha.count : 0)
            return (hasAlpha ? 6 : 5) + (waves + 1) / 2
        }
    }

    /// The waves of a channel: a triangle of `x` across and `y` down, without the constant one.
    struct Waves {
        let x: Int
        let y: Int

        static let color = Waves(x: 3, y: 3)
        static let alpha = Waves(x: 5, y: 5)

        /// The number of waves in a row, including the constant one.
        func count(inRow row: Int) -> Int { (x * (y - row) + y - 1) / y }

        var count: Int { (0..<y).reduce(-1) { $0 + count(inRow: $1) } }
    }
}
