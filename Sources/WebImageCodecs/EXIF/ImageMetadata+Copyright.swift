public import WebImageCore

extension ImageMetadata {
    /// Only the metadata about the picture's author and rights: EXIF's `Artist` and `Copyright`; XMP's `dc:rights`,
    /// `dc:creator`, `dc:contributor`, `dc:publisher`, and the properties of `xmpRights` and Creative Commons; IPTC's
    /// by-line, credit and copyright notice (2:80, 2:110, 2:116). Empty if there is none.
    public var copyrightOnly: ImageMetadata {
        ImageMetadata(
            exif: copyrightEXIF, xmp: xmp.flatMap(XMPCopyright.packet), iptc: iptc.flatMap(IPTCDatasets.copyrightOnly))
    }

    private var copyrightEXIF: [UInt8]? {
        let details = photo
        let fields: [(tag: UInt16, text: String?)] = [(315, details?.artist), (33432, details?.copyright)]
        let texts = fields.compactMap { field in field.text.map { (field.tag, Array($0.utf8) + [0]) } }
        guard !texts.isEmpty else { return nil }
        // A TIFF header, one directory with its entries sorted by tag, and then the texts.
        var exif: [UInt8] = Array("II*".utf8) + [0, 8, 0, 0, 0, UInt8(texts.count), 0]
        var offset = 8 + 2 + texts.count * 12 + 4
        for (tag, bytes) in texts {
            exif += Self.little(UInt32(tag)).prefix(2) + [2, 0] + Self.little(UInt32(bytes.count))
            if bytes.count <= 4 {
                exif += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
            } else {
                exif += Self.little(UInt32(offset))
                offset += bytes.count + bytes.count % 2
            }
        }
        exif += [0, 0, 0, 0]
        for (_, bytes) in texts where bytes.count > 4 { exif += bytes + [UInt8](repeating: 0, count: bytes.count % 2) }
        return exif
    }

    private static func little(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
