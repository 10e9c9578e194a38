import CSysLCMS2
package import WebImageCore

/// Converts pixels from the colours of an ICC profile to sRGB with Little CMS, and from high dynamic range with a tone
/// curve.
///
/// Only profiles of RGB and gray pictures are supported. A damaged profile does not fail the picture: no converter is
/// made, and the pixels stay unchanged. Immutable; several threads may use it at once.
package final class ColorConverter: Sendable {
    private enum Work: Sendable {
        case nothing
        case transform(ColorTransform)
        case matrix(MatrixConverter)
        /// The output of each level of gray. lcms2's own shortcut for gray is a table of few points, which is several
        /// levels off where a curve is steep.
        case grayLevels([UInt16])
        case tones(ToneMapper)
    }

    package let layout: PixelLayout
    private let work: Work

    /// True if the profile is practically sRGB: nothing is converted.
    package var isIdentity: Bool {
        if case .nothing = work { true } else { false }
    }

    /// - Parameters:
    ///   - iccProfile: the bytes of the profile, which are not trusted.
    ///   - layout: the layout of the pixels to convert.
    /// - Returns: nil if the bytes are not a usable profile of RGB or gray pictures.
    package convenience init?(iccProfile: [UInt8], layout: PixelLayout) {
        self.init(.profile(iccProfile), layout)
    }

    /// - Parameter table: a table for RGB or gray; nil is returned for inks.
    package convenience init?(_ table: ProfileTable, layout: PixelLayout) {
        switch table.space {
        case .rgb: self.init(.table(table), layout)
        case .gray: self.init(grayLevels: Self.grayLevels(table, layout), layout)
        case .inks: return nil
        }
    }

    private init(grayLevels levels: [UInt16], _ layout: PixelLayout) {
        self.layout = layout
        work = Self.isNearly(levels, Self.allLevels(layout), layout.bitDepth) ? .nothing : .grayLevels(levels)
    }

    private init?(_ source: ColorTransform.Source, _ layout: PixelLayout) {
        self.layout = layout
        guard let probe = ColorTransform(source, .rgba16, isProbe: true) else { return nil }
        if probe.isGray {
            let levels = Self.grayLevels(probe, layout)
            work = Self.isNearly(levels, Self.allLevels(layout), layout.bitDepth) ? .nothing : .grayLevels(levels)
        } else if Self.changesNothing(probe) {
            work = .nothing
        } else if layout == .rgba16, let matrix = source.curveProfile.flatMap(MatrixConverter.init) {
            work = .matrix(matrix)
        } else {
            guard let transform = ColorTransform(source, layout) else { return nil }
            work = .transform(transform)
        }
    }

    /// - Returns: nil if nothing is to be converted: for sRGB, and for unsupported colours.
    package convenience init?(colors: PixelColors, layout: PixelLayout) {
        if case .described(let description) = colors, let tones = ToneMapper(description, layout) {
            self.init(tones, layout)
        } else if let profile = ICCProfile.bytes(for: colors) {
            self.init(iccProfile: profile, layout: layout)
        } else {
            return nil
        }
    }

    private init(_ tones: ToneMapper, _ layout: PixelLayout) {
        self.layout = layout
        work = .tones(tones)
    }

    /// Converts opaque or straight pixels in place; alpha stays as it is.
    package func convert(_ pixels: PixelBuffer) {
        convert(pixels, rows: 0..<pixels.size.height)
    }

    /// Converts some rows in place.
    package func convert(_ pixels: PixelBuffer, rows: Range<Int>) {
        precondition(pixels.layout == layout, "the converter was made for another layout")
        for row in rows.clamped(to: 0..<pixels.size.height) {
            switch work {
            case .nothing: return
            case .transform(let transform): transform.apply(to: pixels.row(row), count: pixels.size.width)
            case .matrix(let matrix):
                matrix.apply(to: pixels.row(row).assumingMemoryBound(to: UInt16.self), count: pixels.size.width)
            case .tones(let tones): tones.apply(to: pixels.row(row), count: pixels.size.width, layout)
            case .grayLevels(let levels): Self.look(up: levels, pixels.row(row), pixels.size.width, layout)
            }
        }
    }
}

extension ColorConverter {
    /// Whether the transform leaves a set of test colours nearly unchanged.
    private static func changesNothing(_ transform: ColorTransform) -> Bool {
        let levels: [UInt16] = [0, 4_000, 12_000, 24_000, 38_000, 52_000, 65_535]
        var colors: [UInt16] = []
        for red in levels { for green in levels { for blue in levels { colors += [red, green, blue, 65_535] } } }
        for level in stride(from: UInt16(0), through: 65_000, by: 500) { colors += [level, level, level, 65_535] }
        var converted = colors
        converted.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { transform.apply(to: base, count: colors.count / 4) }
        }
        return isNearly(converted, colors, 16)
    }

    /// Whether two results differ by at most one level of 255, or one and a half before rounding. Profiles that are
    /// called sRGB differ by that much in their primaries and the form of their curve.
    private static func isNearly(_ first: [UInt16], _ second: [UInt16], _ bits: Int) -> Bool {
        let allowed = bits == 8 ? 1 : 385
        return zip(first, second).allSatisfy { abs(Int($0) - Int($1)) <= allowed }
    }

    private static func allLevels(_ layout: PixelLayout) -> [UInt16] {
        Array(0...(layout == .rgba8 ? UInt16(UInt8.max) : UInt16.max))
    }

    /// The output for each level of a gray channel, from a transform of 16-bit pixels.
    private static func grayLevels(_ transform: ColorTransform, _ layout: PixelLayout) -> [UInt16] {
        let scale: UInt16 = layout == .rgba8 ? 257 : 1
        var pixels: [UInt16] = []
        for level in allLevels(layout) { pixels += [level * scale, level * scale, level * scale, 65_535] }
        pixels.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { transform.apply(to: base, count: bytes.count / 8) }
        }
        return stride(from: 1, to: pixels.count, by: 4).map { shortened(pixels[$0], layout) }
    }

    /// The output for each level of a gray channel, from a table.
    private static func grayLevels(_ table: ProfileTable, _ layout: PixelLayout) -> [UInt16] {
        let step = layout == .rgba8 ? 257 : 1
        return stride(from: 0, to: table.levels.count, by: step).map { shortened(table.levels[$0], layout) }
    }

    private static func shortened(_ level: UInt16, _ layout: PixelLayout) -> UInt16 {
        layout == .rgba8 ? UInt16((Int(level) + 128) / 257) : level
    }

    private static func look(
        up levels: [UInt16], _ row: UnsafeMutableRawPointer, _ count: Int, _ layout: PixelLayout
    ) {
        for start in stride(from: 0, to: count * 4, by: 4) {
            switch layout {
            case .rgba8:
                let pixel = row.assumingMemoryBound(to: UInt8.self) + start
                for channel in 0..<3 { pixel[channel] = UInt8(truncatingIfNeeded: levels[Int(pixel[channel])]) }
            case .rgba16:
                let pixel = row.assumingMemoryBound(to: UInt16.self) + start
                for channel in 0..<3 { pixel[channel] = levels[Int(pixel[channel])] }
            }
        }
    }
}
