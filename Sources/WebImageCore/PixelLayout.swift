/// The memory layout of one pixel.
public enum PixelLayout: UInt8, Hashable, Sendable, Codable {
    /// Red, green, blue, alpha, one byte each, in this order.
    case rgba8 = 4
    /// Red, green, blue, alpha, two bytes each in the machine's byte order.
    case rgba16 = 8

    public var bytesPerPixel: Int { Int(rawValue) }

    /// Bits of one channel.
    public var bitDepth: Int { bytesPerPixel * 2 }
}

/// What the alpha channel means.
public enum AlphaMode: UInt8, Hashable, Sendable, Codable {
    /// Every alpha is the maximum.
    case opaque
    /// Colour channels are not multiplied by alpha.
    case straight
    /// Colour channels are already multiplied by alpha.
    case premultiplied
}
