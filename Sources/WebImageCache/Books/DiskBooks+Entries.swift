import WebImageCore

// Events of single entries, and of the whole directory.
extension DiskBooks {
    /// Reserved bytes have become an entry, or a change of one.
    /// - Parameter freed: the bytes that the change has freed on the disk; nil: the known size of the entry.
    mutating func fulfil(
        _ reserved: Int64, _ record: DiskIndex.Record, keepsPlace: Bool = false, freed: Freed? = nil
    ) {
        let known = (index.record(of: record.id)?.bytes ?? 0) + ledger.leavingBytes(of: record.id)
        ledger.fulfil(reserved, known: known, freed: freed)
        if keepsPlace { index.update(record) } else { index.set(record) }
        journal.changes.note(record.id)
    }

    /// An entry's file has been removed.
    /// - Parameter freed: the bytes that this cache has thereby freed; nil: the known size of the entry.
    mutating func remove(_ id: EntryID, freed: Freed? = nil) {
        ledger.share.account(known: index.remove(id)?.bytes ?? 0, freed: freed)
        journal.changes.note(id)
        scan.noteRemoval(id)
    }

    /// Another cache has stored an entry.
    mutating func adopt(_ record: DiskIndex.Record) {
        guard !index.contains(record.id), !ledger.isLeaving(record.id) else { return }
        index.adopt([record])
        journal.changes.note(record.id)
        ledger.share.account(known: -record.bytes, freed: .nothing)
    }

    /// An entry's file was seen; another cache may have replaced it.
    mutating func see(_ status: FileStatus, of id: EntryID) {
        guard var record = index.record(of: id) else { return adopt(status.record(of: id)) }
        let isOther = record.bytes != status.blockBytes
        guard isOther || status.modified > record.recordedDate else { return }
        // If another cache has used the entry later, the entry gets its place in the order when its turn to be evicted
        // comes.
        record.recordedDate = max(record.recordedDate, status.modified)
        if isOther {
            ledger.share.account(known: record.bytes - status.blockBytes, freed: .nothing)
            (record.bytes, record.length, record.expires) = (status.blockBytes, status.size, 0)
            journal.changes.note(id)
        }
        index.update(record)
    }

    /// The whole directory has been removed.
    mutating func removeAll() {
        for record in index.recordsByDate { journal.changes.note(record.id) }
        index.removeAll()
        journal.generation += 1
        scan.forgetDirectories()
        ledger.reset()
    }

    // MARK: - Uses

    /// A use of a known entry that is not expired and is about to be read.
    struct Use {
        /// The file's length.
        let length: Int64
        let expires: Int64
        /// Whether the file's date is outdated and should be updated.
        let isBehind: Bool
        let flushDelay: Duration?
    }

    /// Counts a hit, which ``missAfterAll()`` reverts.
    mutating func useKnown(_ id: EntryID, at now: Int64) -> Use? {
        guard let place = index.place(of: id) else { return nil }
        let record = index[place]
        guard record.length > 0, record.length <= ledger.longestEntry,
            !ledger.isExpired(date: record.date, at: now)
        else { return nil }
        statistics.hits += 1
        var isBehind = false
        if ledger.ageBasis == .lastUse {
            isBehind = index.use(place, at: now)
            journal.changes.noteUse(id)
        }
        return Use(length: record.length, expires: record.expires, isBehind: isBehind, flushDelay: scheduleFlush())
    }

    mutating func missAfterAll() { statistics.hits -= 1 }

    mutating func learn(_ id: EntryID, expires: Int64) { index.learn(id, expires: expires) }

    /// - Returns: nil if the entry is not known; else whether the date of its file should be updated.
    mutating func use(_ id: EntryID, at now: Int64, expires: Int64) -> Bool? {
        statistics.hits += 1
        index.learn(id, expires: expires)
        guard ledger.ageBasis == .lastUse else { return index.contains(id) ? false : nil }
        guard let isBehind = index.place(of: id).map({ index.use($0, at: now) }) else { return nil }
        journal.changes.noteUse(id)
        return isBehind
    }

    /// Takes back a used entry that is not in the index: it was about to be evicted, or another cache has stored it.
    /// - Returns: whether the date of its file should be updated.
    mutating func comeBack(_ record: DiskIndex.Record, usedAt now: Int64) -> Bool {
        var record = record
        let isBehind = ledger.ageBasis == .lastUse && record.use(at: now)
        guard !index.contains(record.id) else { return false }
        if !ledger.isLeaving(record.id), scan.isDone {
            adopt(record)
        } else {
            index.set(record)
            journal.changes.note(record.id)
        }
        return isBehind
    }

    /// Whether an entry has not been used for too long.
    /// - Parameter modified: the date of its file: another process may have used it later than the index knows.
    func isExpired(_ id: EntryID, modified: Int64, at now: Int64) -> Bool {
        ledger.isExpired(date: max(index.record(of: id)?.date ?? .min, modified), at: now)
    }
}
