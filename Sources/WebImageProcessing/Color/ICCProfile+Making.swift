import CSysLCMS2
package import WebImageCore

extension ICCProfile {
    /// Makes a profile for colours that a file describes in another way. Nil for sRGB, for unsupported colours, and for
    /// high dynamic range, which profiles do not describe well.
    ///
    /// The curves of BT.709 and BT.2020 count as sRGB's, as in browsers: such pictures were made for screens, not with
    /// a camera's curve.
    package static func bytes(for colors: PixelColors) -> [UInt8]? {
        switch colors {
        case .profile(let bytes): return bytes
        case .described(let description):
            guard !description.isHighDynamicRange, let primaries = RGBPrimaries(codePoint: description.primaries)
            else { return nil }
            switch description.transfer {
            case 0, 1, 2, 6, 13, 14, 15: return bytes(primaries, exponent: nil)
            case 4: return bytes(primaries, exponent: 2.2)
            case 5: return bytes(primaries, exponent: 2.8)
            case 8: return bytes(primaries, exponent: 1)
            default: return nil
            }
        case .calibrated(let calibration):
            let primaries = calibration.chromaticities.map { RGBPrimaries($0) } ?? .sRGB
            // A pure power law within five percent of sRGB's curve counts as sRGB's; libpng has the same threshold.
            let isStandard = calibration.decodingExponent.map { abs($0 / 2.2 - 1) <= 0.05 } ?? true
            return bytes(primaries, exponent: isStandard ? nil : calibration.decodingExponent)
        }
    }

    /// - Parameter exponent: the exponent of a power law; nil means sRGB's curve.
    private static func bytes(_ primaries: RGBPrimaries, exponent: Double?) -> [UInt8]? {
        guard primaries.points.count == 4, primaries.isSound, exponent.map({ (0.1...10).contains($0) }) ?? true,
            exponent != nil || !primaries.isNearly(.sRGB), let context = cmsCreateContext(nil, nil)
        else { return nil }
        defer { cmsDeleteContext(context) }
        cmsSetLogErrorHandlerTHR(context, { _, _, _ in })
        func point(_ index: Int) -> cmsCIExyY {
            cmsCIExyY(x: primaries.points[index].x, y: primaries.points[index].y, Y: 1)
        }
        var white = point(0)
        var colorants = cmsCIExyYTRIPLE(Red: point(1), Green: point(2), Blue: point(3))
        // lcms2's types of curves: 1 is a power law, 4 is that of IEC 61966-2-1.
        let parameters = exponent.map { [$0] } ?? [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
        guard let curve = cmsBuildParametricToneCurve(context, exponent == nil ? 4 : 1, parameters) else { return nil }
        defer { cmsFreeToneCurve(curve) }
        var curves: [OpaquePointer?] = [curve, curve, curve]
        guard let profile = cmsCreateRGBProfileTHR(context, &white, &colorants, &curves) else { return nil }
        return closing(profile)
    }

    /// Converts a gray profile to an RGB profile that describes grays in the same way, for gray files that are written
    /// in colour.
    ///
    /// - Returns: nil if the profile is not gray, or has tables.
    package static func rgb(ofGray profile: [UInt8]) -> [UInt8]? {
        guard let gray = CurveProfile(profile), gray.isGray, let context = cmsCreateContext(nil, nil) else {
            return nil
        }
        defer { cmsDeleteContext(context) }
        cmsSetLogErrorHandlerTHR(context, { _, _, _ in })
        return gray.openAsRGB(context).flatMap(closing)
    }

    private static func closing(_ profile: cmsHPROFILE) -> [UInt8]? {
        defer { cmsCloseProfile(profile) }
        var count: UInt32 = 0
        guard cmsSaveProfileToMem(profile, nil, &count) != 0, count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        return cmsSaveProfileToMem(profile, &bytes, &count) != 0 ? bytes : nil
    }
}

extension ImageHeader {
    /// The colours of unconverted pixels, for a picture that is made from them: a profile, or code points if no profile
    /// suffices. A CMYK profile does not describe the RGB that decoders produce, and a gray one only describes gray
    /// pictures.
    package var colorsOfPixels: (profile: [UInt8]?, description: ColorDescription?) {
        switch colors {
        case .profile(let profile):
            let space = String(decoding: profile[16..<20], as: UTF8.self)
            return (space == "RGB " || space == "GRAY" && colorModel == .gray ? profile : nil, nil)
        case .described(let description) where description.isHighDynamicRange: return (nil, description)
        default: return (colors.flatMap { ICCProfile.bytes(for: $0) }, nil)
        }
    }
}
