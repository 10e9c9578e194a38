/// Non-negative integers of seconds in HTTP fields (RFC 9111 section 1.2.2).
enum DeltaSeconds {
    /// Replaces every larger number, as the RFC demands: 68 years.
    static let most: Int64 = 2_147_483_648

    /// Nil if the text is not a sequence of digits.
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in text.utf8 {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = min(value * 10 + Int64(digit), most)
        }
        return value
    }

    /// Parses `Age` (RFC 9111 section 5.1): the first of several values; nil if it is invalid.
    static func age(_ text: String?) -> Int64? {
        guard let text else { return nil }
        let first = text.prefix { $0 != "," }
        return parse(String(first).trimmingBlanks())
    }
}

extension String {
    /// Without spaces and tabs at both ends.
    func trimmingBlanks() -> Substring {
        var text = self[...]
        while let last = text.utf8.last, last == 32 || last == 9 { text.removeLast() }
        while let first = text.utf8.first, first == 32 || first == 9 { text.removeFirst() }
        return text
    }
}

extension Int64 {
    /// Saturating arithmetic for times that came from outside.
    func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func subtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
