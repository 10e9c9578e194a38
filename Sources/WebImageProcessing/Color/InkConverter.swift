import CSysLCMS2
import WebImageCore

/// Converts amounts of four inks to sRGB by the ICC profile of a printer, with Little CMS. Immutable; any thread may
/// use it.
package struct InkConverter: Sendable {
    private let transform: SRGBTransform

    /// - Parameter iccProfile: the bytes of the profile, which are not trusted.
    /// - Returns: nil if they are not a usable profile of four inks.
    package init?(iccProfile: [UInt8]) {
        guard let transform = Self.transform(iccProfile, .rgba8) else { return nil }
        self.transform = transform
    }

    /// - Returns: nil if the table is not for inks.
    package init?(_ table: ProfileTable) {
        guard table.space == .inks else { return nil }
        let transform = SRGBTransform(.rgba8, intent: INTENT_PERCEPTUAL) { context in
            table.open(context).map { .link($0, Self.pixels(.rgba8)) }
        }
        guard let transform else { return nil }
        self.transform = transform
    }

    /// A transform from four inks to a layout with the same number of bytes a pixel.
    static func transform(_ iccProfile: [UInt8], _ layout: PixelLayout, isExact: Bool = false) -> SRGBTransform? {
        SRGBTransform(layout, intent: INTENT_PERCEPTUAL, isExact: isExact) { context in
            let profile = SRGBTransform.open(iccProfile, context) { cmsGetColorSpace($0) == cmsSigCmykData }
            return profile.map { .profile($0, pixels(layout)) }
        }
    }

    private static func pixels(_ layout: PixelLayout) -> UInt32 {
        SRGBTransform.pixelType(UInt32(PT_CMYK), channels: 4, extra: 0, layout)
    }

    /// Converts `count` pixels of cyan, magenta, yellow and black, 0 for no ink and 255 for full ink, to opaque RGBA in
    /// place.
    package func convert(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
        transform.apply(to: pixels, count: count)
        for index in 0..<count { pixels[index * 4 + 3] = 255 }
    }
}
