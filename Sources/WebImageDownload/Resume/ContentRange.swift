/// `Content-Range` (RFC 9110 section 14.4), in bytes.
struct ContentRange: Hashable, Sendable {
    /// Nil in an answer that states only the length of the whole (416).
    let range: Range<Int>?
    /// The length of the whole; nil if the server does not know it.
    let total: Int?

    /// Nil if the value is invalid, contradictory, or in another unit than bytes.
    init?(_ value: String?) {
        guard let words = value.map({ $0.split { $0 == " " || $0 == "\t" } }), words.count == 2,
            words[0].lowercased() == "bytes"
        else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let total = parts[1] == "*" ? nil : Self.number(parts[1])
        if total == nil, parts[1] != "*" { return nil }
        if parts[0] == "*" {
            guard total != nil else { return nil }
            range = nil
        } else {
            let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
                last < total ?? .max
            else { return nil }
            range = first..<last + 1
        }
        self.total = total
    }

    /// Whether the range is the whole body.
    ///
    /// - Parameter length: the length of the answer's body, if it is known.
    func isWhole(length: Int?) -> Bool { range.map { $0.lowerBound == 0 && $0.upperBound == total ?? length } ?? false }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
        return Int(text)
    }
}
