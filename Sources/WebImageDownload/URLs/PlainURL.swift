import WebImageCore

/// The positions of the parts of a URL that is in normal form already, as nearly every URL is. They are found in one
/// pass over its bytes, without decoding, encoding or resolving. ``WebURL`` parses all others more slowly, with the
/// same result.
struct PlainURL {
    let isSecure: Bool
    let hostStart: Int
    let hostEnd: Int
    /// Nil if there is none.
    let port: Int?
    let pathStart: Int
    let pathEnd: Int

    /// Nil if the text is not in normal form; it may be a valid URL nevertheless.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        let scheme: StaticString
        if Self.begins(text, with: "https://") {
            scheme = "https://"
        } else if Self.begins(text, with: "http://") {
            scheme = "http://"
        } else {
            return nil
        }
        hostStart = scheme.utf8CodeUnitCount
        isSecure = hostStart == 8
        hostEnd = Self.end(of: Self.hostBytes, in: text, from: hostStart)
        var place = hostEnd
        guard hostEnd > hostStart, hostEnd - hostStart <= 255, place < text.count else { return nil }
        var number = 0
        if text[place] == UInt8(ascii: ":") {
            place += 1
            // A leading zero is not in normal form.
            guard place < text.count, text[place] != UInt8(ascii: "0") else { return nil }
            while place < text.count, text[place] &- UInt8(ascii: "0") < 10, number <= 65535 {
                number = number * 10 + Int(text[place] &- UInt8(ascii: "0"))
                place += 1
            }
            guard place < text.count, (1...65535).contains(number), number != (isSecure ? 443 : 80) else { return nil }
        }
        port = number == 0 ? nil : number
        guard text[place] == UInt8(ascii: "/") else { return nil }
        pathStart = place
        while true {
            place = Self.end(of: Self.pathBytes, in: text, from: place)
            guard place < text.count, text[place] != UInt8(ascii: "?") else { break }
            // A dot after a slash may begin a dot segment.
            if text[place] == UInt8(ascii: "."), text[place - 1] == UInt8(ascii: "/") { return nil }
            guard Self.isNormal(text, at: place) else { return nil }
            place += 1
        }
        pathEnd = place
        while true {
            place = Self.end(of: PercentEncoding.literals, in: text, from: place)
            guard place < text.count else { break }
            guard Self.isNormal(text, at: place) else { return nil }
            place += 1
        }
    }

    /// The bytes of a host name in lower case or of an IPv4 address: `-.0-9`, then `a-z`.
    @inline(__always) private static var hostBytes: ASCIISet {
        ASCIISet(low: 0x03FF_6000_0000_0000, high: 0x07FF_FFFE_0000_0000)
    }

    /// The bytes of a path that need no further check.
    @inline(__always) private static var pathBytes: ASCIISet { PercentEncoding.literals.without(".").without("?") }

    /// The first place from `start` on whose byte is not in the set.
    @inline(__always)
    private static func end(of set: ASCIISet, in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var place = start
        while place < text.count, set.contains(text[place]) { place += 1 }
        return place
    }

    /// Whether the byte at a place stands for itself in a path or query, or begins an escape.
    @inline(__always)
    private static func isNormal(_ text: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        PercentEncoding.isLiteral(text[place])
            || text[place] == UInt8(ascii: "%") && PercentEncoding.isEscape(text, at: place)
    }

    private static func begins(_ text: UnsafeBufferPointer<UInt8>, with start: StaticString) -> Bool {
        guard text.count >= start.utf8CodeUnitCount else { return false }
        for place in 0..<start.utf8CodeUnitCount where text[place] != start.utf8Start[place] { return false }
        return true
    }
}
