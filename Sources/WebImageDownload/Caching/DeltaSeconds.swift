/// Whole seconds as HTTP writes them (RFC 9111 section 1.2.2).
enum DeltaSeconds {
    /// What stands for every number that is too large, as the RFC wants it: 68 years.
    static let most: Int64 = 2_147_483_648

    /// Nil for what is not a row of digits.
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

    /// An `Age` (RFC 9111 section 5.1): the first value of several; nil for what is none.
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
    /// Sums and differences of times that came from outside: what does not fit stops at the end of the scale.
    func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func subtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
