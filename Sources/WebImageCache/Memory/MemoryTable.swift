import Synchronization
import WebImageCore

/// The memory cache's store: a hash table over flat memory.
///
/// Entries are in one array and keep their index. The table of slots (open addressing, linear probing, at most half
/// full) holds their indices with 32 bits of their hash, so that a probe reads an entry only if it is almost certainly
/// the right one. Every operation is O(1), and a look-up allocates nothing. Several threads may look up entries and
/// note uses at once, while none changes the table.
struct MemoryTable: ~Copyable, @unchecked Sendable {
    // Sendable: it is the only owner of the memory that it points to.
    struct Entry {
        let key: CacheKey
        /// The storage of the `Image`; the table's only reference.
        var storage: Image.Storage
        var cost: Int
        /// Properties that few entries have, kept apart so that an entry takes one cache line.
        let extras: Extras?

        init(key: CacheKey, storage: Image.Storage, cost: Int, expires: Duration?, variant: ImageVariant?) {
            self.key = key
            self.storage = storage
            self.cost = cost
            extras = expires == nil && variant == nil ? nil : Extras(expires: expires, variant: variant)
        }

        /// The end of its lifetime by the cache's clock; nil: without end.
        var expires: Duration? { extras?.expires }
        var variant: ImageVariant? { extras?.variant }

        func isExpired(at now: Duration) -> Bool { expires.map { $0 <= now } ?? false }
    }

    final class Extras: Sendable {
        let expires: Duration?
        let variant: ImageVariant?

        init(expires: Duration?, variant: ImageVariant?) { (self.expires, self.variant) = (expires, variant) }
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
    /// How often each entry was hit since the order last asked, at most 3.
    private var uses: UnsafeMutablePointer<Atomic<UInt8>>
    private var capacity: Int
    /// Which entries are in use; a custom order may ask for others.
    private var live: [Bool]
    /// Indices of unused entries; as many as `capacity - count`.
    private var free: UnsafeMutablePointer<Int32>
    private(set) var count = 0

    init() {
        capacity = 16
        mask = capacity * 2 - 1
        live = Array(repeating: false, count: capacity)
        (slots, entries, free) = Self.allocate(capacity)
        uses = Self.allocateUses(capacity)
    }

    deinit {
        forEachIndex { (entries + Int($0)).deinitialize(count: 1) }
        slots.deallocate()
        entries.deallocate()
        free.deallocate()
        uses.deallocate()
    }

    /// The index of `key`'s entry, or `none`.
    func find(_ key: CacheKey) -> Int32 {
        let slot = findSlot(key)
        return slots[slot].entry
    }

    /// The entry at an index from ``find(_:)``.
    subscript(index: Int32) -> Entry {
        _read { yield entries[Int(index)] }
        nonmutating _modify { yield &entries[Int(index)] }
    }

    /// Adds an entry for a key that is not in the table.
    ///
    /// - Returns: its index.
    mutating func insert(_ entry: consuming Entry) -> Int32 {
        if count == capacity { grow() }
        let index = free[capacity - count - 1]
        slots[findSlot(entry.key)] = Slot(entry: index, tag: Self.tag(entry.key))
        (entries + Int(index)).initialize(to: entry)
        uses[Int(index)].store(0, ordering: .relaxed)
        live[Int(index)] = true
        count += 1
        return index
    }

    /// Counts a hit; one of two simultaneous ones may be lost. An entry that is hit often is not written to.
    func noteUse(of index: Int32) {
        let known = uses[Int(index)].load(ordering: .relaxed)
        if known < 3 { uses[Int(index)].store(known + 1, ordering: .relaxed) }
    }

    /// How often the entry was hit since the last call, at most 3.
    func takeUses(of index: Int32) -> Int { Int(uses[Int(index)].exchange(0, ordering: .relaxed)) }

    func isLive(_ index: Int) -> Bool { live.indices.contains(index) && live[index] }

    /// Removes an entry and returns it, so that the caller decides when it is released.
    mutating func remove(_ index: Int32) -> Entry {
        let entry = (entries + Int(index)).move()
        clearSlot(of: entry.key, index)
        live[Int(index)] = false
        count -= 1
        free[capacity - count - 1] = index
        return entry
    }

    /// Removes all entries, and frees the table's memory.
    mutating func removeAll(into taken: inout [Entry]) {
        forEachIndex { taken.append(entries[Int($0)]) }
        self = MemoryTable()
    }

    /// Every index in use, in no order; O(capacity).
    func forEachIndex(_ body: (Int32) -> Void) {
        for slot in 0...mask where slots[slot].entry != Self.none { body(slots[slot].entry) }
    }

    /// A problem of the slots; nil if there is none. For tests; O(n).
    func fault() -> String? {
        var used = 0
        var wrong: Int32?
        forEachIndex { index in
            used += 1
            if find(entries[Int(index)].key) != index { wrong = index }
        }
        if let wrong { return "entry \(wrong) is not found by its key" }
        return used == count ? nil : "\(used) slots are in use for \(count) entries"
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
            // The entry may fill the gap only if the gap is not before its home slot.
            if (slot - home) & mask >= (slot - gap) & mask {
                slots[gap] = slots[slot]
                gap = slot
            }
        }
        slots[gap].entry = Self.none
    }

    private mutating func grow() {
        let (oldSlots, oldEntries, oldFree, oldUses, oldCapacity) = (slots, entries, free, uses, capacity)
        capacity *= 2
        mask = capacity * 2 - 1
        live += Array(repeating: false, count: oldCapacity)
        (slots, entries, free) = Self.allocate(capacity)
        // The table is full: every entry is in use, and keeps its index.
        entries.moveInitialize(from: oldEntries, count: oldCapacity)
        uses = Self.allocateUses(capacity)
        for index in 0..<oldCapacity {
            uses[index].store(oldUses[index].load(ordering: .relaxed), ordering: .relaxed)
        }
        for index in 0..<oldCapacity {
            let key = entries[index].key
            slots[findSlot(key)] = Slot(entry: Int32(index), tag: Self.tag(key))
        }
        oldSlots.deallocate()
        oldEntries.deallocate()
        oldFree.deallocate()
        oldUses.deallocate()
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

    private static func allocateUses(_ capacity: Int) -> UnsafeMutablePointer<Atomic<UInt8>> {
        let uses = UnsafeMutablePointer<Atomic<UInt8>>.allocate(capacity: capacity)
        for index in 0..<capacity { (uses + index).initialize(to: Atomic(0)) }
        return uses
    }
}
