/// The EXIF properties of a picture as fields: an EXIF block is a TIFF without pixels, and a TIFF has them among its
/// own (EXIF 2.3, section 4.5).
struct EXIFFields {
    /// The fields of a first directory that describe the picture rather than the storage of its pixels: from the
    /// description to the copyright owner, ratings, IPTC, and Windows' titles and comments.
    private static let describing: Set<UInt16> = [
        270, 271, 272, 305, 306, 315, 316, 18246, 18249, 33432, 33723, 34377, 40091, 40092, 40093, 40094, 40095, 50341,
    ]
    private static let details: UInt16 = 0x8769
    private static let position: UInt16 = 0x8825
    /// The link to the interoperability directory, in the directory of details.
    private static let interoperability: UInt16 = 0xA005

    let layout: TIFFLayout
    private let main: [TIFFLayout.Field]
    /// The directories that the main one refers to, and those within the first of them.
    private let linked: [UInt16: [TIFFLayout.Field]]

    /// Accepts any bytes.
    ///
    /// - Parameters:
    ///   - bytes: an EXIF block or a TIFF file.
    ///   - directory: the position of the fields; 0: its first directory.
    ///   - limit: the length of all values.
    /// - Returns: nil if there are none, or more than allowed.
    init?(_ bytes: some RandomBytes, directory: Int = 0, limit: Int) {
        guard let layout = TIFFLayout(bytes),
            let start = directory > 0 ? directory : layout.firstDirectory(of: bytes)
        else { return nil }
        self.layout = layout
        var room = min(limit, bytes.count)
        main = layout.fields(of: bytes, at: start, room: &room) { Self.describing.contains($0) }
        var linked: [UInt16: [TIFFLayout.Field]] = [:]
        var links = layout.fields(of: bytes, at: start, room: &room) { [Self.details, Self.position].contains($0) }
        while let link = links.popLast() {
            // Writers store these positions in different types.
            let place = link.value.withUnsafeBytes { layout.number($0, at: 0, length: min($0.count, 8)) }
            guard let place, linked[link.tag] == nil else { continue }
            linked[link.tag] = layout.fields(of: bytes, at: place, room: &room) { $0 != Self.interoperability }
            guard link.tag == Self.details else { continue }
            links += layout.fields(of: bytes, at: place, room: &room) { $0 == Self.interoperability }
        }
        self.linked = linked.filter { !$0.value.isEmpty }
        guard room >= 0, !main.isEmpty || !self.linked.isEmpty else { return nil }
    }

    /// Appends the linked directories to a file.
    ///
    /// - Returns: the fields of the main directory, with links to them.
    private func place(in file: inout [UInt8], _ layout: TIFFLayout) -> [TIFFLayout.Field] {
        var fields = main
        var details = linked[Self.details] ?? []
        if let inner = linked[Self.interoperability] {
            details.append(layout.link(Self.interoperability, to: layout.append(inner, to: &file)))
        }
        if !details.isEmpty { fields.append(layout.link(Self.details, to: layout.append(details, to: &file))) }
        if let position = linked[Self.position] {
            fields.append(layout.link(Self.position, to: layout.append(position, to: &file)))
        }
        return fields
    }

    /// Adds the fields to each page of a TIFF in the same byte order, unless it has such fields.
    func add(to file: inout [UInt8]) {
        guard let layout = file.withUnsafeBytes({ TIFFLayout($0) }), layout.isBigEndian == self.layout.isBigEndian
        else { return }
        let fields = place(in: &file, layout)
        layout.add(fields, to: &file)
    }

    /// The fields as an EXIF block.
    var block: [UInt8] {
        let layout = TIFFLayout(isBigEndian: layout.isBigEndian)
        let order: UInt8 = layout.isBigEndian ? 0x4D : 0x49
        var bytes = [order, order] + layout.ordered(42, length: 2) + [0, 0, 0, 0]
        let fields = place(in: &bytes, layout)
        bytes.replaceSubrange(4..<8, with: layout.ordered(layout.append(fields, to: &bytes), length: 4))
        return bytes
    }
}
