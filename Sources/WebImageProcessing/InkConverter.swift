import CSysLCMS2
import WebImageCore

/// Brings amounts of four inks to sRGB, as an ICC profile of a printer says, by Little CMS. Unchanging; any thread may use
/// it.
package final class InkConverter: @unchecked Sendable {
    // Sendable: lcms2 only reads a transform that was made without its one-pixel cache.
    private let context: cmsContext
    private let transform: cmsHTRANSFORM

    /// - Parameter iccProfile: nothing about its bytes is trusted.
    /// - Returns: nil when they are no profile of four inks that can be used.
    package init?(iccProfile: [UInt8]) {
        guard iccProfile.count >= 128, let length = UInt32(exactly: iccProfile.count) else { return nil }
        // A context of its own: the error handler belongs to the context, and the default one to the whole process.
        guard let context = cmsCreateContext(nil, nil) else { return nil }
        cmsSetLogErrorHandlerTHR(context, { _, _, _ in })
        guard let transform = Self.make(context, iccProfile, length) else {
            cmsDeleteContext(context)
            return nil
        }
        self.context = context
        self.transform = transform
    }

    deinit {
        cmsDeleteTransform(transform)
        cmsDeleteContext(context)
    }

    /// Turns `count` pixels of cyan, magenta, yellow and black, 0 for no ink and 255 for all, into opaque RGBA in place.
    package func convert(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
        cmsDoTransform(transform, pixels, pixels, UInt32(clamping: count))
        for index in 0..<count { pixels[index * 4 + 3] = 255 }
    }

    private static func make(_ context: cmsContext, _ bytes: [UInt8], _ length: UInt32) -> cmsHTRANSFORM? {
        guard let profile = cmsOpenProfileFromMemTHR(context, bytes, length) else { return nil }
        defer { cmsCloseProfile(profile) }
        guard cmsGetColorSpace(profile) == cmsSigCmykData, let sRGB = cmsCreate_sRGBProfileTHR(context) else {
            return nil
        }
        defer { cmsCloseProfile(sRGB) }
        // lcms2.h, "Pixel types": four inks, and three colours with one channel that is left alone, of a byte each.
        let inks = UInt32(PT_CMYK) << 16 | 4 << 3 | 1
        let colors = UInt32(PT_RGB) << 16 | 1 << 7 | 3 << 3 | 1
        return cmsCreateTransformTHR(
            context, profile, inks, sRGB, colors, UInt32(INTENT_PERCEPTUAL), UInt32(cmsFLAGS_NOCACHE))
    }
}
