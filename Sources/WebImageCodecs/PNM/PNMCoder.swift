package import WebImageCore

/// The formats of Netpbm: PBM, PGM and PPM as text and as bytes (P1 to P6), PAM (P7), and PFM (PF and Pf), which is
/// only read. PFM is read as 16 bits a channel in linear light, with values from 0 to 1.
package struct PNMCoder: ImageCoder {
    package init() {}

    package var decodableFormats: Set<ImageFormat> { [.pnm] }
    package var timeDependsOnlyOnPixels: Bool { true }
    package var encodableFormats: Set<ImageFormat> { [.pnm] }
    package var losslessFormats: Set<ImageFormat> { encodableFormats }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        PNMDecoder(options, plan: plan)
    }

    /// The same pixels as PPM (P6) for opaque pictures, else as PAM (P7, `RGB_ALPHA`), unless ``EncodeOptions/anymap``
    /// says otherwise; 16 bits if the picture has them. The formats store neither orientation nor profile, so pixels
    /// are rotated upright.
    ///
    /// - Throws: `cannotEncode` for another format, and for lossless encoding that would lose colours or alpha.
    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard format == .pnm else {
            throw WebImageError(.cannotEncode, "the PNM coder does not write \(format.rawValue)", format: format)
        }
        return try PNMEncoder(image, options).encode()
    }
}
