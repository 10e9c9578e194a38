import WebImageCore
import WebImageProcessing

/// What an encoder writes in addition to the pixels.
struct EmbeddedMetadata {
    /// The properties of EXIF that a format also stores elsewhere.
    struct Places: OptionSet {
        let rawValue: Int
        static let orientation = Places(rawValue: 1)
        static let density = Places(rawValue: 2)
        /// The format stores the orientation in the TIFF tag that XMP repeats: both must be equal.
        static let orientationTag = Places(rawValue: 4)
    }

    /// Whether one channel is written for red, green and blue.
    let isGray: Bool
    /// The ICC profile; empty: none. One for other colours than the written ones, such as the inks of the original, is
    /// left out.
    let profile: [UInt8]
    /// The code points of pixels with high dynamic range, if there is no profile.
    let color: ColorDescription?
    /// EXIF as a TIFF block; empty: none. It holds the orientation, unless the format stores that itself; then it says
    /// upright, because some readers apply both.
    private(set) var exif: [UInt8]
    /// Empty: none.
    let xmp: [UInt8]
    /// Empty: none.
    let iptc: [UInt8]
    /// nil if metadata is not kept, or the density is unknown.
    let density: PixelDensity?

    /// - Parameter writesGray: whether the encoder can write gray pictures with one channel.
    init(_ image: Image, _ options: EncodeOptions, formatTells places: Places = [], writesGray: Bool = false) {
        isGray = writesGray && image.isWrittenGray(options)
        let stored = options.embedsICCProfile ? withoutPadding(image.info.iccProfile ?? []) : []
        let inColor = describes("GRAY", stored) ? ICCProfile.rgb(ofGray: stored) ?? [] : stored
        profile = isGray ? stored : describes("RGB ", inColor) ? inColor : []
        color = options.embedsICCProfile && profile.isEmpty ? image.info.colorDescription : nil
        let orientation = places.contains(.orientation) ? .up : image.info.orientation
        guard options.keepsMetadata else {
            exif = orientation == .up ? [] : EXIFOrientation.block(orientation)
            xmp = []
            iptc = []
            density = nil
            return
        }
        let metadata = image.info.metadata
        density = metadata.density
        let repeated = places.contains(.orientationTag) ? image.info.orientation : orientation
        let isStandardColor = profile.isEmpty && color == nil
        let facts = XMPPacket(orientation: repeated, size: image.size, isStandardColor: isStandardColor)
        xmp = metadata.xmp.map(facts.changing) ?? []
        iptc = metadata.iptc ?? []
        exif = EXIFBlock.bytes(
            metadata.exif,
            EXIFBlock.Facts(
                orientation: orientation, density: metadata.density,
                isDensityToldElsewhere: places.contains(.density), size: image.size,
                isStandardColor: isStandardColor))
    }

    /// Adds a JPEG thumbnail to the EXIF block.
    mutating func addThumbnail(_ jpeg: [UInt8]) {
        var block = EXIFBlock(exif) ?? EXIFBlock()
        block.addThumbnail(jpeg)
        exif = block.bytes
    }

    var isEmpty: Bool { profile.isEmpty && exif.isEmpty && xmp.isEmpty }
}

/// A profile states its own length, and some readers take none that has another one.
private func withoutPadding(_ profile: [UInt8]) -> [UInt8] {
    let shortest = 132
    guard profile.count > shortest else { return profile }
    let length = profile.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    return (shortest..<profile.count).contains(length) ? Array(profile.prefix(length)) : profile
}

/// Whether a profile's header (ICC.1:2010, 7.2.6) names the colour space.
func describes(_ colors: String, _ profile: [UInt8]) -> Bool {
    profile.count >= 128 && profile[16..<20].elementsEqual(colors.utf8)
}

/// A C string in an array of fixed length, which Swift imports as a tuple.
func text<Characters>(of characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
