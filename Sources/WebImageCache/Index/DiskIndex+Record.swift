import WebImageCore

extension DiskIndex {
    /// The record of one entry.
    struct Record: Hashable {
        let id: EntryID
        /// Allocated bytes.
        var bytes: Int64
        /// The file's length; 0 if it is not known.
        var length: Int64
        /// The date that determines when it is evicted: of its last use, its last change or its creation. Seconds since
        /// 1970.
        var date: Int64
        /// The date of the file itself.
        var recordedDate: Int64
        /// The end of its own lifetime, in seconds since 1970; ``endless`` if there is none, 0 if it is not known.
        var expires: Int64 = 0

        static let endless = Int64.max
        var expiresKnowingly: Bool { expires != 0 && expires != Self.endless }

        /// - Returns: whether the file's date is outdated by an hour and should be updated.
        mutating func use(at time: Int64) -> Bool {
            date = date.isAhead(of: time) ? time : max(date, time)
            let (age, overflow) = time.subtractingReportingOverflow(recordedDate)
            guard overflow || age >= 3600 || recordedDate.isAhead(of: time) else { return false }
            recordedDate = time
            return true
        }
    }

    struct Victim: Hashable {
        let id: EntryID
        let bytes: Int64
        let date: Int64
    }
}

extension FileStatus {
    /// The record by the status of an entry's file.
    func record(of id: EntryID) -> DiskIndex.Record {
        DiskIndex.Record(id: id, bytes: blockBytes, length: size, date: modified, recordedDate: modified)
    }
}

extension EncodedTrailer {
    /// ``expiresAt`` in the form of the index.
    var endOfLifetime: Int64 { expiresAt ?? DiskIndex.Record.endless }
}
