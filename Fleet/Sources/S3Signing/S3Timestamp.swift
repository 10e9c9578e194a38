/// A time in the format of signatures, in UTC.
public struct S3Timestamp: Hashable, Sendable {
    /// The time in a form such as `20130524T000000Z`.
    public let text: String

    /// The date in a form such as `20130524`.
    public var day: String { String(text.prefix(8)) }

    /// - Parameter seconds: since 1970, within the years 0 to 9999.
    public init(secondsSince1970 seconds: Int64) {
        let (days, second) = seconds.quotientAndRemainder(flooringBy: 86_400)
        let date = Self.date(days)
        let time = [second / 3600, second / 60 % 60, second % 60].map { Self.digits($0, 2) }.joined()
        text = "\(Self.digits(date.year, 4))\(Self.digits(date.month, 2))\(Self.digits(date.day, 2))T\(time)Z"
    }

    /// The date of a day, by Howard Hinnant's `civil_from_days`: years begin in March, so that leap days come last.
    private static func date(_ daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // 400 years have 146,097 days; 719,468 days lie between 1 March of the year 0 and 1970.
        let (era, dayOfEra) = (daysSince1970 + 719_468).quotientAndRemainder(flooringBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(count - text.count, 0)) + text
    }
}

extension Int64 {
    fileprivate func quotientAndRemainder(flooringBy divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
