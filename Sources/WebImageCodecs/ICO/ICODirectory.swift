import WebImageCore

/// The table at the beginning of an ICO or CUR file, and which of its entries is the picture.
struct ICODirectory {
    static let headerLength = 6
    static let entryLength = 16

    struct Entry {
        /// As the table says, which the entry itself may contradict.
        let size: PixelSize
        /// Bits of a pixel; nil in a cursor, which has its hot spot there, and where the file does not say.
        let depth: Int?
        /// As the table says; of a length that no picture has, the first bytes of the entry (see ``IconBitmap/range(in:)``).
        let range: Range<Int>
    }

    let format: ImageFormat
    let entries: [Entry]

    /// How many bytes the table takes; nil when there are too few bytes to tell.
    ///
    /// - Throws: `corruptData`, `limitExceeded` for more entries than ``/WebImageCore/DecodeLimits/frames``.
    static func length(_ bytes: [UInt8], _ limits: DecodeLimits) throws(WebImageError) -> Int? {
        guard bytes.count >= headerLength else { return nil }
        guard bytes[0] == 0, bytes[1] == 0, bytes[2] == 1 || bytes[2] == 2, bytes[3] == 0 else {
            throw WebImageError(.corruptData, "the data does not begin as an icon does", format: .ico)
        }
        let count = word(bytes, 4)
        guard count > 0 else { throw WebImageError(.corruptData, "the icon has no entries", format: format(bytes)) }
        guard count <= limits.frames else {
            throw WebImageError(
                .limitExceeded, "the icon has \(count) entries; raise DecodeLimits.frames to allow it",
                format: format(bytes))
        }
        return headerLength + count * entryLength
    }

    /// - Parameter bytes: the first ``length(_:_:)`` bytes of the file, or more.
    /// - Throws: `corruptData` when an entry is empty or lies within the table; `limitExceeded` when one ends behind the
    ///   longest file that is allowed.
    init(_ bytes: [UInt8], _ limits: DecodeLimits) throws(WebImageError) {
        let format = Self.format(bytes)
        let count = word(bytes, 4)
        let tableEnd = Self.headerLength + count * Self.entryLength
        var entries: [Entry] = []
        for index in 0..<count {
            let at = Self.headerLength + index * Self.entryLength
            let (length, offset) = (long(bytes, at + 8), long(bytes, at + 12))
            guard length > 0, offset >= tableEnd else {
                throw WebImageError(
                    .corruptData, "entry \(index + 1) of the icon is empty or lies within its table", format: format)
            }
            try limits.check(byteCount: offset + length, of: format)
            // Some cursors tell no true length. Other readers do not look at it, but at the entry's own header.
            let isLength = length >= IconBitmap.leastLength
            let depth = format == .ico ? word(bytes, at + 6) : 0
            entries.append(
                Entry(
                    size: PixelSize(width: Self.side(bytes[at]), height: Self.side(bytes[at + 1])),
                    depth: depth > 0 ? depth : nil,
                    range: offset..<offset + (isLength ? length : IconBitmap.headerLength)))
        }
        self.format = format
        self.entries = entries
    }

    /// The entry with the most pixels, among equals the deepest, among those the first.
    ///
    /// - Parameter isWhole: whether no more bytes come.
    /// - Returns: nil when the depth of an entry has to be looked up in it, and it is not there yet.
    func best(in bytes: [UInt8], isWhole: Bool) -> Entry? {
        let most = entries.reduce(0) { max($0, $1.size.width * $1.size.height) }
        let candidates = entries.filter { $0.size.width * $0.size.height == most }
        guard candidates.count > 1 else { return candidates.first }
        var best: (entry: Entry, depth: Int)?
        for entry in candidates {
            guard let depth = entry.depth ?? Self.depth(in: bytes, of: entry) ?? (isWhole ? 0 : nil) else { return nil }
            if depth > best?.depth ?? -1 { best = (entry, depth) }
        }
        return best?.entry
    }

    /// Where the first bytes of all entries end, by which ``size(in:of:_:)`` tells theirs.
    var endOfHeads: Int {
        entries.reduce(0) { max($0, $1.range.lowerBound + min($1.range.count, IconBitmap.headerLength)) }
    }

    /// The sizes of the entries that are the picture of another size, smaller in both directions and of its aspect.
    func sizes(in bytes: [UInt8], below size: PixelSize, _ limits: DecodeLimits) -> [PixelSize] {
        let found = entries.compactMap { self.size(in: bytes, of: $0, limits) }.filter { other in
            guard other.width < size.width, other.height < size.height else { return false }
            let height = (Double(size.height * other.width) / Double(size.width)).rounded()
            return Int(height) == other.height
        }
        return Set(found).sorted { ($0.width, $0.height) < ($1.width, $1.height) }
    }

    /// The deepest entry of a size, among equals the first.
    func best(of size: PixelSize, in bytes: [UInt8], _ limits: DecodeLimits) -> Entry? {
        var best: (entry: Entry, depth: Int)?
        for entry in entries where self.size(in: bytes, of: entry, limits) == size {
            let depth = entry.depth ?? Self.depth(in: bytes, of: entry) ?? 0
            if depth > best?.depth ?? -1 { best = (entry, depth) }
        }
        return best?.entry
    }

    /// The size as the entry itself says; nil when it is none that is allowed, or not there.
    private func size(in bytes: [UInt8], of entry: Entry, _ limits: DecodeLimits) -> PixelSize? {
        let head = Array(bytes[entry.range.clamped(to: 0..<bytes.count)].prefix(IconBitmap.headerLength))
        guard Self.isPNG(head[...]) else {
            return head.withUnsafeBytes { try? IconBitmap($0, limits, of: format).size }
        }
        guard head.count >= 24 else { return nil }
        let size = PixelSize(
            width: Int(PNGChunk.number(head, at: 16)), height: Int(PNGChunk.number(head, at: 20)))
        return (try? limits.check(size, of: format)) == nil ? nil : size
    }

    /// Bits of a pixel as the entry itself says.
    private static func depth(in bytes: [UInt8], of entry: Entry) -> Int? {
        let start = entry.range.lowerBound
        guard bytes.count - start >= 26, entry.range.count >= 26 else { return nil }
        if isPNG(bytes[start...]) {
            // IHDR: the bits of a channel, then the colour type.
            let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][bytes[start + 25]] ?? 1
            return Int(bytes[start + 24]) * channels
        }
        return word(bytes, start + (long(bytes, start) == IconBitmap.coreHeaderLength ? 10 : 14))
    }

    static func isPNG(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    }

    private static func format(_ bytes: [UInt8]) -> ImageFormat { bytes[2] == 1 ? .ico : .cur }

    /// A byte holds 1 to 256; 0 is the latter.
    private static func side(_ byte: UInt8) -> Int { byte == 0 ? 256 : Int(byte) }
}

private func word(_ bytes: [UInt8], _ offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }

private func long(_ bytes: [UInt8], _ offset: Int) -> Int { word(bytes, offset) | word(bytes, offset + 2) << 16 }
