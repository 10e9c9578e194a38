import Synchronization
import WebImageCore
import WebImageSystem

/// A part of the memory cache's keys behind a lock of its own, so that hits of several threads seldom meet.
final class MemoryShard: Sendable {
    enum Answer {
        case hit(Image, Int32)
        /// Not in the cache, but somebody holds it.
        case held(Image)
        case expired
        case miss
    }

    struct State: ~Copyable {
        var table = MemoryTable()
        var held = HeldImages()
        var hits = 0
        var misses = 0

        /// Takes an entry out; what somebody else holds is remembered when `remembers` says so.
        mutating func takeOut(_ index: Int32, remembers: Bool) -> MemoryTable.Entry {
            var entry = table.remove(index)
            // Under the lock nobody can be about to take it from here: what is not shared now stays so.
            if remembers, !isKnownUniquelyReferenced(&entry.storage) { held.insert(entry) }
            return entry
        }
    }

    let state = Guarded(State())

    func look(for key: CacheKey, clock: any LoadClock) -> Answer {
        state.withLock { state in
            let index = state.table.find(key)
            guard index != MemoryTable.none else {
                state.misses += 1
                return state.held.image(for: key, clock: clock).map(Answer.held) ?? .miss
            }
            if state.table[index].extras != nil, state.table[index].isExpired(at: clock.now) {
                state.misses += 1
                return .expired
            }
            state.hits += 1
            if state.table[index].uses < 3 { state.table[index].uses += 1 }
            return .hit(Image(state.table[index].storage), index)
        }
    }

    /// How often the entry was hit since this was last asked.
    func takeUses(of index: Int) -> Int {
        state.withLock { state in
            guard state.table.isLive(index) else { return 0 }
            defer { state.table[Int32(index)].uses = 0 }
            return Int(state.table[Int32(index)].uses)
        }
    }

    /// The keys of entries that are as asked. O(n) under the lock.
    func keys(where isWanted: (MemoryTable.Entry) -> Bool) -> [CacheKey] {
        state.withLock { state in
            var keys: [CacheKey] = []
            state.table.forEachIndex { if isWanted(state.table[$0]) { keys.append(state.table[$0].key) } }
            return keys
        }
    }
}
