import CPixels

/// Opaque RGBA of pixels that have three channels of 8 bits.
package enum PixelExpansion {
    /// Of red, green and blue. `pixels` takes four bytes for each of `count`, and is not where `source` is.
    package static func expandRGB(
        _ source: UnsafePointer<UInt8>, into pixels: UnsafeMutableRawPointer, count: Int
    ) {
        wi_expand_rgb(pixels.assumingMemoryBound(to: UInt8.self), source, count)
    }

    /// Of blue, green and red.
    package static func expandBGR(
        _ source: UnsafePointer<UInt8>, into pixels: UnsafeMutableRawPointer, count: Int
    ) {
        wi_expand_bgr(pixels.assumingMemoryBound(to: UInt8.self), source, count)
    }
}
