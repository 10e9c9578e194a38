import CSysLCMS2
import WebImageCore

/// Converts pixels from the colours of a profile to sRGB with Little CMS, in place. Immutable; any thread may use it.
struct ColorTransform: Sendable {
    /// The description of the colours.
    enum Source {
        /// Untrusted bytes. lcms2 reads them unless they are a ``CurveProfile``.
        case profile([UInt8])
        /// A table for RGB.
        case table(ProfileTable)

        /// The profile, if it consists of curves and a matrix.
        var curveProfile: CurveProfile? { if case .profile(let bytes) = self { CurveProfile(bytes) } else { nil } }
    }

    /// True for a profile of gray pictures: only the red channel is read; the other two should equal it.
    let isGray: Bool
    private let transform: SRGBTransform

    /// - Parameter isProbe: whether the transform is for few colours and must be exact.
    init?(_ source: Source, _ layout: PixelLayout, isProbe: Bool = false) {
        var isGray = false
        let rgb = SRGBTransform.pixelType(UInt32(PT_RGB), channels: 3, extra: 1, layout)
        let gray = SRGBTransform.pixelType(UInt32(PT_GRAY), channels: 1, extra: 3, layout)
        let transform = SRGBTransform(layout, intent: INTENT_PERCEPTUAL, isExact: isProbe) { context in
            switch source {
            case .table(let table):
                guard table.space == .rgb else { return nil }
                return table.open(context).map { .link($0, rgb) }
            case .profile(let bytes):
                if let simple = CurveProfile(bytes) {
                    isGray = simple.isGray
                    return simple.open(context).map { .profile($0, isGray ? gray : rgb) }
                }
                let classes = [cmsSigInputClass, cmsSigDisplayClass, cmsSigOutputClass, cmsSigColorSpaceClass]
                let profile = SRGBTransform.open(bytes, context) { profile in
                    isGray = cmsGetColorSpace(profile) == cmsSigGrayData
                    return (isGray || cmsGetColorSpace(profile) == cmsSigRgbData)
                        && classes.contains(cmsGetDeviceClass(profile))
                }
                return profile.map { .profile($0, isGray ? gray : rgb) }
            }
        }
        guard let transform else { return nil }
        self.transform = transform
        self.isGray = isGray
    }

    /// Converts `count` pixels; alpha stays as it is.
    func apply(to pixels: UnsafeMutableRawPointer, count: Int) { transform.apply(to: pixels, count: count) }
}
