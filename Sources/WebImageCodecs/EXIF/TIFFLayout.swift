/// The layout of numbers and directories in a TIFF file or an EXIF block (TIFF 6.0, section 2; BigTIFF).
struct TIFFLayout: Hashable {
    /// A field of a directory, its value in the file's byte order.
    struct Field: Hashable {
        let tag: UInt16
        let type: UInt16
        let count: Int
        let value: [UInt8]
    }

    let isBigEndian: Bool
    let isBig: Bool

    /// - Returns: nil if the bytes do not begin as such a file.
    init?(_ bytes: some RandomBytes) {
        isBigEndian = bytes.starts(with: [0x4D, 0x4D])
        guard isBigEndian || bytes.starts(with: [0x49, 0x49]), bytes.count >= 8 else { return nil }
        switch bytes.byte(at: isBigEndian ? 3 : 2) {
        case 42: isBig = false
        case 43: isBig = true
        default: return nil
        }
        guard !isBig || bytes.count >= 16 else { return nil }
    }

    /// The layout of an EXIF block.
    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
        isBig = false
    }

    var countLength: Int { isBig ? 8 : 2 }
    /// The length of an offset, of a field's count, and of the longest value that is stored in its field.
    var numberLength: Int { isBig ? 8 : 4 }
    /// The type of a number of that length.
    var numberType: UInt16 { isBig ? 16 : Self.long }
    private var fieldLength: Int { isBig ? 20 : 12 }
    /// The position of the first directory's offset.
    var firstLink: Int { isBig ? 8 : 4 }
    /// The length of a value in bytes, by its type. The types from 16 on are BigTIFF's.
    private static let typeLengths = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
    static let long: UInt16 = 4

    func number(_ bytes: some RandomBytes, at offset: Int, length: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - length else { return nil }
        let value = (0..<length).reduce(UInt64(0)) { value, index in
            value << 8 | UInt64(bytes.byte(at: offset + (isBigEndian ? index : length - 1 - index)))
        }
        return Int(exactly: value)
    }

    func ordered(_ value: Int, length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * (isBigEndian ? length - 1 - $0 : $0))) }
    }

    func firstDirectory(of bytes: some RandomBytes) -> Int? {
        number(bytes, at: firstLink, length: numberLength)
    }

    /// The requested fields of a directory that lie completely within the bytes.
    ///
    /// - Parameter room: the total length of values; reduced by what is taken. Negative if it was not enough.
    func fields(
        of bytes: some RandomBytes, at directory: Int, room: inout Int, where isWanted: (UInt16) -> Bool
    ) -> [Field] {
        guard let count = number(bytes, at: directory, length: countLength) else { return [] }
        let start = directory + countLength
        let there = min(count, max(bytes.count - start, 0) / fieldLength)
        var fields: [Field] = []
        for place in stride(from: start, to: start + there * fieldLength, by: fieldLength) where room >= 0 {
            guard let tag = number(bytes, at: place, length: 2), isWanted(UInt16(tag)),
                let type = number(bytes, at: place + 2, length: 2), Self.typeLengths.indices.contains(type),
                Self.typeLengths[type] > 0,
                let count = number(bytes, at: place + 4, length: numberLength), count > 0, count <= bytes.count
            else { continue }
            let length = count * Self.typeLengths[type]
            let inside = place + 4 + numberLength
            guard let offset = length <= numberLength ? inside : number(bytes, at: inside, length: numberLength),
                offset <= bytes.count - length
            else { continue }
            room -= length
            guard room >= 0 else { break }
            let value = bytes.copy(at: offset, count: length)
            guard value.count == length else { continue }
            fields.append(Field(tag: UInt16(tag), type: UInt16(type), count: count, value: value))
        }
        return fields
    }

    /// A field with the position of a directory.
    func link(_ tag: UInt16, to offset: Int) -> Field {
        Field(tag: tag, type: Self.long, count: 1, value: ordered(offset, length: 4))
    }

    /// Appends a directory that is the last of its chain to a file, after its values.
    ///
    /// - Returns: its position.
    func append(_ fields: [Field], to file: inout [UInt8]) -> Int {
        var lines: [UInt8] = []
        for field in fields.sorted(by: { $0.tag < $1.tag }) {
            lines += ordered(Int(field.tag), length: 2) + ordered(Int(field.type), length: 2)
            lines += ordered(field.count, length: numberLength)
            if field.value.count <= numberLength {
                lines += field.value + [UInt8](repeating: 0, count: numberLength - field.value.count)
            } else {
                if file.count % 2 == 1 { file.append(0) }
                lines += ordered(file.count, length: numberLength)
                file += field.value
            }
        }
        if file.count % 2 == 1 { file.append(0) }
        let start = file.count
        file += ordered(fields.count, length: countLength) + lines + ordered(0, length: numberLength)
        return start
    }

    /// Adds fields to every page of a file, by new directories at its end.
    func add(_ fields: [Field], to file: inout [UInt8]) {
        var link = firstLink
        while let page = file.withUnsafeBytes({ self.page($0, behind: link) }) {
            let tags = Set(page.fields.map(\.tag))
            let all = page.fields + fields.filter { !tags.contains($0.tag) }
            let start = append(all, to: &file)
            file.replaceSubrange(link..<link + numberLength, with: ordered(start, length: numberLength))
            link = start + countLength + all.count * fieldLength
            file.replaceSubrange(link..<link + numberLength, with: ordered(page.next, length: numberLength))
        }
    }

    /// All fields of the page that a link leads to, and the position of the next link; nil if there is no complete one.
    private func page(_ bytes: UnsafeRawBufferPointer, behind link: Int) -> (fields: [Field], next: Int)? {
        var room = bytes.count
        guard let start = number(bytes, at: link, length: numberLength), start > 0,
            let count = number(bytes, at: start, length: countLength), count <= bytes.count / fieldLength,
            let next = number(bytes, at: start + countLength + count * fieldLength, length: numberLength)
        else { return nil }
        let fields = fields(of: bytes, at: start, room: &room) { _ in true }
        return fields.count == count ? (fields, next) : nil
    }
}
