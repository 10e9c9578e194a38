import CPixels

/// RGBA of pixels that decoders have in another form.
package enum PixelExpansion {
    /// Of red, green and blue. `pixels` takes four bytes for each of `count`, and is not where `source` is.
    package static func expandRGB(
        _ source: UnsafePointer<UInt8>, into pixels: UnsafeMutableRawPointer, count: Int
    ) {
        wi_expand_rgb(pixels.assumingMemoryBound(to: UInt8.self), source, count)
    }

    /// Of words of alpha (highest), red, green and blue, colours multiplied by alpha: straight alpha, or opaque.
    package static func expandARGB(
        _ source: UnsafePointer<UInt32>, into pixels: UnsafeMutableRawPointer, count: Int, isOpaque: Bool
    ) {
        let output = pixels.assumingMemoryBound(to: UInt32.self)
        if isOpaque { wi_opaque_argb(output, source, count) } else { wi_straighten_argb(output, source, count) }
    }

    /// Divides colours by alpha, in place. `pixels` are RGBA; the colour of what cannot be seen becomes 0.
    package static func unpremultiply(_ pixels: UnsafeMutableBufferPointer<UInt8>) {
        if let base = pixels.baseAddress { wi_unpremultiply_8(base, pixels.count / 4) }
    }

    /// The same with 16 bits.
    package static func unpremultiply(_ pixels: UnsafeMutableBufferPointer<UInt16>) {
        if let base = pixels.baseAddress { wi_unpremultiply_16(base, pixels.count / 4) }
    }

    /// Of blue, green and red.
    package static func expandBGR(
        _ source: UnsafePointer<UInt8>, into pixels: UnsafeMutableRawPointer, count: Int
    ) {
        wi_expand_bgr(pixels.assumingMemoryBound(to: UInt8.self), source, count)
    }
}
