import CPixels
import Foundation
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageProcessing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Chains of colour transforms from bytes to bytes, compared with 64-bit floats that are rounded once, at the end.
@Suite struct ByteColorsTests {
    private enum Step {
        case matrix(ColorMatrix)
        case power(Double)

        var colorStep: wi_color_step? {
            switch self {
            case .matrix(let matrix): MatrixOperation(matrix: matrix).colorStep
            case .power(let power): wi_color_power(Float(power))
            }
        }

        func apply(_ color: [Double]) -> [Double] {
            switch self {
            case .matrix(let matrix):
                (0..<3).map { row in
                    let sum = (0..<3).reduce(Double(matrix.values[5 * row + 4])) {
                        $0 + Double(matrix.values[5 * row + $1]) * color[$1]
                    }
                    return min(max(sum, 0), 1)
                }
            case .power(let power): color.map { pow($0, power) }
            }
        }
    }

    private static func random(_ random: inout SeededGenerator) -> Step {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: .matrix(.contrast(.random(in: 0.2...3, using: &random)))
        case 1: .matrix(.brightness(.random(in: -0.5...0.5, using: &random)))
        case 2: .matrix(.saturation(.random(in: 0...2, using: &random)))
        case 3: .matrix(.sepia(.random(in: 0...1, using: &random)))
        case 4: .matrix(.hue(degrees: .random(in: 0...360, using: &random)))
        case 5: .matrix(.inverted)
        case 6: .matrix(.gray(.random(in: 0...1, using: &random)))
        default: .power(.random(in: 0.4...2.5, using: &random))
        }
    }

    @Test(arguments: 0..<120) func aChainIsRoundedOnce(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let chain = (0..<Int.random(in: 1...6, using: &random)).map { _ in Self.random(&random) }
        let steps = ColorSteps(steps: chain.compactMap(\.colorStep))
        #expect(steps.steps.count == chain.count)
        // The corners of the colour cube, and random colours.
        let count = 700
        var pixels = [UInt8]((0..<4 * count).map { _ in UInt8.random(in: 0...255, using: &random) })
        for place in 0..<64 {
            pixels[4 * place] = UInt8(place % 4 * 85)
            pixels[4 * place + 1] = UInt8(place / 4 % 4 * 85)
            pixels[4 * place + 2] = UInt8(place / 16 * 85)
        }
        for place in 0..<count { pixels[4 * place + 3] = UInt8([255, 128, 0].randomElement(using: &random) ?? 0) }
        // A power below 1 is steep near black, where it amplifies the rounding errors of 32-bit floats.
        let allowed = 0.56
        for (usesCurve, isOpaque) in [(true, true), (true, false), (false, true), (false, false)] {
            let colors = ByteColors(steps, usesCurve: usesCurve)
            var made = [UInt8](repeating: 7, count: 4 * count)
            colors.apply(from: pixels, to: &made, count: count, isOpaque: isOpaque)
            var worst = 0.0
            for place in 0..<count {
                let alpha = isOpaque ? 255 : pixels[4 * place + 3]
                #expect(made[4 * place + 3] == alpha)
                let color = (0..<3).map { alpha == 0 ? 0 : Double(pixels[4 * place + $0]) / 255 }
                let exact = chain.reduce(color) { $1.apply($0) }
                for part in 0..<3 { worst = max(worst, abs(Double(made[4 * place + part]) - exact[part] * 255)) }
            }
            #expect(worst <= allowed, "\(worst) \(usesCurve) \(isOpaque) \(chain)")
        }
    }

    /// Successive matrices that do not mix channels are one step. Bounds that no colour can exceed are not clamped.
    @Test func adjacentMatricesAreMergedAndNeedlessClampsDropped() throws {
        func steps(_ chain: [ColorMatrix]) -> [wi_color_step] {
            ByteColors(ColorSteps(steps: chain.compactMap { MatrixOperation(matrix: $0).colorStep })).steps
        }
        let long = steps([.contrast(1.4), .brightness(0.2), .inverted, .saturation(1.5), .sepia(1)])
        #expect(long.count == 3)
        #expect(long[0].holds_low == 1 && long[0].holds_high == 1)
        #expect(long[1].holds_low == 1 && long[1].holds_high == 1)
        // Sepia makes nothing darker than black.
        #expect(long[2].holds_low == 0 && long[2].holds_high == 1)
        let gray = steps([.gray(1)])
        #expect(gray.count == 1 && gray[0].holds_low == 0 && gray[0].holds_high == 0)
    }

    /// The factors of such a chain were once multiplied to infinity. Infinity times 0 is not a number, and the process
    /// died.
    @Test(arguments: [PixelLayout.rgba8, .rgba16]) func aLongChainOfFactorsStaysFinite(_ layout: PixelLayout) throws {
        let pixels = try PixelBuffer.random(PixelSize(64, 16), layout, alpha: .opaque, seed: 5)
        let image = Image(pixels: pixels, info: Image.Info(alpha: .opaque))
        func made(_ transform: ImageTransform, _ count: Int) throws -> [Int] {
            try image.transformed(by: Array(repeating: transform, count: count)).pixels.channels
        }
        let nineteen = try made(.contrast(100), 19)
        #expect(try made(.contrast(100), 20) == nineteen)
        #expect(try made(.contrast(100), 200) == nineteen)
        let large = try #require(ColorMatrix((0..<20).map { $0 == 18 ? 1 : $0 % 6 == 0 ? 1000 : 0 }))
        // Black stays black, everything else becomes as bright as possible.
        let top = layout.top
        #expect(try made(.colors(large), 14) == pixels.channels.map { $0 > 0 ? top : 0 })
    }

    /// Matrices of finite numbers whose products are infinite, and matrices with infinite numbers.
    @Test(arguments: [PixelLayout.rgba8, .rgba16]) func theLargestMatricesGivePixels(_ layout: PixelLayout) throws {
        let pixels = try PixelBuffer.random(PixelSize(64, 16), layout, alpha: .opaque, seed: 6)
        let image = Image(pixels: pixels, info: Image.Info(alpha: .opaque))
        func matrix(_ weight: (Int, Int) -> Float) throws -> ColorMatrix {
            try #require(ColorMatrix((0..<20).map { $0 == 18 ? 1 : $0 < 15 ? weight($0 / 5, $0 % 5) : 0 }))
        }
        let most = Float.greatestFiniteMagnitude
        let diagonal = try matrix { $0 == $1 ? most : 0 }
        let mixing = try matrix { $1 < 3 ? ($0 == 2 ? -most : most) : 0 }
        let adding = try matrix { $0 == 0 || $1 == 4 ? most : -most }
        let copying = try matrix { $1 == 0 ? 1 : 0 }
        for chain in [
            [diagonal], [mixing], [adding], [copying, mixing], [mixing, adding, diagonal, mixing],
            [.contrast(100), adding, diagonal], [.contrast(1e300)], [.contrast(1e300), mixing],
            [.contrast(-1e300), mixing], [.contrast(.infinity), diagonal], [.opacity(.infinity), adding],
        ] {
            let made = try image.transformed(by: chain.map { .colors($0) })
            #expect(made.pixels.channels == Self.exact(chain, pixels), "\(chain)")
        }
        #expect(Self.exact([diagonal], pixels) == pixels.channels.map { $0 > 0 ? layout.top : 0 })
        let harsh = try image.transformed(by: [.colors(.contrast(1e300))])
        #expect(harsh.pixels.channels == pixels.channels.map { $0 > layout.top / 2 ? layout.top : 0 })
    }

    /// The channels after matrices, in 64-bit floats that are clamped after each matrix.
    private static func exact(_ chain: [ColorMatrix], _ pixels: PixelBuffer) -> [Int] {
        let (channels, top) = (pixels.channels, Double(pixels.layout.top))
        return stride(from: 0, to: channels.count, by: 4).flatMap { start in
            let color = channels[start..<start + 4].map { Double($0) / top }
            let made = chain.reduce(color) { color, matrix in
                (0..<4).map { row in
                    let terms = zip(matrix.values[5 * row..<5 * row + 5], color + [1])
                    return min(max(terms.reduce(0) { $1.0 == 0 ? $0 : $0 + Double($1.0) * $1.1 }, 0), 1)
                }
            }
            return made.map { Int(exactly: ($0 * top).rounded()) ?? -1 }
        }
    }

    @Test func aMatrixHasTwentyFiniteNumbersHoweverItIsMade() throws {
        let sepia = ColorMatrix.sepia()
        #expect(try JSONDecoder().decode(ColorMatrix.self, from: JSONEncoder().encode(sepia)) == sepia)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ColorMatrix.self, from: Data(#"{"values":[1,0,0]}"#.utf8))
        }
    }

    @Test func powersBehindAMatrixAreACurve() throws {
        guard wi_has_color_curves() != 0 else { return }
        func curve(_ power: Float) -> ColorCurve? {
            let sepia = MatrixOperation(matrix: .sepia(1)).colorStep
            return ByteColors(ColorSteps(steps: [sepia, wi_color_power(power)].compactMap { $0 })).curve
        }
        #expect(curve(2.2)?.stepCount == 1 && curve(0.9)?.stepCount == 1)
        // This curve is too steep near black for a table.
        #expect(curve(0.45) == nil)
    }
}
