import WebImageSystem

/// Parses the date in a cookie's `Expires`: HTTP's three forms and other common ones, more leniently than
/// ``HTTPTimestamp`` (RFC 6265 section 5.1.1).
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Seconds since 1970; nil if the text is not such a date. Never traps.
    static func seconds(_ text: String) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.lowercased().split { " ,-:".contains($0) }
        guard words.count >= 7, let month = words.firstIndex(where: { months.contains(String($0)) }),
            let monthNumber = months.firstIndex(of: String(words[month]))
        else { return nil }
        // asctime puts the month before the day and the year last; the other forms put the day first.
        let isOld = month == 1
        guard words.count >= (isOld ? 7 : 8), isOld || month == 2 else { return nil }
        let places = isOld ? (day: 2, year: 6, time: 3) : (day: 1, year: 3, time: 4)
        let numbers = [places.day, places.year, places.time, places.time + 1, places.time + 2].map { number(words[$0]) }
        guard let day = numbers[0], var year = numbers[1], let hour = numbers[2], let minute = numbers[3],
            let second = numbers[4], (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        if words[places.year].utf8.count == 2 { year += year < 70 ? 2000 : 1900 }
        guard (1900...9999).contains(year) else { return nil }
        let date = CivilDate(year: year, month: monthNumber + 1, day: day)
        return Int64(((date.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second)
    }

    private static func number(_ word: Substring) -> Int? {
        guard word.utf8.count <= 4, word.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
        return Int(word)
    }
}
