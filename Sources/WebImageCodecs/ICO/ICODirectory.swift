import WebImageCore

/// The table at the beginning of an ICO or CUR file, and the choice of the entry to decode.
struct ICODirectory {
    static let headerLength = 6
    static let entryLength = 16

    struct Entry {
        /// The size stated by the table, which the entry itself may contradict.
        let size: PixelSize
        /// Bits of a pixel; nil in a cursor, which stores its hot spot there, and if the file does not state it.
        let depth: Int?
        /// The range by the table; if its length is impossible, the first bytes of the entry (see
        /// ``IconBitmap/range(in:)``).
        let range: Range<Int>
    }

    let format: ImageFormat
    let entries: [Entry]

    /// The length of the table; nil if there are too few bytes to determine it.
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
                over: .frames, "the icon has \(count) entries", format: format(bytes))
        }
        return headerLength + count * entryLength
    }

    /// - Parameter bytes: at least the first ``length(_:_:)`` bytes of the file.
    /// - Throws: `corruptData` if an entry lies within the table; `limitExceeded` if one begins beyond the maximum length
    ///   of a file.
    init(_ bytes: [UInt8], _ limits: DecodeLimits) throws(WebImageError) {
        let format = Self.format(bytes)
        let count = word(bytes, 4)
        let tableEnd = Self.headerLength + count * Self.entryLength
        var entries: [Entry] = []
        for index in 0..<count {
            let at = Self.headerLength + index * Self.entryLength
            let (length, offset) = (long(bytes, at + 8), long(bytes, at + 12))
            guard offset >= tableEnd else {
                throw WebImageError(
                    .corruptData, "entry \(index + 1) of the icon lies within its table", format: format)
            }
            try limits.check(byteCount: offset, of: format)
            // Some files state a wrong length. Other readers use the entry's own header instead.
            let isLength = length >= IconBitmap.minLength
            let most = max(limits.bytes.bytes - offset, IconBitmap.headerLength)
            let depth = format == .ico ? word(bytes, at + 6) : 0
            entries.append(
                Entry(
                    size: PixelSize(width: Self.side(bytes[at]), height: Self.side(bytes[at + 1])),
                    depth: depth > 0 ? depth : nil,
                    range: offset..<offset + (isLength ? min(length, most) : IconBitmap.headerLength)))
        }
        self.format = format
        self.entries = entries
    }

    /// The entry with the most pixels, among equals the deepest, then the first.
    ///
    /// - Parameter isWhole: whether all bytes have arrived.
    /// - Returns: nil if the depth of an entry must be read from it, and it has not arrived yet.
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

    /// The end of the first bytes of all entries, from which ``size(in:of:_:)`` reads their sizes.
    var endOfHeads: Int {
        entries.reduce(0) { max($0, $1.range.lowerBound + min($1.range.count, IconBitmap.headerLength)) }
    }

    /// The sizes of entries that show the same picture smaller: in both directions, with the same aspect ratio.
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

    /// The size by the entry itself; nil if it is not allowed, or has not arrived.
    private func size(in bytes: [UInt8], of entry: Entry, _ limits: DecodeLimits) -> PixelSize? {
        let head = Array(bytes[entry.range.clamped(to: 0..<bytes.count)].prefix(IconBitmap.headerLength))
        guard Self.isPNG(head[...]) else {
            return head.withUnsafeBytes { try? IconBitmap($0, limits, of: format).size }
        }
        guard head.count >= 24, head[12..<16].elementsEqual("IHDR".utf8) else { return nil }
        let size = PixelSize(
            width: Int(PNGChunk.number(head, at: 16)), height: Int(PNGChunk.number(head, at: 20)))
        return (try? limits.check(size, of: format)) == nil ? nil : size
    }

    /// Bits of a pixel by the entry itself.
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

    /// A byte holds 1 to 256; 0 means 256.
    private static func side(_ byte: UInt8) -> Int { byte == 0 ? 256 : Int(byte) }
}

private func word(_ bytes: [UInt8], _ offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }

private func long(_ bytes: [UInt8], _ offset: Int) -> Int { word(bytes, offset) | word(bytes, offset + 2) << 16 }
