import CSysLCMS2
package import WebImageCore

/// Brings CIE L*a*b* to sRGB by Little CMS, its white (that of print, D50) to sRGB's. Unchanging; any thread may use it.
package struct LabConverter: Sendable {
    private let transform: SRGBTransform

    /// - Returns: nil without memory.
    package init?(_ layout: PixelLayout) {
        // Not by a table, which would make white 65 220 of 65 535.
        let transform = SRGBTransform(layout, intent: INTENT_RELATIVE_COLORIMETRIC, isExact: true) { context in
            let pixels = SRGBTransform.pixelType(UInt32(PT_Lab), channels: 3, extra: 1, layout)
            return cmsCreateLab4ProfileTHR(context, nil).map { .profile($0, pixels) }
        }
        guard let transform else { return nil }
        self.transform = transform
    }

    /// Turns `count` pixels of L*, a*, b* (as ICC.1:2010, 6.3.4.2 has them) and alpha into RGBA in place.
    package func convert(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
        transform.apply(to: pixels, count: count)
    }
}
