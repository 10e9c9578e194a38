/// Describes bytes that no coder reads, for error messages: most often they are an error page instead of a picture.
enum UnknownBytes {
    private static let looked = 512

    static func describe(_ prefix: UnsafeRawBufferPointer) -> String {
        if let name = foreignFormat(prefix) { return "\(name) is not among the formats that can be read" }
        return "this is no picture: \(appearance(prefix))"
    }

    /// The name of a known format for which there is no coder.
    private static func foreignFormat(_ prefix: UnsafeRawBufferPointer) -> String? {
        let start = prefix.prefix(16)
        if start.dropFirst(4).starts(with: "ftyp".utf8) {
            let brand = start.dropFirst(8)
            if brand.starts(with: "crx ".utf8) { return "Canon's raw format CR3" }
            return videoBrands.contains { brand.starts(with: $0.utf8) } ? "video (MP4 or QuickTime)" : nil
        }
        return foreignSignatures.first { start.starts(with: $0.signature) }?.name
    }

    /// The beginnings of the brands of videos in an `ftyp` box. HEIF and AVIF pictures have such a box, too.
    private static let videoBrands = ["iso", "mp4", "M4", "avc1", "qt  ", "3g", "dash"]

    /// From the formats' specifications and the "magic" data base of file(1).
    private static let foreignSignatures: [(signature: [UInt8], name: String)] = [
        ([0, 0, 0, 0x0C] + "jP  \r\n".utf8, "JPEG 2000"), ([0xFF, 0x4F, 0xFF, 0x51], "JPEG 2000"),
        ([0x49, 0x49, 0xBC], "JPEG XR"), (Array("8BPS".utf8), "Photoshop's PSD"), (Array("icns".utf8), "Apple's ICNS"),
        (Array("DDS ".utf8), "DirectDraw Surface"), ([0x76, 0x2F, 0x31, 0x01], "OpenEXR"),
        (Array("#?RADIANCE".utf8), "Radiance HDR"), (Array("#?RGBE".utf8), "Radiance HDR"),
        ([0x01, 0xDA, 0x00], "SGI"), ([0x01, 0xDA, 0x01], "SGI"), (Array("%!PS".utf8), "PostScript"),
        (Array("farbfeld".utf8), "farbfeld"), (Array("FLIF".utf8), "FLIF"), (Array("gimp xcf".utf8), "GIMP's XCF"),
        ([0xD7, 0xCD, 0xC6, 0x9A], "Windows Metafile"), (Array("FUJIFILMCCD-RAW".utf8), "Fujifilm's raw format"),
        (Array("/* XPM */".utf8), "XPM"), ([0x1A, 0x45, 0xDF, 0xA3], "video (Matroska or WebM)"),
        ([0xAB] + "KTX ".utf8, "KTX"), ([0x13, 0xAB, 0xA1, 0x5C], "ASTC"),
    ]

    private static func appearance(_ prefix: UnsafeRawBufferPointer) -> String {
        guard !prefix.isEmpty else { return "there are no bytes" }
        let start = trimmed(prefix)
        let lowercased = String(decoding: start, as: UTF8.self).lowercased()
        if ["<!doctype html", "<html", "<head", "<body"].contains(where: lowercased.hasPrefix) {
            return "the bytes look like HTML, perhaps an error page"
        }
        if lowercased.hasPrefix("<?xml") || lowercased.hasPrefix("<") { return "the bytes look like XML or HTML" }
        if lowercased.hasPrefix("{") || lowercased.hasPrefix("[") { return "the bytes look like JSON" }
        if start.allSatisfy({ (0x20...0x7E).contains($0) || (0x09...0x0D).contains($0) }) {
            return "the bytes look like text"
        }
        let first = prefix.prefix(8).map { hexadecimal($0) }.joined(separator: " ")
        return "its first bytes (\(first)) are of no format that is known"
    }

    /// The first bytes without a byte order mark and leading space.
    private static func trimmed(_ prefix: UnsafeRawBufferPointer) -> ArraySlice<UInt8> {
        var start = Array(prefix.prefix(looked))[...]
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { start = start.dropFirst(3) }
        return start.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0\(digits)" : digits
    }
}
