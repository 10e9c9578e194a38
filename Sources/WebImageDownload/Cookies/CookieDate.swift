import WebImageSystem

/// Parses the date in a cookie's `Expires` by RFC 6265 section 5.1.1: day, month, year and time in any order, between any
/// separators. ``HTTPTimestamp`` takes the three forms of HTTP only.
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Seconds since 1970; nil if the text is not such a date. Never traps.
    static func seconds(_ text: String) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        var (time, day, month, year): ([Int]?, Int?, Int?, Int?)
        // Each word is taken for the first of these that it can be and that was not found yet.
        for word in text.lowercased().utf8.split(whereSeparator: isSeparator) {
            if time == nil, let found = Self.time(word) {
                time = found
            } else if day == nil, let found = number(word, 1...2) {
                day = found
            } else if month == nil, let found = months.firstIndex(where: { word.starts(with: $0.utf8) }) {
                month = found + 1
            } else if year == nil, let found = number(word, 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        guard let time, let day, let month, let year, year >= 1601, time[0] < 24, time[1] < 60, time[2] <= 60,
            (1...CivilDate.days(inMonth: month, of: year)).contains(day)
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        return Int64(((days * 24 + time[0]) * 60 + time[1]) * 60 + time[2])
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// `8:49:37`
    private static func time(_ word: Substring.UTF8View) -> [Int]? {
        let parts = word.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[..<2].allSatisfy({ $0.allSatisfy(isDigit) }) else { return nil }
        let numbers = parts.compactMap { number($0, 1...2) }
        return numbers.count == 3 ? numbers : nil
    }

    /// The number at the beginning of a word; nil if it has more or fewer digits than `lengths` allows.
    private static func number(_ word: Substring.UTF8View, _ lengths: ClosedRange<Int>) -> Int? {
        let digits = word.prefix(while: isDigit)
        return lengths.contains(digits.count) ? Int(Substring(digits)) : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
