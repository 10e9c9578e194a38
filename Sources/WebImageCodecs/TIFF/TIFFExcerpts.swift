/// Copies single pages of a TIFF into files of their own. A decoder of one page then gets only the bytes of that page,
/// and does not look for the page among all others.
package struct TIFFExcerpts {
    private static let compression: UInt16 = 259
    private static let stripOffsets: UInt16 = 273
    private static let stripLengths: UInt16 = 279
    private static let tileOffsets: UInt16 = 324
    private static let tileLengths: UInt16 = 325
    private static let parts: Set = [stripOffsets, stripLengths, tileOffsets, tileLengths]
    /// A page with more parts is read from the whole file: the numbers would take many times the memory of the file.
    private static let mostParts = 1 << 20
    /// The directories of EXIF and of positions.
    private static let details: Set<UInt16> = [0x8769, 0x8825]
    /// Smaller versions of the page, which are not decoded.
    private static let others: UInt16 = 330
    /// The links to parts of JPEG data as in TIFF 6.0, which may be anywhere in the file.
    private static let jpegParts: Set<UInt16> = [513, 519, 520, 521]

    private let bytes: [UInt8]
    private let directories: [UInt64]
    private let metadataLimit: Int

    /// - Parameters:
    ///   - bytes: a whole file.
    ///   - limit: the maximum number of pages that are looked for.
    ///   - metadataLimit: `DecodeLimits.metadata` in bytes.
    package init(_ bytes: [UInt8], limit: Int, metadataLimit: Int) {
        self.bytes = bytes
        self.metadataLimit = metadataLimit
        directories = bytes.withUnsafeBytes { TIFFPages(in: $0, limit: limit).directories }
    }

    /// Whether the last page of a file names a next one that is not in the file, or not whole.
    ///
    /// - Parameter limit: the maximum number of pages that are looked for; false for a file with more.
    package static func endsEarly(_ bytes: [UInt8], limit: Int) -> Bool {
        bytes.withUnsafeBytes { TIFFPages(in: $0, limit: limit).endsEarly }
    }

    /// A file of one page with the same pixels and metadata. Nil if the page must be read from the whole file: it does
    /// not exist, is damaged, or is stored in a way that depends on its place.
    ///
    /// - Complexity: the bytes of the page.
    package func file(ofPage index: Int) -> [UInt8]? {
        guard directories.indices.contains(index), let directory = Int(exactly: directories[index]) else {
            return nil
        }
        return bytes.withUnsafeBytes { bytes in
            guard let layout = TIFFLayout(bytes), let fields = layout.allFields(of: bytes, at: directory) else {
                return nil
            }
            return file(of: fields, layout, bytes, directory)
        }
    }

    private func file(
        of fields: [TIFFLayout.Field], _ layout: TIFFLayout, _ bytes: UnsafeRawBufferPointer, _ directory: Int
    ) -> [UInt8]? {
        let tags = Set(fields.map(\.tag))
        let isTiled = tags.contains(Self.tileOffsets)
        let offsetTag = isTiled ? Self.tileOffsets : Self.stripOffsets
        guard fields.allSatisfy({ !Self.parts.contains($0.tag) || $0.count <= Self.mostParts }) else { return nil }
        let places = layout.numbers(of: offsetTag, in: fields)
        let lengths = layout.numbers(of: isTiled ? Self.tileLengths : Self.stripLengths, in: fields)
        guard tags.count == fields.count, tags.isDisjoint(with: Self.jpegParts), !places.isEmpty,
            places.count == lengths.count, isTiled || areBelieved(lengths, fields, layout)
        else { return nil }
        var file = layout.beginning
        var moved: [UInt8] = []
        for (place, length) in zip(places, lengths) {
            // The same bytes may be in several parts, so that the copy would be longer than the file.
            guard length > 0, place <= bytes.count - length, file.count <= bytes.count - length else { return nil }
            moved += layout.ordered(file.count, length: layout.numberLength)
            file += bytes[place..<place + length]
        }
        let dropped = Self.details.union([Self.others, offsetTag])
        let offsets = TIFFLayout.Field(
            tag: offsetTag, type: layout.numberType, count: places.count, value: moved)
        let start = layout.append(fields.filter { !dropped.contains($0.tag) } + [offsets], to: &file)
        file.replaceSubrange(
            layout.firstLink..<layout.firstLink + layout.numberLength,
            with: layout.ordered(start, length: layout.numberLength))
        guard !tags.isDisjoint(with: Self.details) else { return file }
        guard let exif = EXIFFields(bytes, directory: directory, limit: metadataLimit) else { return nil }
        exif.add(to: &file)
        return file
    }

    /// Whether libtiff uses the stored lengths of strips. For uncompressed data it computes other lengths, and may read
    /// beyond a strip, if the only strip is too short, or the first two of several differ in length.
    private func areBelieved(_ lengths: [Int], _ fields: [TIFFLayout.Field], _ layout: TIFFLayout) -> Bool {
        func number(_ tag: UInt16) -> Int? { layout.numbers(of: tag, in: fields).first }
        guard number(Self.compression) ?? 1 == 1 else { return true }
        guard lengths.count == 1 else { return lengths.count == 2 || lengths[0] == lengths[1] }
        guard let width = number(256), let height = number(257), width > 0, height > 0 else { return false }
        // The product may have 80 bits, so it is computed as a `Double`.
        let bits = Double(width) * Double(number(258) ?? 1) * Double(number(277) ?? 1)
        return Double(lengths[0]) >= (bits / 8).rounded(.up) * Double(height)
    }
}

extension TIFFLayout {
    /// The bytes of a file before its first directory; the link to it is 0.
    fileprivate var beginning: [UInt8] {
        let order: UInt8 = isBigEndian ? 0x4D : 0x49
        let version =
            isBig ? ordered(43, length: 2) + ordered(8, length: 2) + ordered(0, length: 2) : ordered(42, length: 2)
        return [order, order] + version + ordered(0, length: numberLength)
    }

    /// All fields of a directory; nil if one of them is not complete.
    fileprivate func allFields(of bytes: UnsafeRawBufferPointer, at directory: Int) -> [Field]? {
        var room = bytes.count
        let fields = fields(of: bytes, at: directory, room: &room) { _ in true }
        return fields.count == number(bytes, at: directory, length: countLength) ? fields : nil
    }

    /// The whole numbers of a field; empty if there is no such field, or its type has no whole numbers.
    fileprivate func numbers(of tag: UInt16, in fields: [Field]) -> [Int] {
        guard let field = fields.first(where: { $0.tag == tag }), let length = Self.numberLengths[field.type] else {
            return []
        }
        return field.value.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: length).compactMap { number(bytes, at: $0, length: length) }
        }
    }

    private static let numberLengths: [UInt16: Int] = [1: 1, 3: 2, long: 4, 16: 8]
}
