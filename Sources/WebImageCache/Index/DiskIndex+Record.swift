import WebImageCore

extension DiskIndex {
    /// What is known of one entry.
    struct Record: Hashable {
        let id: EntryID
        /// Allocated bytes.
        var bytes: Int64
        /// The file's length; 0 when it is not known.
        var length: Int64
        /// The date by which it leaves: its last use or last change, or when it was made. Seconds since 1970.
        var date: Int64
        /// The date that the file itself tells.
        var recordedDate: Int64
        /// The end of its own lifetime, in seconds since 1970; ``endless`` for none, 0 where that is not known.
        var expires: Int64 = 0

        static let endless = Int64.max
        var expiresKnowingly: Bool { expires != 0 && expires != Self.endless }

        /// - Returns: whether its file is an hour behind and should be told.
        mutating func use(at time: Int64) -> Bool {
            date = max(date, time)
            guard time - recordedDate >= 3600 else { return false }
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
    /// What an entry's file says of itself from outside.
    func record(of id: EntryID) -> DiskIndex.Record {
        DiskIndex.Record(id: id, bytes: blockBytes, length: size, date: modified, recordedDate: modified)
    }
}

extension EncodedTrailer {
    /// ``expiresAt`` as the index has it.
    var endOfLifetime: Int64 { expiresAt ?? DiskIndex.Record.endless }
}
