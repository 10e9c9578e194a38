import WebImageCore

/// The memory cache's store: a hash table over flat memory whose entries also form a list by last use.
///
/// Entries lie in one array and are linked by index; the table of slots (open addressing, linear probing, never more
/// than half full) holds their indices beside 32 bits of their hash, so that a probe touches an entry only when it is
/// all but certain to be the one. Every operation is O(1), and a look-up allocates nothing. Not thread-safe.
struct MemoryTable: ~Copyable, @unchecked Sendable {
    // Sendable: it owns all the memory that it points to, alone.
    struct Entry {
        let key: CacheKey
        let image: Image
        let cost: Int
        /// The entry used just before and just after this one; `none` at the ends.
        var older: Int32
        var newer: Int32
    }

    private struct Slot {
        /// Index of the entry, or `none`.
        var entry: Int32
        var tag: UInt32
    }

    static let none: Int32 = -1

    private var slots: UnsafeMutablePointer<Slot>
    private var mask: Int
    private var entries: UnsafeMutablePointer<Entry>
    private var capacity: Int
    /// Indices of unused entries; as many as `capacity - count`.
    private var free: UnsafeMutablePointer<Int32>
    private(set) var count = 0
    private(set) var cost = 0
    private(set) var oldest = MemoryTable.none
    private(set) var newest = MemoryTable.none

    init() {
        capacity = 16
        mask = capacity * 2 - 1
        (slots, entries, free) = Self.allocate(capacity)
    }

    deinit {
        var index = oldest
        while index != Self.none {
            let next = entries[Int(index)].newer
            (entries + Int(index)).deinitialize(count: 1)
            index = next
        }
        slots.deallocate()
        entries.deallocate()
        free.deallocate()
    }

    /// The index of `key`'s entry, or `none`.
    func find(_ key: CacheKey) -> Int32 {
        let slot = findSlot(key)
        return slots[slot].entry
    }

    func image(at index: Int32) -> Image { entries[Int(index)].image }

    /// Makes the entry the most recently used.
    mutating func touch(_ index: Int32) {
        guard index != newest else { return }
        unlink(index)
        linkNewest(index)
    }

    /// Adds an entry for a key that has none, as the most recently used.
    mutating func insert(_ image: Image, for key: CacheKey, cost: Int) {
        if count == capacity { grow() }
        let index = free[capacity - count - 1]
        (entries + Int(index)).initialize(
            to: Entry(key: key, image: image, cost: cost, older: Self.none, newer: Self.none))
        slots[findSlot(key)] = Slot(entry: index, tag: Self.tag(key))
        count += 1
        self.cost += cost
        linkNewest(index)
    }

    /// Takes an entry out and hands it over, so that the caller decides when its memory goes.
    mutating func remove(_ index: Int32) -> Entry {
        unlink(index)
        let entry = (entries + Int(index)).move()
        clearSlot(of: entry.key, index)
        count -= 1
        cost -= entry.cost
        free[capacity - count - 1] = index
        return entry
    }

    // MARK: - Slots

    private static func tag(_ key: CacheKey) -> UInt32 { UInt32(truncatingIfNeeded: key.hashCode >> 32) }

    /// The slot that holds the key's entry, or the empty one where it would be.
    private func findSlot(_ key: CacheKey) -> Int {
        let tag = Self.tag(key)
        var slot = key.hashCode & mask
        while true {
            let found = slots[slot]
            if found.entry == Self.none { return slot }
            if found.tag == tag, entries[Int(found.entry)].key == key { return slot }
            slot = (slot + 1) & mask
        }
    }

    /// Empties the slot of a removed entry and closes the gap, so that no tombstones are needed.
    private func clearSlot(of key: CacheKey, _ index: Int32) {
        var gap = key.hashCode & mask
        while slots[gap].entry != index { gap = (gap + 1) & mask }
        var slot = gap
        while true {
            slot = (slot + 1) & mask
            let entry = slots[slot].entry
            if entry == Self.none { break }
            let home = entries[Int(entry)].key.hashCode & mask
            // It may fill the gap only if the gap is not before its home slot.
            if (slot - home) & mask >= (slot - gap) & mask {
                slots[gap] = slots[slot]
                gap = slot
            }
        }
        slots[gap].entry = Self.none
    }

    private mutating func grow() {
        let (oldSlots, oldEntries, oldFree, oldCapacity) = (slots, entries, free, capacity)
        capacity *= 2
        mask = capacity * 2 - 1
        (slots, entries, free) = Self.allocate(capacity)
        // The table is full: every entry is in use, and keeps its index.
        entries.moveInitialize(from: oldEntries, count: oldCapacity)
        for index in 0..<oldCapacity {
            let key = entries[index].key
            slots[findSlot(key)] = Slot(entry: Int32(index), tag: Self.tag(key))
        }
        oldSlots.deallocate()
        oldEntries.deallocate()
        oldFree.deallocate()
    }

    private static func allocate(
        _ capacity: Int
    ) -> (UnsafeMutablePointer<Slot>, UnsafeMutablePointer<Entry>, UnsafeMutablePointer<Int32>) {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity * 2)
        slots.initialize(repeating: Slot(entry: none, tag: 0), count: capacity * 2)
        let free = UnsafeMutablePointer<Int32>.allocate(capacity: capacity)
        for index in 0..<capacity { (free + index).initialize(to: Int32(capacity - 1 - index)) }
        return (slots, .allocate(capacity: capacity), free)
    }

    // MARK: - Order of use

    private mutating func unlink(_ index: Int32) {
        let (older, newer) = (entries[Int(index)].older, entries[Int(index)].newer)
        if older == Self.none { oldest = newer } else { entries[Int(older)].newer = newer }
        if newer == Self.none { newest = older } else { entries[Int(newer)].older = older }
    }

    private mutating func linkNewest(_ index: Int32) {
        entries[Int(index)].older = newest
        entries[Int(index)].newer = Self.none
        if newest == Self.none { oldest = index } else { entries[Int(newest)].newer = index }
        newest = index
    }
}

extension MemoryTable {
    /// Every entry from the least to the most recently used.
    func forEach(_ body: (Entry) -> Void) {
        var index = oldest
        while index != Self.none {
            body(entries[Int(index)])
            index = entries[Int(index)].newer
        }
    }

    /// What is wrong with sums, links and slots, or nil. For tests; O(n).
    func fault() -> String? {
        var (seen, sum, previous, index) = (0, 0, Self.none, oldest)
        while index != Self.none {
            let entry = entries[Int(index)]
            if entry.older != previous { return "entry \(index) does not link back to \(previous)" }
            if find(entry.key) != index { return "entry \(index) is not found by its key" }
            seen += 1
            sum += entry.cost
            if seen > count { return "the list of \(count) entries does not end" }
            (previous, index) = (index, entry.newer)
        }
        if newest != previous { return "newest is \(newest), the list ends in \(previous)" }
        if seen != count { return "count is \(count), the list has \(seen)" }
        if sum != cost { return "cost is \(cost), the entries' sum is \(sum)" }
        let used = (0...mask).count { slots[$0].entry != Self.none }
        return used == count ? nil : "\(used) slots are in use for \(count) entries"
    }
}
