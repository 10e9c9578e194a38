import CPixels
package import WebImageCore

// Methods that change pixels in place are for buffers that no image holds yet.
extension PixelBuffer {
    private var bytes: UnsafeMutablePointer<UInt8> { base.assumingMemoryBound(to: UInt8.self) }
    private var words: UnsafeMutablePointer<UInt16> { base.assumingMemoryBound(to: UInt16.self) }
    private var count: Int { size.width * size.height }

    /// Whether every alpha is the maximum; stops at the first run of pixels that has another one.
    package var isOpaque: Bool {
        switch layout {
        case .rgba8: wi_is_opaque_8(bytes, count) == 1
        case .rgba16: wi_is_opaque_16(words, count) == 1
        }
    }

    /// Whether red, green and blue of every pixel are equal; stops at the first run of pixels that differ.
    package var isGray: Bool {
        switch layout {
        case .rgba8: wi_is_gray_8(bytes, count) == 1
        case .rgba16: wi_is_gray_16(words, count) == 1
        }
    }

    /// Multiplies the colours of straight pixels by their alpha, in place, to the nearest value.
    package func premultiply() {
        switch layout {
        case .rgba8: wi_premultiply_8(bytes, count)
        case .rgba16: wi_premultiply_16(words, count)
        }
    }

    /// Divides the colours of premultiplied pixels by their alpha, in place, to the nearest value. Invisible pixels
    /// become transparent black.
    package func unpremultiply() {
        switch layout {
        case .rgba8: wi_unpremultiply_8(bytes, count)
        case .rgba16: wi_unpremultiply_16(words, count)
        }
    }

    /// Composites the pixels over `color`, in place; afterwards they are opaque.
    ///
    /// - Parameter alpha: the present alpha mode.
    package func flatten(onto color: RGBColor, alpha: AlphaMode) {
        guard alpha != .opaque else { return }
        let isPremultiplied: Int32 = alpha == .premultiplied ? 1 : 0
        let channels = [color.red, color.green, color.blue]
        switch layout {
        case .rgba8: wi_flatten_8(bytes, count, channels, isPremultiplied)
        case .rgba16: wi_flatten_16(words, count, channels.map { UInt16($0) * 257 }, isPremultiplied)
        }
    }
}

extension PixelBuffer {
    /// The pixels with 8 bits a channel, rounded to the nearest value; this buffer if it has 8 bits already.
    package func narrowed() throws(WebImageError) -> PixelBuffer {
        guard layout == .rgba16 else { return self }
        let result = try PixelBuffer(size: size, layout: .rgba8)
        wi_narrow(result.bytes, words, count * 4)
        return result
    }

    /// The pixels in a layout; this buffer if it has that layout already.
    package func inLayout(_ layout: PixelLayout) throws(WebImageError) -> PixelBuffer {
        layout == .rgba8 ? try narrowed() : try widened()
    }

    /// The pixels with 16 bits a channel; this buffer if it has 16 bits already.
    package func widened() throws(WebImageError) -> PixelBuffer {
        guard layout == .rgba8 else { return self }
        let result = try PixelBuffer(size: size, layout: .rgba16)
        wi_widen(result.words, bytes, count * 4)
        return result
    }
}
