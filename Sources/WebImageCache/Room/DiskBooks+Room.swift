// Who gets room, and who leaves for it.
extension DiskBooks {
    /// An answer to a wish for room.
    enum RoomAnswer {
        case granted
        /// No eviction can make that room.
        case refused
        /// These must go first; then ask again.
        case evict([DiskIndex.Victim])
    }

    /// Reserves bytes if nothing must go for them.
    mutating func reserveFreeRoom(_ bytes: Int64) -> Bool {
        let capacity = ledger.capacity
        guard bytes <= capacity, used <= capacity - bytes, bytes <= ledger.spareSpace ?? .max, !isOverCount else {
            return false
        }
        ledger.promise(bytes)
        return true
    }

    /// The same out of what the others count as taken already, so that they need not be told.
    mutating func reserveHeadroom(_ bytes: Int64) -> Bool {
        guard bytes <= ledger.share.headroom, reserveFreeRoom(bytes) else { return false }
        ledger.share.didPromiseHeadroom(bytes)
        return true
    }

    mutating func reserve(_ bytes: Int64) -> RoomAnswer {
        let capacity = ledger.capacity
        guard bytes <= capacity, ledger.mostEntries != 0 else { return .refused }
        if reserveFreeRoom(bytes) { return .granted }
        let victims = takeVictims { books in
            books.remaining > capacity - bytes || books.isOverCount
                || books.ledger.spareSpace.map { $0 + books.ledger.leavingBytes < bytes } ?? false
        }
        return victims.isEmpty ? .refused : .evict(victims)
    }

    /// Whether room that is refused now may come about when it is learnt anew what others do.
    func maySucceedLater(_ bytes: Int64) -> Bool { bytes <= ledger.capacity && ledger.share.foreign != 0 }

    /// What is left once everything that leaves is gone.
    var remaining: Int64 { used - ledger.leavingBytes }

    private var isOverCount: Bool {
        guard let limit = ledger.mostEntries else { return false }
        return index.count + max(ledger.entriesBeingWritten, 1) > limit && index.count > 0
    }

    // MARK: - Eviction

    /// Takes the first entries to leave out of the index while `condition` holds, at most `most` of them.
    mutating func takeVictims(most: Int = .max, while condition: (DiskBooks) -> Bool) -> [DiskIndex.Victim] {
        takeVictims(most: most) { books in condition(books) ? books.index.takeOldest() : nil }
    }

    private mutating func takeVictims(
        most: Int, next: (inout DiskBooks) -> DiskIndex.Victim?
    ) -> [DiskIndex.Victim] {
        var victims: [DiskIndex.Victim] = []
        while victims.count < most, let victim = next(&self) {
            ledger.beginLeaving(victim)
            journal.changes.note(victim.id)
            victims.append(victim)
        }
        return victims
    }

    mutating func takeExpired(most: Int, at now: Int64) -> [DiskIndex.Victim] {
        takeVictims(most: most) { books in
            if let oldest = books.index.oldest, books.ledger.isExpired(date: oldest.date, at: now) {
                return books.index.takeOldest()
            }
            return books.index.takeExpired(at: now)
        }
    }

    /// Returns whether background eviction should be started; the answer is true once until ``nextVictims(most:at:)``
    /// has none left.
    mutating func shouldStartEviction(at now: Int64) -> Bool {
        guard !ledger.isEvicting, scan.isDone else { return false }
        let hasExpired = index.oldest.map { ledger.isExpired(date: $0.date, at: now) } ?? false
        if used > ledger.highWater || index.count > ledger.countAt(tenths: 9) || (ledger.spareSpace ?? 0) < 0 {
            ledger.evictsToLowWater = true
        }
        ledger.isEvicting = hasExpired || index.hasExpired(at: now) || ledger.evictsToLowWater
        return ledger.isEvicting
    }

    mutating func nextVictims(most: Int, at now: Int64) -> [DiskIndex.Victim] {
        var victims = takeExpired(most: most, at: now)
        if ledger.evictsToLowWater {
            let (target, count) = (ledger.lowWater, ledger.countAt(tenths: 8))
            victims += takeVictims(most: most - victims.count) { books in
                books.remaining > target || books.index.count > count
                    || (books.ledger.spareSpace ?? 0) + books.ledger.leavingBytes < 0
            }
        }
        if victims.isEmpty { stopEvicting() }
        return victims
    }

    mutating func stopEvicting() { (ledger.isEvicting, ledger.evictsToLowWater) = (false, false) }

    /// A victim's file is gone, or was replaced by a new entry in the meantime.
    /// - Parameter freed: what this cache has taken from the disk by it; nil: what was known of it.
    mutating func didEvict(_ victim: DiskIndex.Victim, freed: Freed? = nil) {
        ledger.endLeaving(victim)
        statistics.evictions += 1
        ledger.changeSpareSpace(by: victim.bytes)
        ledger.share.account(known: victim.bytes, freed: freed)
    }

    /// A victim's file could not be removed: it still counts, and others are tried before it.
    mutating func didNotEvict(_ victim: DiskIndex.Victim) {
        ledger.endLeaving(victim)
        guard !index.contains(victim.id) else { return }
        index.set(DiskIndex.Record(id: victim.id, bytes: victim.bytes, length: 0, date: victim.date, recordedDate: 0))
    }

    /// A victim's file stays: another cache has used it, or put another in its place.
    mutating func spare(_ victim: DiskIndex.Victim, _ record: DiskIndex.Record) {
        ledger.endLeaving(victim)
        guard !index.contains(victim.id) else { return }
        index.adopt([record])
        ledger.share.account(known: victim.bytes - record.bytes, freed: .nothing)
    }
}
