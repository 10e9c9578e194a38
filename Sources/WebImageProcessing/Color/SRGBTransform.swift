import CSysLCMS2
import WebImageCore

/// A transform of lcms2 to sRGB that changes pixels in place. Immutable; any thread may use it.
final class SRGBTransform: @unchecked Sendable {
    // Sendable: lcms2 only reads a transform that was made without its one-pixel cache.

    /// A profile, which the transform closes, and the layout of its pixels.
    enum Source {
        case profile(cmsHPROFILE, UInt32)
        /// A profile that converts to sRGB by itself.
        case link(cmsHPROFILE, UInt32)
    }

    private let context: cmsContext
    private let transform: cmsHTRANSFORM
    private let bytesPerPixel: Int

    /// - Parameters:
    ///   - layout: the layout of the output; alpha is not changed.
    ///   - isExact: whether to do without the tables that lcms2 otherwise prepares for many colours, which takes some
    ///     milliseconds.
    ///   - source: opens the profile; returns nil if it cannot be used.
    /// - Returns: nil without a source or without memory.
    init?(_ layout: PixelLayout, intent: Int32, isExact: Bool = false, from source: (cmsContext) -> Source?) {
        // A context is made for each transform: the error handler belongs to the context, and the default context is
        // shared by the whole process.
        guard let context = cmsCreateContext(nil, nil) else { return nil }
        cmsSetLogErrorHandlerTHR(context, { _, _, _ in })
        let flags = cmsFLAGS_NOCACHE | (isExact ? cmsFLAGS_NOOPTIMIZE : 0)
        guard let transform = Self.make(context, layout, intent, UInt32(flags), source) else {
            cmsDeleteContext(context)
            return nil
        }
        self.context = context
        self.transform = transform
        bytesPerPixel = layout.bytesPerPixel
    }

    deinit {
        cmsDeleteTransform(transform)
        cmsDeleteContext(context)
    }

    /// Converts `count` pixels, whose size in bytes stays the same.
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
        _ context: cmsContext, _ layout: PixelLayout, _ intent: Int32, _ flags: UInt32,
        _ source: (cmsContext) -> Source?
    ) -> cmsHTRANSFORM? {
        let rgba = pixelType(UInt32(PT_RGB), channels: 3, extra: 1, layout)
        switch source(context) {
        case .link(let profile, let pixels):
            defer { cmsCloseProfile(profile) }
            return cmsCreateTransformTHR(context, profile, pixels, nil, rgba, UInt32(intent), flags)
        case .profile(let profile, let pixels):
            defer { cmsCloseProfile(profile) }
            guard let sRGB = cmsCreate_sRGBProfileTHR(context) else { return nil }
            defer { cmsCloseProfile(sRGB) }
            return cmsCreateTransformTHR(context, profile, pixels, sRGB, rgba, UInt32(intent), flags)
        case nil: return nil
        }
    }

    /// Computes lcms2's `TYPE_…` macros (lcms2.h, "Pixel types"), which Swift does not import. Extra channels are not
    /// changed, so in-place conversion keeps alpha.
    static func pixelType(_ space: UInt32, channels: UInt32, extra: UInt32, _ layout: PixelLayout) -> UInt32 {
        space << 16 | extra << 7 | channels << 3 | (layout == .rgba8 ? 1 : 2)
    }
}

extension SRGBTransform {
    private static let maxSegments = 64

    /// Whether a curve of formulas (`curf`, ICC.1:2010, 10.14.2) has very many segments. lcms2 searches them from the
    /// first one for each of 4096 points, and the same bytes may be the curves of many elements: 8 KB of a packed profile
    /// would take minutes.
    private static func hasLongCurves(_ bytes: [UInt8]) -> Bool {
        let name = Array("curf".utf8)
        var at = 128
        while let found = bytes[at...].firstIndex(of: name[0]) {
            if found + 10 > bytes.count { return false }
            if bytes[found..<found + 4].elementsEqual(name),
                Int(bytes[found + 8]) << 8 | Int(bytes[found + 9]) > maxSegments
            {
                return true
            }
            at = found + 1
        }
        return false
    }

    /// Opens a profile whose bytes are not trusted; nil if it is damaged or `accepts` returns false.
    static func open(
        _ bytes: [UInt8], _ context: cmsContext, accepts: (cmsHPROFILE) -> Bool
    ) -> cmsHPROFILE? {
        guard bytes.count >= 128, let length = UInt32(exactly: bytes.count), !hasLongCurves(bytes),
            let profile = cmsOpenProfileFromMemTHR(context, bytes, length)
        else { return nil }
        if accepts(profile) { return profile }
        cmsCloseProfile(profile)
        return nil
    }
}
