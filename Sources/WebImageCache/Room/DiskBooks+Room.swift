// Decides which writes get room, and which entries are evicted for them.
extension DiskBooks {
    /// The answer to a request for room.
    enum RoomAnswer {
        case granted
        /// Evictions cannot make that room.
        case refused
        /// Evict these first; then ask again.
        case evict([DiskIndex.Victim])
    }

    /// Reserves bytes if nothing must be evicted.
    mutating func reserveFreeRoom(_ bytes: Int64) -> Bool {
        let capacity = ledger.capacity
        guard bytes <= capacity, used <= capacity - bytes, bytes <= ledger.spareSpace ?? .max, !isOverCount else {
            return false
        }
        ledger.promise(bytes)
        return true
    }

    /// Reserves bytes from the headroom, which the other caches count as taken already, so that they need not be told.
    mutating func reserveHeadroom(_ bytes: Int64) -> Bool {
        guard bytes <= ledger.share.headroom, reserveFreeRoom(bytes) else { return false }
        ledger.share.didReserveHeadroom(bytes)
        return true
    }

    mutating func reserve(_ bytes: Int64) -> RoomAnswer {
        let capacity = ledger.capacity
        guard bytes <= capacity, ledger.maxEntries != 0 else { return .refused }
        if reserveFreeRoom(bytes) { return .granted }
        let victims = takeVictims { books in
            books.remaining > capacity - bytes || books.isOverCount
                || books.ledger.spareSpace.map { $0 + books.ledger.leavingBytes < bytes } ?? false
        }
        return victims.isEmpty ? .refused : .evict(victims)
    }

    /// Whether refused room may become available when the other caches' changes are learnt.
    func maySucceedLater(_ bytes: Int64) -> Bool { bytes <= ledger.capacity && ledger.share.foreign != 0 }

    /// The bytes that remain when all evicted files are removed.
    var remaining: Int64 { used - ledger.leavingBytes }

    private var isOverCount: Bool {
        guard let limit = ledger.maxEntries else { return false }
        // If nothing can be evicted, one entry may be written nevertheless, unless the limit is zero.
        return index.count + ledger.entriesBeingWritten > limit && (index.count > 0 || limit == 0)
    }

    // MARK: - Eviction

    /// Removes the first entries to evict from the index while `condition` holds, at most `most` of them.
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

    /// Returns whether background eviction should be started. It returns true only once until ``nextVictims(most:at:)``
    /// has no more.
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

    /// The file of an evicted entry has been removed, or was replaced by a new entry.
    /// - Parameter freed: the bytes that this cache has thereby freed; nil: the known size of the entry.
    mutating func didEvict(_ victim: DiskIndex.Victim, freed: Freed? = nil) {
        ledger.endLeaving(victim)
        statistics.evictions += 1
        ledger.changeSpareSpace(by: victim.bytes)
        ledger.share.account(known: victim.bytes, freed: freed)
    }

    /// The file of an evicted entry could not be removed: the entry still counts, and other entries are evicted before
    /// it.
    mutating func didNotEvict(_ victim: DiskIndex.Victim) {
        ledger.endLeaving(victim)
        guard !index.contains(victim.id) else { return }
        index.set(DiskIndex.Record(id: victim.id, bytes: victim.bytes, length: 0, date: victim.date, recordedDate: 0))
    }

    /// The file of an evicted entry stays: another cache has used or replaced it.
    mutating func spare(_ victim: DiskIndex.Victim, _ record: DiskIndex.Record) {
        ledger.endLeaving(victim)
        guard !index.contains(victim.id) else { return }
        index.adopt([record])
        ledger.share.account(known: victim.bytes - record.bytes, freed: .nothing)
    }
}
