import CPixels

/// Converts the pixels of decoders to RGBA.
package enum PixelExpansion {
    /// Expands red, green and blue. `pixels` has four bytes for each of `count` pixels, and must not overlap `source`.
    package static func expandRGB(
        _ source: UnsafePointer<UInt8>, into pixels: UnsafeMutableRawPointer, count: Int
    ) {
        wi_expand_rgb(pixels.assumingMemoryBound(to: UInt8.self), source, count)
    }

    /// Converts premultiplied words of alpha (highest byte), red, green and blue to straight alpha, or to opaque
    /// pixels.
    package static func expandARGB(
        _ source: UnsafePointer<UInt32>, into pixels: UnsafeMutableRawPointer, count: Int, isOpaque: Bool
    ) {
        let output = pixels.assumingMemoryBound(to: UInt32.self)
        if isOpaque { wi_opaque_argb(output, source, count) } else { wi_straighten_argb(output, source, count) }
    }

    /// Divides colours by alpha, in place. `pixels` are RGBA; the colour of invisible ones becomes 0.
    package static func unpremultiply(_ pixels: UnsafeMutableBufferPointer<UInt8>) {
        if let base = pixels.baseAddress { wi_unpremultiply_8(base, pixels.count / 4) }
    }

    /// Divides colours by alpha as above, for 16 bits a channel.
    package static func unpremultiply(_ pixels: UnsafeMutableBufferPointer<UInt16>) {
        if let base = pixels.baseAddress { wi_unpremultiply_16(base, pixels.count / 4) }
    }

    /// Expands blue, green and red.
    package static func expandBGR(
        _ source: UnsafePointer<UInt8>, into pixels: UnsafeMutableRawPointer, count: Int
    ) {
        wi_expand_bgr(pixels.assumingMemoryBound(to: UInt8.self), source, count)
    }
}
