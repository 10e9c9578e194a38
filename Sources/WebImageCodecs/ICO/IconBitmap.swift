import WebImageCore

/// A bitmap in an icon: a header without a file header, possibly a palette, the colours, and a mask of one bit a pixel;
/// the height in the header counts both.
struct IconBitmap {
    static let coreHeaderLength = 12
    private static let infoHeaderLength = 40
    /// The masks of red, green and blue lie behind the info header, or in the same place of a longer one.
    private static let masksLength = 12
    /// These bytes contain everything except the palette.
    static let headerLength = infoHeaderLength + masksLength
    /// The oldest header, a row of colours and one of the mask: no entry is shorter.
    static let minLength = coreHeaderLength + 4 + 4

    let size: PixelSize
    let bitsPerPixel: Int
    private let isTopDown: Bool
    /// The bits of green in a pixel of 16 bits; red and blue have five.
    private let greenBits: Int
    private let paletteStart: Int
    private let paletteEntryLength: Int
    private let paletteCount: Int
    private let colorStart: Int

    private var colorStride: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }
    private var maskStride: Int { (size.width + 31) / 32 * 4 }
    private var maskStart: Int { colorStart + colorStride * size.height }
    var byteCount: Int { maskStart + maskStride * size.height }

    /// Bits of a channel, if that is a whole number.
    var bitDepth: Int { bitsPerPixel == 16 ? 5 : 8 }

    /// - Parameter bytes: the first ``headerLength`` bytes, or fewer if the entry has no more.
    /// - Throws: `corruptData`, `unsupportedFeature`, `limitExceeded`.
    init(_ bytes: UnsafeRawBufferPointer, _ limits: DecodeLimits, of format: ImageFormat) throws(WebImageError) {
        guard bytes.count >= Self.coreHeaderLength + 4 else {
            throw WebImageError(.truncatedData, "the icon's entry ends within its header", format: format)
        }
        let length = Int(bytes.long(0))
        let isCore = length == Self.coreHeaderLength
        guard isCore || (Self.infoHeaderLength...4096).contains(length) else {
            throw WebImageError(.corruptData, "the icon's entry is neither a PNG nor a bitmap", format: format)
        }
        let hasMasks = !isCore && bytes.count >= 20 && bytes.long(16) == 3
        guard isCore || bytes.count >= (hasMasks ? Self.headerLength : Self.infoHeaderLength) else {
            throw WebImageError(.truncatedData, "the icon's entry ends within its header", format: format)
        }
        let width = isCore ? bytes.word(4) : Int(Int32(bitPattern: bytes.long(4)))
        let height = isCore ? bytes.word(6) : Int(Int32(bitPattern: bytes.long(8)))
        isTopDown = height < 0
        size = PixelSize(width: width, height: abs(height) / 2)
        try limits.check(size, of: format)
        // Much more than any icon has, and small enough not to overflow in products.
        guard max(size.width, size.height) <= 65_535 else {
            throw WebImageError(.corruptData, "the icon's bitmap says that it is \(size)", format: format)
        }
        bitsPerPixel = bytes.word(isCore ? 10 : 14)
        guard isCore || hasMasks || bytes.long(16) == 0 else {
            throw WebImageError(.unsupportedFeature, "compressed bitmaps in icons are not read", format: format)
        }
        let masks = hasMasks ? (0..<3).map { bytes.long(Self.infoHeaderLength + $0 * 4) } : []
        greenBits = masks == [0xF800, 0x7E0, 0x1F] ? 6 : 5
        let usual: [UInt32] = bitsPerPixel == 32 ? [0xFF_0000, 0xFF00, 0xFF] : [0x7C00, 0x3E0, 0x1F]
        guard
            !hasMasks || [16, 32].contains(bitsPerPixel) && (masks == usual || (bitsPerPixel == 16 && greenBits == 6))
        else {
            throw WebImageError(.unsupportedFeature, "the icon's bitmap has unusual channel masks", format: format)
        }
        guard [1, 4, 8, 16, 24, 32].contains(bitsPerPixel) else {
            throw WebImageError(.corruptData, "the icon's bitmap has \(bitsPerPixel) bits a pixel", format: format)
        }
        let stored = isCore ? 0 : Int(bytes.long(32))
        paletteEntryLength = isCore ? 3 : 4
        paletteStart = length + (hasMasks && length == Self.infoHeaderLength ? Self.masksLength : 0)
        paletteCount = stored == 0 && bitsPerPixel <= 8 ? 1 << bitsPerPixel : stored
        colorStart = paletteStart + paletteCount * paletteEntryLength
    }

    /// The range of the bitmap of an entry. It is that of the entry, unless the table states a length that is too short
    /// for the colours: then the bitmap's own header determines the length.
    func range(in entry: ICODirectory.Entry) -> Range<Int> {
        let start = entry.range.lowerBound
        return entry.range.count >= maskStart ? entry.range : start..<start + byteCount
    }

    /// Whether the entry has colours; otherwise there is no row to show.
    func hasRows(_ entry: UnsafeRawBufferPointer) -> Bool { entry.count >= colorStart + colorStride }

    /// Writes all rows. Rows without colours are transparent; rows without a mask are opaque.
    func write(_ entry: UnsafeRawBufferPointer, to writer: inout BandWriter) throws(WebImageError) {
        let palette = palette(entry)
        let usesAlpha = bitsPerPixel == 32 && hasAlpha(entry)
        for y in 0..<size.height {
            let output = try writer.nextRow().assumingMemoryBound(to: UInt8.self)
            let row = isTopDown ? y : size.height - 1 - y
            if let colors = entry.part(colorStart + row * colorStride, colorStride) {
                convert(colors, palette, into: output)
                if !usesAlpha { applyMask(entry.part(maskStart + row * maskStride, maskStride), to: output) }
            } else {
                output.update(repeating: 0, count: size.width * 4)
            }
            try writer.rowIsDone()
        }
    }

    /// Whether the data is complete. The mask of a picture with alpha is not required, because many have none.
    func isComplete(_ entry: UnsafeRawBufferPointer) -> Bool {
        entry.count >= byteCount || (entry.count >= maskStart && bitsPerPixel == 32 && hasAlpha(entry))
    }

    /// Icons from before Windows XP have 32 bits but no alpha: it is zero everywhere, and the mask counts.
    private func hasAlpha(_ entry: UnsafeRawBufferPointer) -> Bool {
        let pixels = entry[min(colorStart, entry.count)..<min(maskStart, entry.count)]
        var index = pixels.startIndex + 3
        while index < pixels.endIndex {
            if pixels[index] != 0 { return true }
            index += 4
        }
        return false
    }

    /// Red, green and blue of 256 colours; missing ones are black.
    private func palette(_ entry: UnsafeRawBufferPointer) -> [UInt8] {
        var colors = [UInt8](repeating: 0, count: 256 * 3)
        for index in 0..<min(paletteCount, 256) {
            guard let color = entry.part(paletteStart + index * paletteEntryLength, 3) else { break }
            for channel in 0..<3 { colors[index * 3 + channel] = color[2 - channel] }
        }
        return colors
    }

    private func convert(
        _ row: UnsafeRawBufferPointer, _ palette: [UInt8], into output: UnsafeMutablePointer<UInt8>
    ) {
        for x in 0..<size.width {
            let pixel = output + x * 4
            pixel[3] = 255
            switch bitsPerPixel {
            case 24, 32:
                let at = x * bitsPerPixel / 8
                (pixel[0], pixel[1], pixel[2]) = (row[at + 2], row[at + 1], row[at])
                if bitsPerPixel == 32 { pixel[3] = row[at + 3] }
            case 16:
                let value = row.word(x * 2)
                let most = (1 << greenBits) - 1
                pixel[0] = UInt8(((value >> (5 + greenBits) & 31) * 255 + 15) / 31)
                pixel[1] = UInt8(((value >> 5 & most) * 255 + most / 2) / most)
                pixel[2] = UInt8(((value & 31) * 255 + 15) / 31)
            default:
                let bit = x * bitsPerPixel
                let shift = 8 - bitsPerPixel - bit % 8
                let index = Int(row[bit / 8]) >> shift & ((1 << bitsPerPixel) - 1)
                for channel in 0..<3 { pixel[channel] = palette[index * 3 + channel] }
            }
        }
    }

    /// Applies the mask: a set bit makes a pixel transparent. Over a colour other than black it asks to invert the
    /// background, which a picture cannot express.
    private func applyMask(_ mask: UnsafeRawBufferPointer?, to output: UnsafeMutablePointer<UInt8>) {
        for x in 0..<size.width {
            let isHidden = mask.map { $0[x / 8] >> UInt8(7 - x % 8) & 1 == 1 } ?? false
            output[x * 4 + 3] = isHidden ? 0 : 255
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func word(_ offset: Int) -> Int { Int(self[offset]) | Int(self[offset + 1]) << 8 }
    fileprivate func long(_ offset: Int) -> UInt32 { UInt32(word(offset)) | UInt32(word(offset + 2)) << 16 }

    /// A part at `offset`; nil if it is incomplete.
    fileprivate func part(_ offset: Int, _ length: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, length >= 0, offset <= count - length else { return nil }
        return UnsafeRawBufferPointer(rebasing: self[offset..<offset + length])
    }
}
