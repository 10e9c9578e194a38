/// Says what bytes that are no picture look like, since most of them are an error page that came in its place.
enum UnknownBytes {
    private static let looked = 512

    static func describe(_ prefix: UnsafeRawBufferPointer) -> String {
        guard !prefix.isEmpty else { return "there are no bytes" }
        let start = trimmed(prefix)
        let lowercased = String(decoding: start, as: UTF8.self).lowercased()
        if ["<!doctype html", "<html", "<head", "<body"].contains(where: lowercased.hasPrefix) {
            return "the bytes look like HTML, perhaps an error page"
        }
        if lowercased.hasPrefix("<?xml") || lowercased.hasPrefix("<") { return "the bytes look like XML or HTML" }
        if lowercased.hasPrefix("{") || lowercased.hasPrefix("[") { return "the bytes look like JSON" }
        if start.allSatisfy({ (0x20...0x7E).contains($0) || (0x09...0x0D).contains($0) }) {
            return "the bytes look like text"
        }
        let first = prefix.prefix(8).map { hexadecimal($0) }.joined(separator: " ")
        return "its first bytes (\(first)) are of no format that is known"
    }

    /// The first bytes without a byte order mark and leading space.
    private static func trimmed(_ prefix: UnsafeRawBufferPointer) -> ArraySlice<UInt8> {
        var start = Array(prefix.prefix(looked))[...]
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { start = start.dropFirst(3) }
        return start.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0\(digits)" : digits
    }
}
