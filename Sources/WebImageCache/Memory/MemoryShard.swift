import Synchronization
import WebImageCore
import WebImageSystem

/// A part of the memory cache's keys, which several threads may read at once and one may change.
final class MemoryShard: @unchecked Sendable {
    // Sendable: `state` is read under one of the shard's locks and changed under all of them.
    enum Answer {
        case hit(Image, Int32)
        /// The picture is not in the cache, but a caller holds it.
        case held(Image)
        case expired
        case miss
    }

    struct State: ~Copyable {
        var table = MemoryTable()
        var held = HeldImages()

        /// Removes an entry; if `remembers` is set and a caller holds the picture, it is recorded as held.
        mutating func takeOut(_ index: Int32, remembers: Bool) -> MemoryTable.Entry {
            var entry = table.remove(index)
            // Under the locks no other thread can copy the reference: a picture that is not shared now stays so.
            if remembers, !isKnownUniquelyReferenced(&entry.storage) { held.insert(entry) }
            return entry
        }
    }

    private let number: Int
    private let locks: ReaderLocks
    private let state: UnsafeMutablePointer<State>

    init(number: Int, locks: ReaderLocks) {
        self.number = number
        self.locks = locks
        state = .allocate(capacity: 1)
        state.initialize(to: State())
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Runs `body` exclusively.
    func change<Result>(_ body: (inout State) -> Result) -> Result { locks.change(number) { body(&state.pointee) } }

    /// Runs `body`, possibly while other threads read.
    func read<Result>(_ body: (borrowing State) -> Result) -> Result { locks.read(number) { _ in body(state.pointee) } }

    func look(for key: CacheKey, clock: any LoadClock) -> Answer {
        locks.read(number) { counts in
            let index = state.pointee.table.find(key)
            guard index != MemoryTable.none else {
                counts.misses += 1
                return state.pointee.held.image(for: key, clock: clock).map(Answer.held) ?? .miss
            }
            if state.pointee.table[index].extras != nil, state.pointee.table[index].isExpired(at: clock.now) {
                counts.misses += 1
                return .expired
            }
            counts.hits += 1
            state.pointee.table.noteUse(of: index)
            return .hit(Image(state.pointee.table[index].storage), index)
        }
    }

    /// How often the entry was hit since the last call.
    func takeUses(of index: Int) -> Int {
        read { state in state.table.isLive(index) ? state.table.takeUses(of: Int32(index)) : 0 }
    }

    /// The keys of entries that match. O(n) under a lock.
    func keys(where isWanted: (MemoryTable.Entry) -> Bool) -> [CacheKey] {
        read { state in
            var keys: [CacheKey] = []
            state.table.forEachIndex { if isWanted(state.table[$0]) { keys.append(state.table[$0].key) } }
            return keys
        }
    }
}
