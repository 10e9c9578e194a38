import Testing
import WebImageCore
import WebImageProcessing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Colours that are described by code points or by a calibration instead of a profile.
@Suite struct ColorDescriptionTests {
    /// Converts one pixel, whose channels are values from 0 to 1.
    private func converted(
        _ color: [Double], _ colors: PixelColors, _ layout: PixelLayout = .rgba16
    ) throws -> [Double] {
        let converter = try #require(ColorConverter(colors: colors, layout: layout))
        let pixels = try PixelBuffer(size: PixelSize(width: 1, height: 1), layout: layout)
        let most = layout == .rgba8 ? 255.0 : 65_535
        for (channel, value) in (color + [0.5]).enumerated() {
            let level = (value * most).rounded()
            if layout == .rgba8 {
                pixels.mutableBytes.storeBytes(of: UInt8(level), toByteOffset: channel, as: UInt8.self)
            } else {
                pixels.mutableBytes.storeBytes(of: UInt16(level), toByteOffset: channel * 2, as: UInt16.self)
            }
        }
        converter.convert(pixels)
        let values = (0..<4).map { channel in
            layout == .rgba8
                ? Double(pixels.mutableBytes.load(fromByteOffset: channel, as: UInt8.self))
                : Double(pixels.mutableBytes.load(fromByteOffset: channel * 2, as: UInt16.self))
        }
        #expect(values[3] == (0.5 * most).rounded(), "alpha has changed")
        return values.prefix(3).map { $0 / most }
    }

    private func described(_ primaries: UInt8, _ transfer: UInt8) -> PixelColors {
        .described(ColorDescription(primaries: primaries, transfer: transfer))
    }

    private func isNear(_ values: [Double], _ expected: [Double], levels: Double = 2) -> Bool {
        zip(values, expected).allSatisfy { abs($0 - $1) * 255 <= levels }
    }

    private static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * light.power(1 / 2.4) - 0.055
    }

    private static func light(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055).power(2.4)
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16])
    func displayP3ByCodePointsIsDisplayP3ByProfile(_ layout: PixelLayout) throws {
        let profile = PixelColors.profile(ICCProfileBytes.rgb(ICCProfileBytes.displayP3Colorants, .sRGB))
        for red in stride(from: 0.0, through: 1, by: 0.25) {
            for green in stride(from: 0.0, through: 1, by: 0.25) {
                let color = [red, green, 1 - red]
                let (found, expected) = (
                    try converted(color, described(12, 13), layout), try converted(color, profile, layout)
                )
                #expect(isNear(found, expected), "\(color): \(found) \(expected)")
            }
        }
        // A red outside sRGB, which is clipped.
        #expect(isNear(try converted([1, 0, 0], described(12, 13), layout), [1, 0, 0]))
    }

    @Test func wideColoursAreThoseOfTheStandard() throws {
        // BT.2087: from BT.2020's primaries to BT.709's, in linear light.
        let matrix = [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]]
        for color in [[0.5, 0.5, 0.5], [0.6, 0.5, 0.4], [0.3, 0.45, 0.4], [0.4, 0.4, 0.6]] {
            let expected = matrix.map { row in
                Self.encoded(zip(row, color).reduce(0) { $0 + $1.0 * Self.light($1.1) })
            }
            for transfer: UInt8 in [1, 13, 14, 15] {
                let found = try converted(color, described(9, transfer), .rgba8)
                #expect(isNear(found, expected), "\(color): \(found) \(expected)")
                // lcms2 takes 16 bits through a table, which is three levels off where a channel is nearly black.
                let deep = try converted(color, described(9, transfer))
                #expect(isNear(deep, expected, levels: 3.2), "\(color): \(deep) \(expected)")
            }
        }
    }

    @Test func curvesAreApplied() throws {
        for value in [0.0, 0.1, 0.25, 0.5, 0.9, 1] {
            let linear = try converted([value, value, value], described(1, 8))
            #expect(isNear(linear, [Double](repeating: Self.encoded(value), count: 3)))
            let power = try converted([value, value, value], described(1, 5))
            #expect(isNear(power, [Double](repeating: Self.encoded(value.power(2.8)), count: 3)))
        }
    }

    @Test func descriptionsOfSRGBAndUnknownOnesNeedNoConverter() {
        for (primaries, transfer) in [(1, 13), (1, 1), (2, 2), (0, 0), (1, 6), (9, 77), (77, 13), (77, 16), (1, 9)] {
            let colors = described(UInt8(primaries), UInt8(transfer))
            #expect(ColorConverter(colors: colors, layout: .rgba8) == nil, "\(primaries) \(transfer)")
        }
    }

    // MARK: high dynamic range

    /// Values of PQ (SMPTE ST 2084), and the levels of sRGB after the tone curve of BT.2390.
    static let tones: [(value: Double, level: Double)] = [
        (0, 0), (0.2997, 63), (0.4401, 136), (0.5807, 229), (0.7518, 255), (0.9, 255), (1, 255),
    ]

    @Test(arguments: tones, [PixelLayout.rgba8, .rgba16])
    func greysInPQBecomeTheLevelsOfTheTable(_ tone: (value: Double, level: Double), _ layout: PixelLayout) throws {
        for primaries: UInt8 in [1, 9, 12] {
            let found = try converted([tone.value, tone.value, tone.value], described(primaries, 16), layout)
            let expected = [Double](repeating: tone.level / 255, count: 3)
            #expect(isNear(found, expected, levels: layout == .rgba8 ? 3 : 2), "\(found.map { $0 * 255 })")
        }
    }

    @Test func hybridLogWhiteIsTheSameWhite() throws {
        // BT.2408: reference white is 75 % of HLG, which is 203 cd/m² on a display of 1000 cd/m².
        #expect(isNear(try converted([0.75, 0.75, 0.75], described(9, 18)), [229, 229, 229].map { $0 / 255 }))
        #expect(isNear(try converted([1, 1, 1], described(9, 18)), [1, 1, 1], levels: 0.5))
        #expect(isNear(try converted([0, 0, 0], described(9, 18)), [0, 0, 0], levels: 0))
    }

    @Test(arguments: [UInt8(16), 18])
    func brighterIsNeverDarkerAndGreyStaysGrey(_ transfer: UInt8) throws {
        var last = -1.0
        for step in 0...64 {
            let value = Double(step) / 64
            let found = try converted([value, value, value], described(9, transfer))
            #expect(found[0] >= last && isNear([found[1], found[2]], [found[0], found[0]], levels: 0.1))
            last = found[0]
        }
        #expect(last == 1)
    }

    /// Converts a value of PQ to light in cd/m² (SMPTE ST 2084).
    private static func nits(_ value: Double) -> Double {
        let root = value.power(1 / 78.84375)
        return 10_000 * (max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)).power(1 / 0.1593017578125)
    }

    private static func perceptual(_ nits: Double) -> Double {
        let power = (nits / 10_000).power(0.1593017578125)
        return ((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power)).power(78.84375)
    }

    /// An orange, a blue and a green of some 4000 cd/m², compared with a hundredth of their light, which the tone curve
    /// leaves as it is.
    @Test(arguments: [[0.9, 0.82, 0.6], [0.5, 0.75, 0.9], [0.7, 0.9, 0.65]])
    func highlightsKeepTheirHue(_ color: [Double]) throws {
        let bright = try converted(color, described(1, 16))
        #expect(bright.max() == 1)
        let dim = try converted(color.map { Self.perceptual(Self.nits($0) / 100) }, described(1, 16))
        #expect(isNear(dim, color.map { Self.encoded(Self.nits($0) / 100 / 203) }, levels: 0.5), "\(dim)")
        // Equal parts of linear light, up to a factor, are the same hue and saturation.
        let factor = Self.light(dim.max() ?? 0)
        #expect(isNear(dim, bright.map { Self.encoded(Self.light($0) * factor) }, levels: 0.5), "\(bright) \(dim)")
    }

    @Test func aPictureInPQBecomesOneInSRGB() throws {
        let image = try Image(size: PixelSize(width: 3, height: 2), layout: .rgba16, alpha: .opaque) { bytes in
            for place in stride(from: 0, to: bytes.count, by: 2) {
                bytes.storeBytes(of: place % 8 == 6 ? 65_535 : 38_056, toByteOffset: place, as: UInt16.self)
            }
        }.with { $0.colorDescription = ColorDescription(primaries: 9, transfer: 16) }
        let converted = try image.inSRGB()
        #expect(converted.info.colorDescription == nil && converted.layout == .rgba16)
        let level = converted.withPixels { Int($0.loadUnaligned(as: UInt16.self)) } / 257
        #expect((227...231).contains(level), "\(level)")
    }

    // MARK: calibrations

    @Test func gammaAndChromaticitiesAreApplied() throws {
        let linear = PixelColors.calibrated(ColorCalibration(decodingExponent: 1))
        let half = Self.encoded(0.5)
        #expect(isNear(try converted([0.5, 0.5, 0.5], linear), [half, half, half]))
        let p3 = [0.3127, 0.3290, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06]
        let wide = PixelColors.calibrated(ColorCalibration(chromaticities: p3))
        let color = [0.2, 0.6, 0.3]
        #expect(isNear(try converted(color, wide), try converted(color, described(12, 13))))
    }

    @Test func calibrationsThatAreSRGBOrNonsenseNeedNothing() {
        let sRGB = [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06]
        let none: [ColorCalibration] = [
            ColorCalibration(), ColorCalibration(decodingExponent: 2.2),
            ColorCalibration(decodingExponent: 2.2, chromaticities: sRGB),
            ColorCalibration(decodingExponent: 100_000), ColorCalibration(decodingExponent: 0.00001),
            ColorCalibration(chromaticities: [Double](repeating: 0, count: 8)),
            ColorCalibration(chromaticities: [Double](repeating: 0.3, count: 8)),
            ColorCalibration(chromaticities: [0.3]), ColorCalibration(chromaticities: [42_949, 1, 2, 3, 4, 5, 6, 7]),
        ]
        for calibration in none {
            #expect(ColorConverter(colors: .calibrated(calibration), layout: .rgba8) == nil, "\(calibration)")
        }
    }

    @Test func theCacheKnowsColoursOfEveryKind() throws {
        let cache = ColorConverterCache(capacity: 4)
        let colors = [described(12, 13), described(9, 16), .calibrated(ColorCalibration(decodingExponent: 1))]
        let first = try colors.map { try cache.converter(for: $0, layout: .rgba8) }
        for (index, colors) in colors.enumerated() {
            #expect(first[index] != nil)
            #expect(try cache.converter(for: colors, layout: .rgba8) === first[index])
        }
    }
}

extension Double {
    fileprivate func power(_ exponent: Double) -> Double { pow(self, exponent) }
}
