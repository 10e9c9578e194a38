public import WebImageCore

/// The formats of Netpbm: PBM, PGM and PPM as text and as bytes (P1 to P6), and PAM (P7).
public struct PNMCoder: ImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.pnm] }
    public var encodableFormats: Set<ImageFormat> { [.pnm] }
    public var losslessFormats: Set<ImageFormat> { encodableFormats }

    public func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        PNMDecoder(options, plan: plan)
    }

    /// The same pixels as PPM (P6) for opaque pictures, else as PAM (P7, `RGB_ALPHA`); 16 bits where the picture has
    /// them. There is no place for an orientation, so that pixels are turned upright, nor for a profile.
    ///
    /// - Throws: `cannotEncode` for another format.
    public func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard format == .pnm else {
            throw WebImageError(.cannotEncode, "the PNM coder does not write \(format.rawValue)", format: format)
        }
        let plain = try image.plain()
        let isWide = plain.layout == .rgba16
        let hasAlpha = plain.alpha != .opaque
        let (width, height, most) = (plain.size.width, plain.size.height, isWide ? 65_535 : 255)
        let header =
            hasAlpha
            ? "P7\nWIDTH \(width)\nHEIGHT \(height)\nDEPTH 4\nMAXVAL \(most)\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
            : "P6\n\(width) \(height)\n\(most)\n"
        var output = Array(header.utf8)
        let channels = hasAlpha ? 4 : 3
        output.reserveCapacity(output.count + width * height * channels * (isWide ? 2 : 1))
        plain.withPixels { pixels in
            if isWide {
                for (index, word) in pixels.bindMemory(to: UInt16.self).enumerated() where index & 3 < channels {
                    output.append(UInt8(word >> 8))
                    output.append(UInt8(truncatingIfNeeded: word))
                }
            } else {
                for (index, byte) in pixels.enumerated() where index & 3 < channels { output.append(byte) }
            }
        }
        return output
    }
}
