/// Makes icon files from entries that a test describes.
struct IconMaker {
    struct Entry {
        var width = 1
        var height = 1
        var depth = 0
        var data: [UInt8] = []
        /// The offset that the table states for the entry; nil for the true one.
        var offset: Int?
        var length: Int?
    }

    var kind = 1
    var entries: [Entry] = []

    func bytes() -> [UInt8] {
        var table = little(0, 2) + little(kind, 2) + little(entries.count, 2)
        var offset = 6 + 16 * entries.count
        for entry in entries {
            table +=
                [UInt8(entry.width & 255), UInt8(entry.height & 255), 0, 0] + little(1, 2) + little(entry.depth, 2)
            table += little(entry.length ?? entry.data.count, 4) + little(entry.offset ?? offset, 4)
            offset += entry.data.count
        }
        return table + entries.flatMap(\.data)
    }

    /// A bitmap's header and palette, followed by these rows.
    static func bitmap(
        _ width: Int, _ height: Int, bits: Int, palette: [[UInt8]] = [], compression: Int = 0, rows: [[UInt8]]
    ) -> [UInt8] {
        var data = little(40, 4) + little(width, 4) + little(height * 2, 4)
        data += little(1, 2) + little(bits, 2) + little(compression, 4) + little(0, 12)
        data += little(palette.count, 4) + little(0, 4)
        return data + palette.flatMap { $0 + [0] } + rows.flatMap { $0 }
    }

    /// A bitmap of one opaque pixel.
    static func pixel(_ blue: UInt8, bits: Int = 32) -> [UInt8] {
        bitmap(1, 1, bits: bits, rows: [[blue, 0, 0, bits == 32 ? 255 : 0], [0, 0, 0, 0]])
    }
}

/// The bytes of a number, least significant first.
private func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> ($0 * 8)) : 0 }
}
