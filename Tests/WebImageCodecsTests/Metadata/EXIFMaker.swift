import WebImageCore

/// Makes EXIF blocks as cameras do, with a first directory, an EXIF directory, and a thumbnail with a directory of its
/// own.
struct EXIFMaker {
    static let thumbnail = Array("a thumbnail of what nobody should see".utf8)

    var isBigEndian = true
    var orientation: Int? = 1
    /// Pixels per inch, or per centimetre if `unit` is 3.
    var density: (Int, Int)?
    var unit = 2
    /// The width and height in the EXIF directory.
    var size: (Int, Int)?
    var colorSpace = 0xFFFF
    var hasThumbnail = false

    func block() -> [UInt8] {
        var lines: [(tag: Int, type: Int, value: [UInt8])] = [(0x0110, 2, Array("cam".utf8) + [0])]
        var data: [UInt8] = []
        // The offset of values that do not fit into an entry. Each directory has at most 6 entries.
        let dataStart = 8 + 2 * (2 + 6 * 12 + 4)
        func place(_ bytes: [UInt8]) -> [UInt8] {
            defer { data += bytes }
            return number(dataStart + data.count, 4)
        }
        if let orientation { lines.append((0x0112, 3, number(orientation, 2) + [0, 0])) }
        if let density {
            lines.append((0x011A, 5, place(number(density.0 * 10, 4) + number(10, 4))))
            lines.append((0x011B, 5, place(number(density.1 * 10, 4) + number(10, 4))))
            lines.append((0x0128, 3, number(unit, 2) + [0, 0]))
        }
        if let size {
            let details = [
                (0xA001, 3, number(colorSpace, 2) + [0, 0]), (0xA002, 4, number(size.0, 4)),
                (0xA003, 3, number(size.1, 2) + [0, 0]),
            ]
            lines.append((0x8769, 4, place(directory(details, next: 0))))
        }
        var second: [UInt8] = []
        if hasThumbnail {
            let start = place(Self.thumbnail)
            second = directory(
                [(0x0201, 4, start), (0x0202, 4, number(Self.thumbnail.count, 4))], next: 0)
        }
        let secondStart = 8 + 2 + lines.count * 12 + 4
        let first = directory(lines, next: hasThumbnail ? secondStart : 0)
        let directories = first + second
        let padding = [UInt8](repeating: 0, count: dataStart - 8 - directories.count)
        let order: [UInt8] = isBigEndian ? [0x4D, 0x4D] : [0x49, 0x49]
        return order + number(42, 2) + number(8, 4) + directories + padding + data
    }

    private func directory(_ lines: [(tag: Int, type: Int, value: [UInt8])], next: Int) -> [UInt8] {
        number(lines.count, 2)
            + lines.flatMap { line in
                number(line.tag, 2) + number(line.type, 2) + number(line.type == 2 ? 4 : 1, 4) + line.value
            } + number(next, 4)
    }

    func number(_ value: Int, _ count: Int) -> [UInt8] {
        isBigEndian ? big(value, count) : big(value, count).reversed()
    }
}

/// Makes XMP packets with an orientation.
enum XMPMaker {
    static func packet(orientation: Int) -> [UInt8] {
        Array(
            """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">\
            <rdf:Description tiff:Orientation="\(orientation)" dc:title="tiff:Orientation"><tiff:Orientation>\
            \(orientation)</tiff:Orientation></rdf:Description></x:xmpmeta><?xpacket end="w"?>
            """.utf8)
    }
}
