import CSysLCMS2
package import WebImageCore

/// Brings CIE L*a*b* to sRGB by Little CMS, its white (that of print, D50) to sRGB's. Unchanging; any thread may use it.
package final class LabConverter: @unchecked Sendable {
    // Sendable: lcms2 only reads a transform that was made without its one-pixel cache.
    private let context: cmsContext
    private let transform: cmsHTRANSFORM

    /// - Returns: nil without memory.
    package init?(_ layout: PixelLayout) {
        guard let context = cmsCreateContext(nil, nil) else { return nil }
        cmsSetLogErrorHandlerTHR(context, { _, _, _ in })
        guard let transform = Self.make(context, bytesPerSample: layout == .rgba16 ? 2 : 1) else {
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

    /// Turns `count` pixels of L*, a*, b* (as ICC.1:2010, 6.3.4.2 has them) and alpha into RGBA in place.
    package func convert(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
        cmsDoTransform(transform, pixels, pixels, UInt32(clamping: count))
    }

    private static func make(_ context: cmsContext, bytesPerSample: UInt32) -> cmsHTRANSFORM? {
        guard let lab = cmsCreateLab4ProfileTHR(context, nil) else { return nil }
        defer { cmsCloseProfile(lab) }
        guard let sRGB = cmsCreate_sRGBProfileTHR(context) else { return nil }
        defer { cmsCloseProfile(sRGB) }
        // lcms2.h, "Pixel types": three samples with one channel that is left alone.
        // Not by a table, which would make white 65 220 of 65 535.
        let shape: UInt32 = 1 << 7 | 3 << 3 | bytesPerSample
        return cmsCreateTransformTHR(
            context, lab, UInt32(PT_Lab) << 16 | shape, sRGB, UInt32(PT_RGB) << 16 | shape,
            UInt32(INTENT_RELATIVE_COLORIMETRIC), UInt32(cmsFLAGS_NOCACHE | cmsFLAGS_NOOPTIMIZE))
    }
}
