/// Days of the Gregorian calendar.
public enum CalendarDay {
    /// Days since 1 January 1970.
    ///
    /// - Parameters:
    ///   - month: from 1.
    ///   - day: from 1.
    public static func number(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
