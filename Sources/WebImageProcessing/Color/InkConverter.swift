import CSysLCMS2
import WebImageCore

/// Brings amounts of four inks to sRGB, as an ICC profile of a printer says, by Little CMS. Unchanging; any thread may use
/// it.
package struct InkConverter: Sendable {
    private let transform: SRGBTransform

    /// - Parameter iccProfile: nothing about its bytes is trusted.
    /// - Returns: nil when they are no profile of four inks that can be used.
    package init?(iccProfile: [UInt8]) {
        let transform = SRGBTransform(.rgba8, intent: INTENT_PERCEPTUAL) { context in
            let profile = SRGBTransform.open(iccProfile, context) { cmsGetColorSpace($0) == cmsSigCmykData }
            return profile.map { ($0, SRGBTransform.pixelType(UInt32(PT_CMYK), channels: 4, extra: 0, .rgba8)) }
        }
        guard let transform else { return nil }
        self.transform = transform
    }

    /// Turns `count` pixels of cyan, magenta, yellow and black, 0 for no ink and 255 for all, into opaque RGBA in place.
    package func convert(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
        transform.apply(to: pixels, count: count)
        for index in 0..<count { pixels[index * 4 + 3] = 255 }
    }
}
