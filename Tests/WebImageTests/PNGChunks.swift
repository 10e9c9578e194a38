import WebImageTesting

/// Reads and makes chunks of PNGs, for files that no encoder writes.
enum PNGChunks {
    /// The name and the data of each chunk.
    static func all(in png: [UInt8]) -> [(name: String, data: [UInt8])] {
        var (chunks, place): ([(name: String, data: [UInt8])], Int) = ([], 8)
        while place < png.count {
            let end = place + png[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } + 12
            chunks.append(
                (String(decoding: png[place + 4..<place + 8], as: UTF8.self), Array(png[place + 8..<end - 4])))
            place = end
        }
        return chunks
    }

    /// A whole chunk with its length and checksum (PNG specification, annex D).
    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return big(data.count) + body + big(Int(Checksum.crc32(body)))
    }

    static func big(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 255) } }
}
