/// Finds the pages of a TIFF without reading their tags.
///
/// libtiff can find pages, too, but for each one it looks at all earlier pages, to find loops.
struct TIFFPages {
    /// The positions of the pages' tags, in order; at most the requested number.
    private(set) var directories: [UInt64] = []
    /// Whether the chain of pages is circular; it ends there.
    private(set) var goesInCircles = false
    /// Whether the last page names a next one that is not in the file, or not whole.
    private(set) var endsEarly = false
    /// Whether there are more pages than requested.
    private(set) var isCutOff = false

    init(in bytes: some RandomBytes, limit: Int) {
        let file = TIFFNumbers(bytes)
        var next = file.firstPage
        // A page behind all earlier ones cannot have been seen. Most files have their pages in this order, and then no
        // page is hashed, which takes less than half the time.
        var furthest = 0
        var seen: Set<UInt64>?
        while let offset = next, offset > 0,
            let entries = file.number(offset, file.countBytes), entries <= bytes.count / file.entryBytes
        {
            if offset <= furthest, seen == nil { seen = Set(directories) }
            guard seen?.contains(UInt64(offset)) != true else {
                goesInCircles = true
                return
            }
            guard directories.count < limit else {
                isCutOff = true
                return
            }
            seen?.insert(UInt64(offset))
            furthest = max(furthest, offset)
            let end = offset + file.countBytes + entries * file.entryBytes
            // A page without all its tags cannot be read; of the first one, libtiff says why.
            if end > bytes.count, !directories.isEmpty { break }
            directories.append(UInt64(offset))
            // Some programs leave out the last link.
            next = file.number(end, file.offsetBytes) ?? (end > bytes.count ? nil : 0)
        }
        endsEarly = next != 0
    }

    /// The values of a page's tags.
    struct Values {
        /// How many bytes they have together. libtiff copies each, and several may be at the same place.
        var byteCount = 0
        /// Whether the picture's colours are those of a palette, and the palette ends beyond the file: no pixel is known.
        var lacksPalette: Bool { isPaletteCut && isIndexed }
        /// Whether the colour profile ends beyond the file. libtiff ignores it then, and the picture has other colours.
        var lacksProfile = false
        fileprivate var isPaletteCut = false
        fileprivate var isIndexed = false
    }

    /// TIFF 6.0, section 8: the tag of the interpretation of samples, and its value for indices into a palette.
    private static let interpretation = (tag: 262, indexed: 3)
    private static let paletteTag = 320
    private static let profileTag = 34675

    /// - Parameter directory: the position of the page's tags; 0: the first page.
    static func values(in bytes: some RandomBytes, directory: UInt64) -> Values {
        let file = TIFFNumbers(bytes)
        let first = directory == 0 ? file.firstPage : Int(exactly: directory)
        // libtiff refuses pages with more than 4096 tags.
        var values = Values()
        guard let start = first, let entries = file.number(start, file.countBytes), entries <= 4096 else {
            return values
        }
        for index in 0..<entries {
            let entry = start + file.countBytes + index * file.entryBytes
            guard let type = file.number(entry + 2, 2), let count = file.number(entry + 4, file.offsetBytes) else {
                return values
            }
            let (length, isOver) = count.multipliedReportingOverflow(by: typeLengths[type] ?? 1)
            // libtiff ignores values that lie outside of the file.
            if !isOver, length <= bytes.count { values.byteCount += length }
            let value = entry + 4 + file.offsetBytes
            let tag = file.number(entry, 2)
            if tag == interpretation.tag { values.isIndexed = file.number(value, 2) == interpretation.indexed }
            guard tag == paletteTag || tag == profileTag, length > file.offsetBytes else { continue }
            let place = file.number(value, file.offsetBytes) ?? bytes.count
            guard isOver || length > bytes.count || place > bytes.count - length else { continue }
            if tag == paletteTag { values.isPaletteCut = true } else { values.lacksProfile = true }
        }
        return values
    }

    /// TIFF 6.0, section 2, and BigTIFF.
    private static let typeLengths = [
        3: 2, 4: 4, 5: 8, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
    ]
}

/// The numbers of a TIFF, in its byte order. TIFF 6.0, section 2. BigTIFF has wider numbers, and the first page's offset
/// after a constant.
private struct TIFFNumbers<Bytes: RandomBytes> {
    private let bytes: Bytes
    private let isLittle: Bool
    private var isBig = false
    var countBytes: Int { isBig ? 8 : 2 }
    var entryBytes: Int { isBig ? 20 : 12 }
    var offsetBytes: Int { isBig ? 8 : 4 }
    /// The position of the first page's tags; nil if there is none.
    var firstPage: Int? { number(isBig ? 8 : 4, offsetBytes) }

    init(_ bytes: Bytes) {
        self.bytes = bytes
        isLittle = bytes.starts(with: [UInt8(ascii: "I")])
        isBig = number(2, 2) == 43
    }

    /// An unsigned number of `length` bytes; nil beyond the end and for impossible values.
    func number(_ offset: Int, _ length: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - length else { return nil }
        var value = UInt64(0)
        for index in 0..<length {
            value = value << 8 | UInt64(bytes.byte(at: offset + (isLittle ? length - 1 - index : index)))
        }
        return Int(exactly: value)
    }
}
