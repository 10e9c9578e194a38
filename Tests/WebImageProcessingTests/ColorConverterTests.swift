import Synchronization
import Testing
import WebImageCore
import WebImageProcessing
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@Suite struct ColorConverterTests {
    private func linear(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private func encoded(_ value: Double) -> Double {
        let value = min(max(value, 0), 1)
        return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16]) func displayP3BecomesTheKnownValues(_ layout: PixelLayout) throws {
        let profile = ICCProfileBytes.rgb(ICCProfileBytes.displayP3Colorants, .sRGB)
        let converter = try #require(ColorConverter(iccProfile: profile, layout: layout))
        #expect(!converter.isIdentity)
        // Linear Display P3 to linear sRGB (both D65).
        let matrix = [[1.2249, -0.2247, 0], [-0.0420, 1.0419, 0], [-0.0197, -0.0786, 1.0979]]
        var random = SeededGenerator(seed: 1)
        let pixels = try PixelBuffer.random(PixelSize(40, 25), layout, alpha: .straight, seed: 2)
        let top = Double(layout.top)
        // Muted colours lie within both gamuts. Nothing is clipped, where colour engines may differ.
        let channels = (0..<4000).map { _ in Int.random(in: Int(top * 0.3)...Int(top * 0.6), using: &random) }
        for (index, value) in channels.enumerated() {
            if layout == .rgba8 {
                pixels.mutableBytes[index] = UInt8(value)
            } else {
                pixels.mutableBytes.storeBytes(of: UInt16(value), toByteOffset: index * 2, as: UInt16.self)
            }
        }
        converter.convert(pixels)
        let converted = pixels.channels
        for start in stride(from: 0, to: 4000, by: 4) {
            let from = (0..<3).map { linear(Double(channels[start + $0]) / top) }
            for c in 0..<3 {
                let expected = encoded((0..<3).reduce(0) { $0 + matrix[c][$1] * from[$1] }) * top
                #expect(abs(Double(converted[start + c]) - expected) <= top / 255 * 1.5)
            }
            #expect(converted[start + 3] == channels[start + 3], "alpha is not a colour")
        }
    }

    /// lcms2 converts 16 bits by a table, which is far off where colours are clipped.
    @Test(arguments: [ICCProfileBytes.Curve.sRGB, .gamma(1.8), .gamma(1)])
    func saturatedColoursOfSixteenBitsAreExact(_ curve: ICCProfileBytes.Curve) throws {
        let profile = ICCProfileBytes.rgb(ICCProfileBytes.displayP3Colorants, curve)
        let converter = try #require(ColorConverter(iccProfile: profile, layout: .rgba16))
        let matrix = [[1.2249, -0.2247, 0], [-0.0420, 1.0419, 0], [-0.0197, -0.0786, 1.0979]]
        let pixels = try PixelBuffer.random(PixelSize(100, 100), .rgba16, alpha: .straight, seed: 3)
        // The corners of the gamut, too.
        for corner in 0..<8 {
            for channel in 0..<3 where corner >> channel & 1 == 1 {
                pixels.mutableBytes.storeBytes(
                    of: UInt16.max, toByteOffset: (corner * 4 + channel) * 2, as: UInt16.self)
            }
        }
        let before = pixels.channels
        converter.convert(pixels)
        let after = pixels.channels
        var greatest = 0.0
        for start in stride(from: 0, to: before.count, by: 4) {
            let light = (0..<3).map { channel -> Double in
                let value = Double(before[start + channel]) / 65_535
                return switch curve {
                case .sRGB: linear(value)
                case .gamma(let gamma): pow(value, gamma)
                }
            }
            for c in 0..<3 {
                let expected = encoded((0..<3).reduce(0) { $0 + matrix[c][$1] * light[$1] }) * 65_535
                // Near black the rounded numbers of the matrix weigh most.
                greatest = max(greatest, abs(Double(after[start + c]) - expected))
            }
            #expect(after[start + 3] == before[start + 3])
        }
        #expect(greatest < 65_535 / 255 * 1.2, "\(greatest * 255 / 65_535) levels of 255")
    }

    @Test func theReddestP3IsTheReddestThereIs() throws {
        let profile = ICCProfileBytes.rgb(ICCProfileBytes.displayP3Colorants, .sRGB)
        let converter = try #require(ColorConverter(iccProfile: profile, layout: .rgba8))
        let pixels = try PixelBuffer.make(PixelSize(3, 1), [255, 0, 0, 9, 255, 255, 255, 255, 0, 0, 0, 0])
        converter.convert(pixels)
        #expect(pixels.channels == [255, 0, 0, 9, 255, 255, 255, 255, 0, 0, 0, 0])
    }

    @Test func linearGrayOfSixteenBitsBecomesSRGB() throws {
        let converter = try #require(ColorConverter(iccProfile: ICCProfileBytes.gray(.gamma(1)), layout: .rgba16))
        let levels = Array(stride(from: 0, through: 65_535, by: 257))
        let pixels = try PixelBuffer.make(PixelSize(levels.count, 1), .rgba16, levels.flatMap { [$0, $0, $0, 77] })
        converter.convert(pixels)
        for (x, level) in levels.enumerated() {
            let pixel = pixels.pixel(x, 0)
            let expected = encoded(Double(level) / 65_535) * 65_535
            #expect(pixel[0..<3].allSatisfy { abs(Double($0) - expected) <= 100 } && pixel[3] == 77)
        }
    }

    @Test func linearGrayBecomesSRGB() throws {
        let converter = try #require(ColorConverter(iccProfile: ICCProfileBytes.gray(.gamma(1)), layout: .rgba8))
        #expect(!converter.isIdentity)
        let pixels = try PixelBuffer.make(PixelSize(256, 1), (0...255).flatMap { [$0, $0, $0, 255 - $0] })
        converter.convert(pixels)
        for level in 0...255 {
            let expected = encoded(Double(level) / 255) * 255
            let pixel = pixels.pixel(level, 0)
            #expect(pixel[0..<3].allSatisfy { abs(Double($0) - expected) <= 1.5 })
            #expect(pixel[3] == 255 - level)
        }
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16])
    func aGrayCurveTakesNoColoursAway(_ layout: PixelLayout) throws {
        let converter = try #require(ColorConverter(iccProfile: ICCProfileBytes.gray(.gamma(1)), layout: layout))
        let top = layout.top
        let pixels = try PixelBuffer.make(PixelSize(1, 1), layout, [top, top / 2, 0, top])
        converter.convert(pixels)
        let pixel = pixels.pixel(0, 0)
        #expect(pixel[0] == top && pixel[1] > top * 7 / 10 && pixel[1] < top * 8 / 10 && pixel[2] == 0)
    }

    @Test func aProfileOfSRGBChangesNoPixel() throws {
        for profile in [ICCProfileBytes.rgb(ICCProfileBytes.sRGBColorants, .sRGB), ICCProfileBytes.gray(.sRGB)] {
            let converter = try #require(ColorConverter(iccProfile: profile, layout: .rgba16))
            #expect(converter.isIdentity)
            #expect(ColorConverter(iccProfile: profile, layout: .rgba8)?.isIdentity == true)
            let pixels = try PixelBuffer.random(PixelSize(9, 9), .rgba16, alpha: .straight, seed: 1)
            let before = pixels.channels
            converter.convert(pixels)
            #expect(pixels.channels == before)
        }
        // A profile that is nearly sRGB is converted: gamma 2.2 differs by some levels in dark colours.
        let near = ICCProfileBytes.rgb(ICCProfileBytes.sRGBColorants, .gamma(2.2))
        #expect(ColorConverter(iccProfile: near, layout: .rgba8)?.isIdentity == false)
    }

    @Test func onlyTheRowsThatAreAskedForChange() throws {
        let profile = ICCProfileBytes.rgb(ICCProfileBytes.sRGBColorants, .gamma(1))
        let converter = try #require(ColorConverter(iccProfile: profile, layout: .rgba8))
        let pixels = try PixelBuffer.constant(PixelSize(4, 4), [60, 60, 60, 255])
        converter.convert(pixels, rows: 1..<3)
        #expect(pixels.pixel(0, 0)[0] == 60 && pixels.pixel(3, 3)[0] == 60)
        #expect(pixels.pixel(0, 1)[0] > 100 && pixels.pixel(3, 2)[0] > 100)
        converter.convert(pixels, rows: 3..<900)
        #expect(pixels.pixel(0, 3)[0] > 100)
    }

    @Test func invalidAndUnsuitableProfilesGiveNoConverter() {
        let good = ICCProfileBytes.rgb(ICCProfileBytes.displayP3Colorants, .sRGB)
        #expect(ColorConverter(iccProfile: [], layout: .rgba8) == nil)
        #expect(ColorConverter(iccProfile: [UInt8](repeating: 7, count: 500), layout: .rgba8) == nil)
        for (space, kind) in [("CMYK", "prtr"), ("Lab ", "abst"), ("RGB ", "link"), ("RGB ", "nmcl"), ("XYZ ", "spac")]
        {
            let profile = ICCProfileBytes.rgb(ICCProfileBytes.displayP3Colorants, .sRGB, space: space, kind: kind)
            #expect(ColorConverter(iccProfile: profile, layout: .rgba8) == nil, "\(space) \(kind)")
        }
        #expect(ColorConverter(iccProfile: Array(good.prefix(140)), layout: .rgba8) == nil)
    }

    @Test func damagedProfilesNeverCrash() throws {
        var random = SeededGenerator(seed: 5)
        let good = [
            ICCProfileBytes.rgb(ICCProfileBytes.displayP3Colorants, .sRGB), ICCProfileBytes.gray(.gamma(1.8)),
        ]
        let pixels = try PixelBuffer.random(PixelSize(16, 2), alpha: .straight, seed: 6)
        for round in 0..<600 {
            var bytes = good[round % 2]
            if round % 3 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            for _ in 0..<Int.random(in: 1...12, using: &random) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let alphas = stride(from: 3, to: 128, by: 4).map { pixels.channels[$0] }
            ColorConverter(iccProfile: bytes, layout: .rgba8)?.convert(pixels)
            #expect(stride(from: 3, to: 128, by: 4).map { pixels.channels[$0] } == alphas)
        }
    }

    @Test func oneConverterServesManyThreads() async throws {
        let profile = ICCProfileBytes.rgb(ICCProfileBytes.displayP3Colorants, .sRGB)
        let converter = try #require(ColorConverter(iccProfile: profile, layout: .rgba8))
        let expected = try PixelBuffer.random(PixelSize(50, 50), alpha: .straight, seed: 7)
        converter.convert(expected)
        let channels = expected.channels
        let results = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let pixels = try PixelBuffer.random(PixelSize(50, 50), alpha: .straight, seed: 7)
                    converter.convert(pixels)
                    return pixels.channels
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 8 && results.allSatisfy { $0 == channels })
    }

    @Test func theConvertersUsedLastAreKept() throws {
        let cache = ColorConverterCache(capacity: 2)
        let profiles = [1.0, 1.5, 1.8].map { ICCProfileBytes.rgb(ICCProfileBytes.sRGBColorants, .gamma($0)) }
        let first = try cache.converter(for: profiles[0], layout: .rgba8)
        let second = try cache.converter(for: profiles[1], layout: .rgba8)
        #expect(first != nil && second != nil && first !== second)
        let again = try cache.converter(for: profiles[0], layout: .rgba8)
        #expect(again === first)
        let deep = try cache.converter(for: profiles[0], layout: .rgba16)
        #expect(deep?.layout == .rgba16)
        let kept = try cache.converter(for: profiles[0], layout: .rgba8)
        #expect(kept === first, "it was used after the second")
        let remade = try cache.converter(for: profiles[1], layout: .rgba8)
        #expect(remade !== second, "it was used longest ago")
        for _ in 0..<2 {
            let none = try cache.converter(for: [1, 2, 3], layout: .rgba8)
            #expect(none == nil)
        }
    }

    /// lcms2 may take long for a stranger's profile. Other converters can be asked for meanwhile; here the maker itself
    /// does so.
    @Test func noLockIsHeldWhileAConverterIsMade() throws {
        let (slow, quick) = (
            ICCProfileBytes.rgb(ICCProfileBytes.sRGBColorants, .gamma(1.1)),
            ICCProfileBytes.rgb(ICCProfileBytes.sRGBColorants, .gamma(1.9))
        )
        let maker = NestedMaker()
        let cache = ColorConverterCache(capacity: 4) { maker.make($0, $1) }
        maker.whileMaking = { [unowned cache] in
            [try? cache.converter(for: quick, layout: .rgba8), try? cache.converter(for: slow, layout: .rgba8)]
        }
        let first = try cache.converter(for: slow, layout: .rgba8)
        #expect(maker.nested.count == 2 && maker.nested[0] != nil && maker.count == 3)
        #expect(try cache.converter(for: quick, layout: .rgba8) === maker.nested[0])
        // Both concurrent requests for the slow profile get the converter that was finished first.
        #expect(first != nil && first === maker.nested[1])
        #expect(try cache.converter(for: slow, layout: .rgba8) === first)
    }

    /// A converter that could not be made because of an error is tried again.
    @Test func aFailureToMakeAConverterIsNotCached() throws {
        let maker = NestedMaker()
        let isReady = Guarded(false)
        let cache = ColorConverterCache { (colors, layout) throws(WebImageError) in
            guard isReady.withLock({ $0 }) else { throw WebImageError(.decoderUnavailable, "not yet") }
            return maker.make(colors, layout)
        }
        let profile = ICCProfileBytes.rgb(ICCProfileBytes.sRGBColorants, .gamma(1.1))
        #expect(throws: WebImageError.self) { _ = try cache.converter(for: profile, layout: .rgba8) }
        isReady.withLock { $0 = true }
        #expect(try cache.converter(for: profile, layout: .rgba8) != nil)
    }

    /// Profiles of printers and cameras are long, because they contain tables. Their converters were once not cached:
    /// each picture had its own made, under the lock.
    @Test func longProfilesAreKeptWithinALimit() throws {
        let maker = NestedMaker()
        let cache = ColorConverterCache(capacity: 8, profileLimit: .kibibytes(400)) { maker.make($0, $1) }
        let profile = { (gamma: Double, count: Int) in
            let bytes = ICCProfileBytes.rgb(ICCProfileBytes.sRGBColorants, .gamma(gamma))
            return bytes + [UInt8](repeating: 7, count: count - bytes.count)
        }
        let long = [1.2, 1.4, 1.6].map { profile($0, 130 << 10) }
        for bytes in long + long { _ = try cache.converter(for: bytes, layout: .rgba8) }
        #expect(maker.count == 3 && cache.profileByteCount == ByteCount(3 * 130 << 10))
        // A fourth profile evicts the one that was used longest ago.
        _ = try cache.converter(for: profile(1.7, 130 << 10), layout: .rgba8)
        #expect(cache.profileByteCount == ByteCount(3 * 130 << 10))
        _ = try cache.converter(for: long[2], layout: .rgba8)
        #expect(maker.count == 4)
        _ = try cache.converter(for: long[0], layout: .rgba8)
        #expect(maker.count == 5)
        // A profile that is longer than the whole limit is not kept and evicts none.
        for _ in 0..<2 { _ = try cache.converter(for: profile(1.8, 500 << 10), layout: .rgba8) }
        #expect(maker.count == 7 && cache.profileByteCount == ByteCount(3 * 130 << 10))
    }
}

/// Makes and counts converters, and calls `whileMaking` while it makes the first. Sendable because a test uses it on
/// one thread only.
private final class NestedMaker: @unchecked Sendable {
    var count = 0
    var whileMaking: (() -> [ColorConverter?])?
    var nested: [ColorConverter?] = []

    func make(_ colors: PixelColors, _ layout: PixelLayout) -> ColorConverter? {
        count += 1
        if let whileMaking {
            self.whileMaking = nil
            nested = whileMaking()
        }
        return ColorConverter(colors: colors, layout: layout)
    }
}
