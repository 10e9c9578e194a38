import WebImageCore

/// The data before a bitmap's pixels: the file header, and one of the headers of Windows and OS/2.
struct BMPHeader {
    enum Compression: UInt32 {
        case none = 0
        case runs8 = 1
        case runs4 = 2
        case masks = 3
        case alphaMasks = 6
    }

    static let fileHeaderLength = 14

    private(set) var size: PixelSize
    private(set) var isTopDown = false
    private(set) var bitsPerPixel: Int
    private(set) var compression = Compression.none
    /// Red, green, blue, alpha; empty if the pixels are palette indices.
    private(set) var masks: [UInt32] = []
    private(set) var paletteEntryLength = 4
    /// The position of the palette in the file, and the number of colours to read.
    private(set) var paletteOffset = 0
    private(set) var paletteCount = 0
    private(set) var pixelOffset = 0
    private(set) var density: PixelDensity?

    var hasRuns: Bool { compression == .runs4 || compression == .runs8 }
    var hasAlpha: Bool { masks.count == 4 && masks[3] != 0 }
    /// Rows begin at multiples of four bytes.
    var bytesPerRow: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }

    /// How many bytes from the beginning of the file ``init(_:)`` needs; nil if there are too few to determine it.
    static func length(_ start: [UInt8]) throws(WebImageError) -> Int? {
        guard start.count >= fileHeaderLength + 4 else { return nil }
        let length = long(start, 14)
        guard length == 12 || (16...4096).contains(length) else {
            throw WebImageError(.corruptData, "the BMP's header has an impossible length of \(length)", format: .bmp)
        }
        guard length == 40 else { return fileHeaderLength + length }
        guard start.count >= fileHeaderLength + 20 else { return nil }
        // The masks follow the oldest Windows header.
        return fileHeaderLength + length + maskLength(UInt32(long(start, 30)))
    }

    /// - Parameter bytes: the first ``length(_:)`` bytes of the file.
    init(_ bytes: [UInt8]) throws(WebImageError) {
        let length = long(bytes, 14)
        let base = Self.fileHeaderLength
        // Headers that are shorter than Windows' are truncated forms of it; the missing fields are zero.
        let fields = bytes + [UInt8](repeating: 0, count: 64)
        func field(_ offset: Int) -> Int { offset + 4 <= length ? long(fields, base + offset) : 0 }
        if length == 12 {
            size = PixelSize(width: word(bytes, 18), height: word(bytes, 20))
            bitsPerPixel = word(bytes, 24)
            paletteEntryLength = 3
        } else {
            let height = Int(Int32(truncatingIfNeeded: field(8)))
            isTopDown = height < 0
            size = PixelSize(width: Int(Int32(truncatingIfNeeded: field(4))), height: abs(height))
            bitsPerPixel = word(bytes, 28)
            guard let known = Compression(rawValue: UInt32(field(16))), length >= 40 || known.rawValue < 3 else {
                throw WebImageError(
                    .unsupportedFeature, "the BMP's compression \(field(16)) is not supported", format: .bmp)
            }
            compression = known
            density = PixelDensity(
                perMetre: Int(Int32(truncatingIfNeeded: field(24))), Int(Int32(truncatingIfNeeded: field(28))))
        }
        paletteOffset = base + length + (length == 40 ? Self.maskLength(compression.rawValue) : 0)
        try checkBits()
        try readMasks(fields, headerLength: length)
        findPixels(start: long(bytes, 10), colorsUsed: length == 12 ? 0 : field(32))
    }

    private static func maskLength(_ compression: UInt32) -> Int {
        switch Compression(rawValue: compression) {
        case .masks: 12
        case .alphaMasks: 16
        default: 0
        }
    }

    private func checkBits() throws(WebImageError) {
        let fits =
            switch compression {
            case .none: [1, 2, 4, 8, 16, 24, 32].contains(bitsPerPixel)
            case .runs8: bitsPerPixel == 8
            case .runs4: bitsPerPixel == 4
            case .masks, .alphaMasks: bitsPerPixel == 16 || bitsPerPixel == 32
            }
        guard !fits else { return }
        throw WebImageError(
            .corruptData, "the BMP has \(bitsPerPixel) bits a pixel, which its compression does not allow", format: .bmp
        )
    }

    private mutating func readMasks(_ bytes: [UInt8], headerLength: Int) throws(WebImageError) {
        guard bitsPerPixel > 8 else { return }
        guard compression == .masks || compression == .alphaMasks else {
            masks = bitsPerPixel == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF_0000, 0xFF00, 0xFF, 0]
            return
        }
        let hasAlphaMask = compression == .alphaMasks || headerLength >= 56
        masks = (0..<4).map { $0 < 3 || hasAlphaMask ? UInt32(long(bytes, 54 + $0 * 4)) : 0 }
        if bitsPerPixel == 16 { masks = masks.map { $0 & 0xFFFF } }
        guard masks[..<3].contains(where: { $0 != 0 }), masks.allSatisfy(isContiguous) else {
            throw WebImageError(.corruptData, "the BMP's channel masks are none", format: .bmp)
        }
    }

    /// Headers often contradict themselves about palettes: no more colours are read than fit before the pixels, or than
    /// pixels can refer to. Pixels that would begin within the header begin after the palette instead.
    private mutating func findPixels(start: Int, colorsUsed: Int) {
        let most = bitsPerPixel <= 8 ? 1 << bitsPerPixel : 0
        paletteCount = colorsUsed > 0 ? min(colorsUsed, most) : most
        if start > paletteOffset || (start == paletteOffset && most == 0) {
            paletteCount = min(paletteCount, (start - paletteOffset) / paletteEntryLength)
            pixelOffset = start
        } else {
            pixelOffset = paletteOffset + paletteCount * paletteEntryLength
        }
    }
}

/// Whether the set bits are contiguous.
private func isContiguous(_ mask: UInt32) -> Bool {
    guard mask != 0 else { return true }
    let shifted = mask >> UInt32(mask.trailingZeroBitCount)
    return shifted & (shifted &+ 1) == 0
}

private func word(_ bytes: [UInt8], _ offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }

private func long(_ bytes: [UInt8], _ offset: Int) -> Int { word(bytes, offset) | word(bytes, offset + 2) << 16 }
