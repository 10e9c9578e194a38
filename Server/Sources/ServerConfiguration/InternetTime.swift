import ServerGrammar

/// Parses times as RFC 3339 writes them: `2026-01-31T12:00:00Z`, `2026-01-31T12:00:00.5+02:00`.
enum InternetTime {
    /// - Returns: seconds since 1970, without fractions; nil if the text is not such a time.
    static func seconds(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20 else { return nil }
        func number(_ range: Range<Int>, _ allowed: ClosedRange<Int>) -> Int? {
            guard range.upperBound <= bytes.count else { return nil }
            var value = 0
            for byte in bytes[range] {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + Int(byte) - 48
            }
            return allowed.contains(value) ? value : nil
        }
        func has(_ characters: String, at place: Int) -> Bool {
            place < bytes.count && characters.utf8.contains(bytes[place])
        }
        guard has("-", at: 4), has("-", at: 7), has("Tt ", at: 10), has(":", at: 13), has(":", at: 16),
            let year = number(0..<4, 1...9999), let month = number(5..<7, 1...12),
            let day = number(8..<10, 1...days(of: month, year)), let hour = number(11..<13, 0...23),
            let minute = number(14..<16, 0...59), let second = number(17..<19, 0...60)
        else { return nil }
        var place = 19
        if has(".", at: place) {
            place += 1
            let start = place
            while place < bytes.count, (48...57).contains(bytes[place]) { place += 1 }
            guard place > start else { return nil }
        }
        var offset = 0
        if has("+-", at: place) {
            guard has(":", at: place + 3), bytes.count == place + 6,
                let hours = number(place + 1..<place + 3, 0...23), let minutes = number(place + 4..<place + 6, 0...59)
            else { return nil }
            offset = (hours * 60 + minutes) * 60 * (bytes[place] == 45 ? -1 : 1)
        } else {
            guard has("Zz", at: place), bytes.count == place + 1 else { return nil }
        }
        return CalendarDay.number(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    }

    private static func days(of month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }
}
