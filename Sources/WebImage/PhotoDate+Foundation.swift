public import WebImageCodecs

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PhotoDate {
    /// Returns the date as a moment in time, if the camera's time zone is known.
    ///
    /// - Parameter zone: the time zone of the camera, used if the photo does not contain it
    ///   (``/WebImageCodecs/PhotoDate/minutesFromUTC``), as most do not. Default nil.
    /// - Returns: the moment; nil if the time zone is not known, or if there is no such day.
    public func date(in zone: TimeZone? = nil) -> Date? {
        guard let zone = minutesFromUTC.flatMap({ TimeZone(secondsFromGMT: $0 * 60) }) ?? zone else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let components = DateComponents(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard let date = calendar.date(from: components), calendar.component(.day, from: date) == day || second == 60
        else { return nil }
        return date
    }
}
