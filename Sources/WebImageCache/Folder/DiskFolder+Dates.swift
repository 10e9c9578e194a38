import WebImageCore

// A clock that runs ahead leaves files with dates in the future. Until these dates such entries would not expire, and
// would be evicted last.
extension DiskFolder {
    /// The status of an entry's file. A date in the future becomes now, in the file, too, so that the next process knows how
    /// old the entry has become since.
    func withoutFutureDate(_ status: FileStatus, of path: @autoclosure () -> String) -> FileStatus {
        let now = clock.wallTime
        guard status.modified.isAhead(of: now) else { return status }
        let path = path()
        // What a link leads to is not ours. If the directory is read-only, the date stays.
        if let own = try? files.linkStatus(at: path), own.isRegularFile { try? files.touch(path, at: now) }
        var status = status
        (status.modified, status.modifiedNanoseconds) = (now, now * 1_000_000_000)
        return status
    }
}

extension Int64 {
    /// Whether a date, in seconds since 1970, was set by a wrong clock: it is more than a day in the future. Clocks of
    /// machines that share a directory may differ by less.
    ///
    /// False if it is `now` that must be wrong: many machines begin in 1970 until they have asked for the time. Dates
    /// that were corrected to that would be the first to expire and to be evicted as soon as the clock is right.
    func isAhead(of now: Int64) -> Bool { now >= Self.firstPossibleTime && self > now + 86_400 }

    /// 1 January 2024, before this library existed.
    private static let firstPossibleTime: Int64 = 1_704_067_200
}
