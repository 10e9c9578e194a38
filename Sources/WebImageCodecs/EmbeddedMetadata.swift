package import WebImageCore

/// What an encoder writes besides the pixels.
struct EmbeddedMetadata {
    /// Empty: none. Encoders write RGB, so that a grey or CMYK profile of the original would be a wrong one.
    let profile: [UInt8]
    /// A TIFF block with the orientation; empty for upright pictures.
    let exif: [UInt8]

    init(_ image: Image, _ options: EncodeOptions) {
        let stored = options.embedsICCProfile ? image.info.iccProfile ?? [] : []
        profile = isRGBProfile(stored) ? stored : []
        exif = image.info.orientation == .up ? [] : EXIFOrientation.block(image.info.orientation)
    }
}

extension ImageHeader {
    /// The ICC profile that decoded pixels are in: the file's if it is one for RGB. Decoders turn grey and CMYK into
    /// RGB, so that a profile for those says nothing of the pixels that come out.
    package var profileOfPixels: [UInt8]? { iccProfile.flatMap { isRGBProfile($0) ? $0 : nil } }
}

/// Whether a profile's header (ICC.1:2010, 7.2.6) says RGB.
private func isRGBProfile(_ profile: [UInt8]) -> Bool {
    profile.count >= 128 && profile[16..<20].elementsEqual("RGB ".utf8)
}

/// A C string in an array of fixed length, which Swift sees as a tuple.
func text<Characters>(of characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
