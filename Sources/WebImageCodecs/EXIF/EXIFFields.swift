/// What EXIF says of a picture, as fields: a block of EXIF is a TIFF without pixels, and a TIFF has them among its own
/// (EXIF 2.3, section 4.5).
struct EXIFFields {
    /// Of a first directory's fields those that describe the picture and not how its pixels are stored: from the
    /// description to the owner of the rights, ratings, IPTC, and Windows' titles and comments.
    private static let describing: Set<UInt16> = [
        270, 271, 272, 305, 306, 315, 316, 18246, 18249, 33432, 33723, 34377, 40091, 40092, 40093, 40094, 40095, 50341,
    ]
    private static let details: UInt16 = 0x8769
    private static let position: UInt16 = 0x8825
    /// Within the details.
    private static let interoperability: UInt16 = 0xA005

    let layout: TIFFLayout
    private let main: [TIFFLayout.Field]
    /// The directories that the main one refers to, and those within the first of them.
    private let linked: [UInt16: [TIFFLayout.Field]]

    /// Total: any bytes give an answer.
    ///
    /// - Parameters:
    ///   - bytes: a block of EXIF or a TIFF file.
    ///   - directory: where in it the fields are; 0: its first directory.
    ///   - limit: how long all values may be.
    /// - Returns: nil when there are none, or more than allowed.
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
            // Whatever type its writer chose.
            let place = link.value.withUnsafeBytes { layout.number($0, at: 0, length: min($0.count, 8)) }
            guard let place, linked[link.tag] == nil else { continue }
            linked[link.tag] = layout.fields(of: bytes, at: place, room: &room) { $0 != Self.interoperability }
            guard link.tag == Self.details else { continue }
            links += layout.fields(of: bytes, at: place, room: &room) { $0 == Self.interoperability }
        }
        self.linked = linked.filter { !$0.value.isEmpty }
        guard room >= 0, !main.isEmpty || !self.linked.isEmpty else { return nil }
    }

    /// Puts the linked directories at the end of a file.
    ///
    /// - Returns: the main one's fields, with where those are.
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

    /// Adds the fields to each page of a TIFF in the same byte order, where it has none of its own for them.
    func add(to file: inout [UInt8]) {
        guard let layout = file.withUnsafeBytes({ TIFFLayout($0) }), layout.isBigEndian == self.layout.isBigEndian
        else { return }
        let fields = place(in: &file, layout)
        layout.add(fields, to: &file)
    }

    /// A block of EXIF with the fields.
    var block: [UInt8] {
        let layout = TIFFLayout(isBigEndian: layout.isBigEndian)
        let order: UInt8 = layout.isBigEndian ? 0x4D : 0x49
        var bytes = [order, order] + layout.ordered(42, length: 2) + [0, 0, 0, 0]
        let fields = place(in: &bytes, layout)
        bytes.replaceSubrange(4..<8, with: layout.ordered(layout.append(fields, to: &bytes), length: 4))
        return bytes
    }
}
