// What of the index is not written down yet, so that no more is written than has changed.
extension DiskIndex {
    /// What is to be written of one of the 256 directories.
    struct Unwritten {
        var records: [Record] = []
        var removed: [EntryID] = []
    }

    /// The entries of a directory that are not written down as they are, and those that are and have gone; all count as
    /// written from now on.
    mutating func takeUnwritten(inShard shard: Int) -> Unwritten {
        var unwritten = Unwritten(removed: takeRemovals(inShard: shard))
        forEachPlace(inShard: shard) { index, place in
            let record = index[place]
            guard index.writtenDate(place) != record.date else { return }
            unwritten.records.append(record)
            index.setWritten(place, true, date: record.date)
        }
        // An entry that came back is among the records, too.
        return unwritten
    }

    /// The entries of a directory that were used since they were written down, and are what was written but for that.
    mutating func takeUses(inShard shard: Int) -> [IndexFrame.Use] {
        var uses: [IndexFrame.Use] = []
        forEachPlace(inShard: shard) { index, place in
            let record = index[place]
            guard let date = index.writtenDate(place), date != record.date else { return }
            uses.append(IndexFrame.Use(id: record.id.prefix, date: record.date))
            index.setWritten(place, true, date: record.date)
        }
        return uses
    }

    /// Whether something of a directory is not written down, but for dates of use. What is thought to be written may yet
    /// turn out to be written otherwise.
    func hasUnwritten(inShard shard: Int) -> Bool {
        places(inShard: shard).contains { writtenDate($0) == nil } || hasRemovals(inShard: shard)
    }

    /// A directory is written down as the index has it.
    mutating func setWritten(inShard shard: Int) {
        forEachPlace(inShard: shard) { index, place in index.setWritten(place, true, date: index[place].date) }
    }

    /// What was written of a directory was written by somebody else, or is not known: from now on the index knows.
    mutating func setWritten(_ written: [Record], inShard shard: Int) {
        _ = takeRemovals(inShard: shard)
        var dates: [EntryID: Record] = [:]
        for record in written { dates[record.id] = record }
        forEachPlace(inShard: shard) { index, place in
            let record = index[place]
            let known = dates.removeValue(forKey: record.id)
            let isSame = known.map {
                ($0.bytes, $0.length, $0.expires) == (record.bytes, record.length, record.expires)
            }
            index.setWritten(place, known != nil, date: isSame == true ? known?.date : nil)
        }
        addRemovals(Array(dates.keys), inShard: shard)
    }
}
