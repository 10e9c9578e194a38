import CSysLCMS2
import WebImageCore

/// A transform of lcms2 from a profile to sRGB, over pixels in place.
final class ColorTransform: @unchecked Sendable {
    // Sendable: lcms2 only reads a transform that was made without its one-pixel cache.
    /// True for a profile of gray pictures: the red channel is read, and the other two should equal it.
    let isGray: Bool
    private let context: cmsContext
    private let transform: cmsHTRANSFORM
    private let bytesPerPixel: Int

    /// - Parameter isProbe: for few colours, exactly: lcms2 then does not prepare for many, which takes it some
    ///   milliseconds.
    init?(_ iccProfile: [UInt8], _ layout: PixelLayout, isProbe: Bool = false) {
        guard iccProfile.count >= 128, let length = UInt32(exactly: iccProfile.count) else { return nil }
        // A context of its own: the error handler belongs to the context, and the default one to the whole process.
        guard let context = cmsCreateContext(nil, nil) else { return nil }
        cmsSetLogErrorHandlerTHR(context, { _, _, _ in })
        guard let made = Self.make(context, iccProfile, length, layout, isProbe) else {
            cmsDeleteContext(context)
            return nil
        }
        (transform, isGray) = made
        self.context = context
        bytesPerPixel = layout.bytesPerPixel
    }

    deinit {
        cmsDeleteTransform(transform)
        cmsDeleteContext(context)
    }

    /// Converts `count` pixels; alpha stays as it is.
    func apply(to pixels: UnsafeMutableRawPointer, count: Int) {
        var (at, left) = (pixels, count)
        while left > 0 {
            let run = min(left, 1 << 20)
            cmsDoTransform(transform, at, at, UInt32(run))
            at += run * bytesPerPixel
            left -= run
        }
    }

    private static func make(
        _ context: cmsContext, _ bytes: [UInt8], _ length: UInt32, _ layout: PixelLayout, _ isProbe: Bool
    ) -> (cmsHTRANSFORM, isGray: Bool)? {
        guard let profile = cmsOpenProfileFromMemTHR(context, bytes, length) else { return nil }
        defer { cmsCloseProfile(profile) }
        let space = cmsGetColorSpace(profile)
        let classes = [cmsSigInputClass, cmsSigDisplayClass, cmsSigOutputClass, cmsSigColorSpaceClass]
        guard space == cmsSigRgbData || space == cmsSigGrayData, classes.contains(cmsGetDeviceClass(profile)),
            let sRGB = cmsCreate_sRGBProfileTHR(context)
        else { return nil }
        defer { cmsCloseProfile(sRGB) }
        let isGray = space == cmsSigGrayData
        // The channels beyond the colour's are left alone, which in place keeps alpha.
        let rgb = pixelType(UInt32(PT_RGB), channels: 3, extra: 1, layout)
        let gray = pixelType(UInt32(PT_GRAY), channels: 1, extra: 3, layout)
        let flags = UInt32(cmsFLAGS_NOCACHE) | (isProbe ? UInt32(cmsFLAGS_NOOPTIMIZE) : 0)
        let transform = cmsCreateTransformTHR(
            context, profile, isGray ? gray : rgb, sRGB, rgb, UInt32(INTENT_PERCEPTUAL), flags)
        return transform.map { ($0, isGray) }
    }

    /// What lcms2's `TYPE_…` macros make of their parts (lcms2.h, "Pixel types"), which Swift does not see.
    private static func pixelType(_ space: UInt32, channels: UInt32, extra: UInt32, _ layout: PixelLayout) -> UInt32 {
        space << 16 | extra << 7 | channels << 3 | (layout == .rgba8 ? 1 : 2)
    }
}
