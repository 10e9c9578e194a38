public import WebImageCore

extension BlurHash {
    /// Makes the hash of a picture: of its first frame, upright, in sRGB.
    ///
    /// Pictures of up to 16 Mi pixels (4096x4096) get the same text as from the reference implementation
    /// (woltapp/blurhash, encode.c). It adds up in `float`, which loses precision: 12 million pixels of the gray 128
    /// become 132. Larger pictures are therefore added up with more precision here, and their text may differ from the
    /// reference.
    ///
    /// A smaller copy, for example from `resized(to:)`, takes less time, and its text may differ in some digits. A copy
    /// with sides of 100 pixels gives as good a placeholder.
    ///
    /// - Parameters:
    ///   - image: a picture of any size, depth and alpha.
    ///   - components: the number of waves across and down, 1 to 9 each. More waves show more detail, and make a longer
    ///     text of `4 + 2 * x * y` characters. Default 4 and 3, for a picture that is wider than high.
    ///   - background: the colour behind a picture with alpha, since BlurHash has no transparency. Default white.
    /// - Throws: `transformFailed` for other numbers of components, `limitExceeded` for a side of more than 1 Mi pixels
    ///   and if there is no memory.
    /// - Complexity: one pass over the pixels for each 4x4 components, 12 million in some 20 ms. Memory for a few rows,
    ///   and for a copy of a picture that must be turned or converted to sRGB.
    public init(
        of image: Image, components: (x: Int, y: Int) = (x: 4, y: 3), background: RGBColor = .white
    ) throws(WebImageError) {
        guard (1...9).contains(components.x), (1...9).contains(components.y) else {
            throw WebImageError(
                .transformFailed, "a BlurHash has 1 to 9 components each way, not \(components.x) by \(components.y)")
        }
        let upright = try image.upright()
        var sums = try CosineSums(upright.size, components: components)
        try EightBitRows(upright, .over(background)).forEach { y, row in sums.add(row, at: y) }
        self.init(strengths: sums.strengths, components: components)
    }

    private init(strengths: [SIMD3<Float>], components: (x: Int, y: Int)) {
        let waves = strengths.dropFirst()
        var digits = Self.digits(of: components.x - 1 + (components.y - 1) * 9, count: 1)
        var strongest: Float = 0
        for wave in waves {
            for channel in 0..<3 { strongest = max(strongest, wave[channel].magnitude) }
        }
        let step = waves.isEmpty ? 0 : BlurHashRounding.maximumStep(for: strongest)
        digits += Self.digits(of: step, count: 1)
        let average = (0..<3).map { BlurHashRounding.value(of: strengths[0][$0]) }
        digits += Self.digits(of: average[0] << 16 + average[1] << 8 + average[2], count: 4)
        let maximum = BlurHashRounding.maximum(ofStep: step)
        for wave in waves {
            let steps = (0..<3).map { BlurHashRounding.waveStep(for: wave[$0], maximum: maximum) }
            digits += Self.digits(of: (steps[0] * 19 + steps[1]) * 19 + steps[2], count: 2)
        }
        self.init(digits: digits)
    }

    private static func digits(of number: Int, count: Int) -> [UInt8] {
        var (digits, rest) = ([UInt8](repeating: 0, count: count), number)
        for place in digits.indices.reversed() {
            digits[place] = UInt8(rest % 83)
            rest /= 83
        }
        return digits
    }
}
