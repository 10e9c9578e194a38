import CPixels
import CSysLCMS2
package import WebImageCore

/// Converts CIE L*a*b* to sRGB with Little CMS. The white point D50, that of print, becomes sRGB's white. Immutable;
/// any thread may use it.
package struct LabConverter: Sendable {
    private let transform: SRGBTransform

    /// - Returns: nil if there is no memory.
    package init?(_ layout: PixelLayout) {
        // lcms2's table is not used, since it would convert white to 65 220 of 65 535.
        let transform = SRGBTransform(layout, intent: INTENT_RELATIVE_COLORIMETRIC, isExact: true) { context in
            let pixels = SRGBTransform.pixelType(UInt32(PT_Lab), channels: 3, extra: 1, layout)
            return cmsCreateLab4ProfileTHR(context, nil).map { .profile($0, pixels) }
        }
        guard let transform else { return nil }
        self.transform = transform
    }

    /// Converts `count` pixels of L*, a*, b* (encoded as in ICC.1:2010, 6.3.4.2) and alpha to RGBA in place.
    package func convert(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
        transform.apply(to: pixels, count: count)
    }

    /// Converts pixels of 16 bits a channel in place, and rounds the results to 8 bits.
    package func convert(
        _ pixels: UnsafeMutablePointer<UInt16>, count: Int, roundingInto output: UnsafeMutablePointer<UInt8>
    ) {
        transform.apply(to: pixels, count: count)
        wi_narrow(output, pixels, count * 4)
    }
}
