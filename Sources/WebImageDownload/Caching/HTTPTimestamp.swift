import WebImageSystem

/// A time in HTTP: an HTTP-date in any of its three forms (RFC 9110 section 5.6.7), in seconds since 1970.
struct HTTPTimestamp: Hashable, Comparable, Sendable {
    let seconds: Int64

    init(seconds: Int64) { self.seconds = seconds }

    static func < (left: HTTPTimestamp, right: HTTPTimestamp) -> Bool { left.seconds < right.seconds }

    /// Nil if the text is not a date. Upper and lower case are accepted, as RFC 9111 section 4.2 demands; every zone
    /// but GMT is invalid.
    ///
    /// - Parameter now: seconds since 1970; determines the century of a year with two digits.
    init?(_ text: String, now: Int64) {
        guard text.utf8.count <= 64 else { return nil }
        let text = String(decoding: text.utf8.map(lowercased), as: UTF8.self)
        // Exactly one blank between two words: an invalid date counts as in the past (RFC 9111 section 5.3).
        var words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let first = words.first else { return nil }
        if first.utf8.last == UInt8(ascii: ",") {
            let day = first.dropLast()
            switch words.count {
            case 6 where Self.dayNames.contains(day): self.init(fixDate: words)
            case 4 where Self.longDayNames.contains(day): self.init(rfc850: words, now: now)
            default: return nil
            }
        } else {
            // asctime pads the day.
            if words.count == 6, words[2].isEmpty, words[3].utf8.count == 1 { words.remove(at: 2) }
            guard words.count == 5, Self.dayNames.contains(first) else { return nil }
            self.init(day: words[2], month: words[1], year: Self.number(words[4], 4...4), time: words[3])
        }
    }

    private static let dayNames: Set<Substring> = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longDayNames: Set<Substring> = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    private static let months: [Substring] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private init?(fixDate words: [Substring]) {
        guard words[5] == "gmt" else { return nil }
        self.init(day: words[1], month: words[2], year: Self.number(words[3], 4...4), time: words[4])
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`: a date that seems to be more than 50 years ahead is in the past.
    private init?(rfc850 words: [Substring], now: Int64) {
        let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
        guard words[3] == "gmt", date.count == 3, let short = Self.number(date[2], 2...2) else { return nil }
        let thisYear = Self.year(of: now)
        var year = thisYear - thisYear % 100 + short
        if year > thisYear + 50 { year -= 100 }
        if year <= thisYear - 50 { year += 100 }
        self.init(day: date[0], month: date[1], year: year, time: words[2])
    }

    private init?(day: Substring, month: Substring, year: Int?, time: Substring) {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let day = Self.number(day, 1...2), let month = Self.months.firstIndex(of: month), let year,
            clock.count == 3, let hour = Self.number(clock[0], 2...2), let minute = Self.number(clock[1], 2...2),
            let second = Self.number(clock[2], 2...2),
            (1...CivilDate.days(inMonth: month + 1, of: year)).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = CivilDate(year: year, month: month + 1, day: day).daysSince1970
        seconds = Int64(((days * 24 + hour) * 60 + minute) * 60 + second)
    }

    private static func number(_ text: Substring, _ lengths: ClosedRange<Int>) -> Int? {
        guard lengths.contains(text.utf8.count) else { return nil }
        return DeltaSeconds.parse(text).map(Int.init)
    }

    /// Exact enough to determine the century, for any clock.
    private static func year(of seconds: Int64) -> Int {
        1970 + Int(min(max(seconds, 0), 200_000_000_000) / 31_556_952)
    }
}
