extension ImageFormat {
    /// How many of the first bytes `init(sniffing:)` needs for a reliable answer.
    public static let sniffingLength = 4096

    /// Recognises the format of a picture by its first bytes, whatever its name; nil for unknown formats.
    ///
    /// Accepts any bytes, reads no byte twice, and looks at no more than ``sniffingLength`` bytes.
    public init?(sniffing bytes: UnsafeRawBufferPointer) {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.sniffingLength))
        guard let format = Self.bySignature(bytes) ?? Self.byBrand(bytes) ?? Self.byText(bytes) else { return nil }
        self = format
    }

    /// Recognises the format of a picture by its first bytes; nil for unknown formats.
    public init?(sniffing bytes: [UInt8]) {
        guard let format = bytes.withUnsafeBytes({ ImageFormat(sniffing: $0) }) else { return nil }
        self = format
    }

    private static func bySignature(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return pngOrAPNG(bytes) }
        if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) { return .gif }
        if bytes.starts(with: "RIFF".utf8), bytes.has("WEBP", at: 8) { return .webp }
        if bytes.starts(with: [0xFF, 0x0A]) { return .jxl }
        if bytes.starts(with: [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]) { return .jxl }
        if bytes.starts(with: [0x49, 0x49, 0x2A, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 0x2A]) { return .tiff }
        if bytes.starts(with: [0x49, 0x49, 0x2B, 0, 8, 0, 0, 0]) { return .bigTIFF }
        if bytes.starts(with: [0x4D, 0x4D, 0, 0x2B, 0, 8, 0, 0]) { return .bigTIFF }
        if bytes.starts(with: "qoif".utf8) { return .qoi }
        if isPDF(bytes) { return .pdf }
        if isBMP(bytes) { return .bmp }
        if let icon = iconFormat(bytes) { return icon }
        if isPNM(bytes) { return .pnm }
        return nil
    }

    /// APNG when an `acTL` chunk comes before the first `IDAT` (APNG specification, "Structure").
    private static func pngOrAPNG(_ bytes: UnsafeRawBufferPointer) -> ImageFormat {
        var at = 8
        while at + 8 <= bytes.count {
            if bytes.has("acTL", at: at + 4) { return .apng }
            if bytes.has("IDAT", at: at + 4) { return .png }
            let (next, overflow) = at.addingReportingOverflow(Int(bytes.bigEndian32(at: at)) + 12)
            if overflow { break }
            at = next
        }
        return .png
    }

    private static func isBMP(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.starts(with: "BM".utf8), bytes.count >= 18 else { return false }
        let headerSize = bytes.littleEndian32(at: 14)
        return headerSize == 12 || (headerSize >= 16 && headerSize <= 256)
    }

    private static func iconFormat(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        guard bytes.count >= 22, bytes[0] == 0, bytes[1] == 0, bytes[3] == 0, bytes[2] == 1 || bytes[2] == 2
        else { return nil }
        let entries = Int(bytes[4]) | Int(bytes[5]) << 8
        let (size, offset) = (Int(bytes.littleEndian32(at: 14)), Int(bytes.littleEndian32(at: 18)))
        // The byte is reserved, and 0 in all files except those of .NET's writer.
        guard bytes[9] == 0 || bytes[9] == 255 else { return nil }
        guard entries > 0, size > 0, offset >= 6 + 16 else { return nil }
        return bytes[2] == 1 ? .ico : .cur
    }

    /// Whether a PDF begins here. Readers look for its header in the first 1024 bytes (PDF Reference 1.7,
    /// implementation note 13). Only white space and a byte order mark before it are skipped here, since a text may
    /// also contain such a header.
    private static func isPDF(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return bytes[start...].prefix(1024).drop(while: isSpace).starts(with: "%PDF-".utf8)
    }

    private static func isPNM(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 3, bytes[0] == UInt8(ascii: "P") else { return false }
        let isKind = (UInt8(ascii: "1")...UInt8(ascii: "7")).contains(bytes[1])
        // PFM. In a text, a line that begins like this has no number next.
        let isFloat = bytes[1] | 0x20 == UInt8(ascii: "f") && (bytes.count < 4 || (0x30...0x39).contains(bytes[3]))
        return (isKind || isFloat) && isSpace(bytes[2]) || isKind && bytes[2] == UInt8(ascii: "#")
    }

    /// Recognises ISO base media files (HEIF, AVIF) by the brands of the `ftyp` box. The major brand comes first, then
    /// the compatible ones, since many AVIF and HEIC files have the general `mif1` or `msf1` as their major brand.
    private static func byBrand(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        guard bytes.count >= 12, bytes.has("ftyp", at: 4) else { return nil }
        let length = min(Int(bytes.bigEndian32(at: 0)), bytes.count)
        var brands = [brand(bytes, at: 8)]
        var at = 16
        while at + 4 <= length {
            brands.append(brand(bytes, at: at))
            at += 4
        }
        switch brands[0] {
        case "avis": return .avifSequence
        case "avif": return .avif
        case "heic", "heix", "heim", "heis": return .heic
        case "hevc", "hevx": return .heicSequence
        default: break
        }
        guard brands.contains(where: { ["mif1", "msf1", "mif2", "miaf"].contains($0) }) else { return nil }
        if brands.contains("avis") { return .avifSequence }
        if brands.contains("avif") { return .avif }
        if brands[0] == "msf1", brands.contains(where: { ["hevc", "hevx"].contains($0) }) { return .heicSequence }
        return .heif
    }

    private static func brand(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> String {
        String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
    }

    private static func byText(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        if bytes.starts(with: [0x1F, 0x8B, 0x08]) {
            let text = GzipPrefix.inflate(bytes, limit: sniffingLength)
            return text.withUnsafeBytes { SVGProlog.leadsToSVG($0, isCut: text.count >= sniffingLength) } ? .svgz : nil
        }
        return SVGProlog.leadsToSVG(bytes, isCut: bytes.count >= sniffingLength) ? .svg : nil
    }
}

func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

extension UnsafeRawBufferPointer {
    func has(_ text: StaticString, at offset: Int) -> Bool {
        guard offset >= 0, offset <= count - text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[offset + index] != text.utf8Start[index] { return false }
        return true
    }

    func bigEndian32(at offset: Int) -> UInt32 {
        UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
            | UInt32(self[offset + 3])
    }

    func littleEndian32(at offset: Int) -> UInt32 { bigEndian32(at: offset).byteSwapped }
}
