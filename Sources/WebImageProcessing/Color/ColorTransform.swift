import CSysLCMS2
import WebImageCore

/// Brings pixels from the colours of a profile to sRGB by Little CMS, in place. Unchanging; any thread may use it.
struct ColorTransform: Sendable {
    /// True for a profile of gray pictures: the red channel is read, and the other two should equal it.
    let isGray: Bool
    private let transform: SRGBTransform

    /// - Parameter isProbe: for few colours, exactly.
    init?(_ iccProfile: [UInt8], _ layout: PixelLayout, isProbe: Bool = false) {
        let classes = [cmsSigInputClass, cmsSigDisplayClass, cmsSigOutputClass, cmsSigColorSpaceClass]
        var isGray = false
        let transform = SRGBTransform(layout, intent: INTENT_PERCEPTUAL, isExact: isProbe) { context in
            let profile = SRGBTransform.open(iccProfile, context) { profile in
                isGray = cmsGetColorSpace(profile) == cmsSigGrayData
                return (isGray || cmsGetColorSpace(profile) == cmsSigRgbData)
                    && classes.contains(cmsGetDeviceClass(profile))
            }
            let rgb = SRGBTransform.pixelType(UInt32(PT_RGB), channels: 3, extra: 1, layout)
            let gray = SRGBTransform.pixelType(UInt32(PT_GRAY), channels: 1, extra: 3, layout)
            return profile.map { ($0, isGray ? gray : rgb) }
        }
        guard let transform else { return nil }
        self.transform = transform
        self.isGray = isGray
    }

    /// Converts `count` pixels; alpha stays as it is.
    func apply(to pixels: UnsafeMutableRawPointer, count: Int) { transform.apply(to: pixels, count: count) }
}
