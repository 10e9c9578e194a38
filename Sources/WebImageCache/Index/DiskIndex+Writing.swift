// Tracks which parts of the index are not written yet, so that only changes are written.
extension DiskIndex {
    /// The unwritten changes of one of the 256 directories.
    struct Unwritten {
        var records: [Record] = []
        var removed: [EntryID] = []
    }

    /// Returns the changed entries of a directory, and the removed ones that are in the file; all count as written from
    /// now on.
    mutating func takeUnwritten(inShard shard: Int) -> Unwritten {
        var unwritten = Unwritten(removed: takeRemovals(inShard: shard))
        forEachPlace(inShard: shard) { index, place in
            let record = index[place]
            guard index.writtenDate(place) != record.date else { return }
            unwritten.records.append(record)
            index.setWritten(place, true, date: record.date)
        }
        // An entry that was removed and stored again is among the records, too.
        return unwritten
    }

    /// Returns the entries of a directory whose date of use is the only change since they were written.
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

    /// Whether a directory has unwritten changes other than dates of use. It may be true although the file turns out to
    /// be current.
    func hasUnwritten(inShard shard: Int) -> Bool {
        places(inShard: shard).contains { writtenDate($0) == nil } || hasRemovals(inShard: shard)
    }

    /// Marks a directory as written in its current state.
    mutating func setWritten(inShard shard: Int) {
        forEachPlace(inShard: shard) { index, place in index.setWritten(place, true, date: index[place].date) }
    }

    /// Sets what is known to be written of a directory, after another process wrote it or it was unknown.
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
