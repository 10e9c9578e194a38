import CSysLCMS2
import WebImageCore

/// A profile's colours in sRGB at the points of a grid. It holds everything that is needed of a profile with tables, in
/// a form that can be checked. If lcms2 must not read untrusted bytes in this process, another process makes the table.
package struct ProfileTable: Hashable, Sendable {
    package enum Space: UInt8, Hashable, Sendable, CaseIterable {
        case gray, rgb, inks

        /// The number of points along each channel: for gray one for each level, else as many as lcms2 uses for such
        /// transforms.
        var side: Int {
            switch self {
            case .gray: 65_536
            case .rgb: 33
            case .inks: 17
            }
        }

        var channels: Int {
            switch self {
            case .gray: 1
            case .rgb: 3
            case .inks: 4
            }
        }

        /// The numbers at each point: one for gray, which stays gray, else three.
        var results: Int { self == .gray ? 1 : 3 }

        package var levelCount: Int { (0..<channels).reduce(results) { product, _ in product * side } }
    }

    package let space: Space
    /// The values at each point, 16 bits each: red, green and blue, or gray. The last channel of the grid changes
    /// fastest.
    package let levels: [UInt16]

    /// - Returns: nil if the number of levels does not fit the space.
    package init?(_ space: Space, _ levels: [UInt16]) {
        guard levels.count == space.levelCount else { return nil }
        (self.space, self.levels) = (space, levels)
    }

    /// Whether lcms2 would have to read the bytes of a profile, because it has tables or is not supported otherwise.
    package static func isNeeded(for iccProfile: [UInt8]) -> Bool { CurveProfile(iccProfile) == nil }

    /// Makes the table of an RGB, gray or ink profile with lcms2.
    ///
    /// - Returns: nil if the profile cannot be used.
    package init?(iccProfile: [UInt8]) {
        guard let tags = ICCTags(iccProfile) else { return nil }
        if tags.colorSpace == "CMYK" {
            guard let transform = InkConverter.transform(iccProfile, .rgba16, isExact: true) else { return nil }
            self.init(.inks, Self.inkLevels(transform))
        } else {
            guard let transform = ColorTransform(.profile(iccProfile), .rgba16, isProbe: true) else { return nil }
            self.init(
                transform.isGray ? .gray : .rgb,
                transform.isGray ? Self.grayLevels(transform) : Self.rgbLevels(transform))
        }
    }

    private static func level(_ index: Int, of side: Int) -> UInt16 {
        UInt16((index * 65_535 + (side - 1) / 2) / (side - 1))
    }

    /// Passes pixels of four numbers through a transform, and returns the wanted numbers of its output.
    private static func run(
        _ pixels: [UInt16], _ results: Int, _ apply: (UnsafeMutableRawPointer, Int) -> Void
    ) -> [UInt16] {
        var pixels = pixels
        pixels.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { apply(base, bytes.count / 8) }
        }
        // The output has three numbers for gray, which may be tinted. Green counts most.
        let first = results == 1 ? 1 : 0
        return (0..<pixels.count / 4 * results).map { pixels[$0 / results * 4 + $0 % results + first] }
    }

    private static func grayLevels(_ transform: ColorTransform) -> [UInt16] {
        let pixels = (0...UInt16.max).flatMap { [$0, $0, $0, .max] }
        return run(pixels, 1) { transform.apply(to: $0, count: $1) }
    }

    private static func rgbLevels(_ transform: ColorTransform) -> [UInt16] {
        let side = Space.rgb.side
        let steps = (0..<side).map { level($0, of: side) }
        var pixels: [UInt16] = []
        for red in steps { for green in steps { for blue in steps { pixels += [red, green, blue, .max] } } }
        return run(pixels, 3) { transform.apply(to: $0, count: $1) }
    }

    private static func inkLevels(_ transform: SRGBTransform) -> [UInt16] {
        let side = Space.inks.side
        let steps = (0..<side).map { level($0, of: side) }
        var pixels: [UInt16] = []
        for cyan in steps {
            for magenta in steps {
                for yellow in steps { for black in steps { pixels += [cyan, magenta, yellow, black] } }
            }
        }
        return run(pixels, 3) { transform.apply(to: $0, count: $1) }
    }

    /// Builds a profile that converts the table's space to RGB by its grid. Nil for gray, which needs no grid, and
    /// without memory.
    func open(_ context: cmsContext) -> cmsHPROFILE? {
        guard space != .gray, let profile = cmsCreateProfilePlaceholder(context) else { return nil }
        cmsSetDeviceClass(profile, cmsSigLinkClass)
        cmsSetColorSpace(profile, space == .inks ? cmsSigCmykData : cmsSigRgbData)
        cmsSetPCS(profile, cmsSigRgbData)
        let (side, channels) = (UInt32(space.side), UInt32(space.channels))
        guard let pipeline = cmsPipelineAlloc(context, channels, 3) else {
            cmsCloseProfile(profile)
            return nil
        }
        defer { cmsPipelineFree(pipeline) }
        guard let stage = cmsStageAllocCLut16bit(context, side, channels, 3, levels),
            cmsPipelineInsertStage(pipeline, cmsAT_END, stage) != 0,
            cmsWriteTag(profile, cmsSigAToB0Tag, UnsafeRawPointer(pipeline)) != 0
        else {
            cmsCloseProfile(profile)
            return nil
        }
        return profile
    }
}
