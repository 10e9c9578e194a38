import Synchronization

/// Results in memory, up to a number of bytes. Results that were requested only once are evicted first, so that a
/// crawler does not evict the popular ones. Any thread may use it.
final class ResultMemory: Sendable {
    private struct State {
        /// Requested once (`young`) or more often (`old`).
        var young = RecencyList()
        var old = RecencyList()
    }

    private let limit: Int
    /// The length in bytes above which results are kept on disk only.
    private let longest = 512 << 10
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    var cost: Int { state.withLock { $0.young.cost + $0.old.cost } }

    func result(_ key: String) -> StoredResult? {
        state.withLock { state in
            if let result = state.old.touch(key) { return result }
            guard let result = state.young.remove(key) else { return nil }
            state.old.insert(key, result)
            // Results that were requested more than once may take at most four fifths of the memory.
            while state.old.cost > limit * 4 / 5, let (key, result) = state.old.removeOldest() {
                state.young.insert(key, result)
            }
            return result
        }
    }

    func keep(_ result: StoredResult, _ key: String) {
        // An older result of the same key must not stay in its place.
        guard result.bytes.count <= longest, result.cost <= limit else { return remove(key) }
        state.withLock { state in
            if state.old.remove(key) != nil {
                state.old.insert(key, result)
            } else {
                _ = state.young.remove(key)
                state.young.insert(key, result)
            }
            while state.young.cost + state.old.cost > limit {
                if state.young.removeOldest() == nil { _ = state.old.removeOldest() }
            }
        }
    }

    func remove(_ key: String) {
        state.withLock { state in
            _ = state.young.remove(key)
            _ = state.old.remove(key)
        }
    }
}

/// Results in the order of their last use.
private struct RecencyList {
    private struct Node {
        var key: String
        var result: StoredResult
        var newer: Int
        var older: Int
    }

    private(set) var cost = 0
    private var places: [String: Int] = [:]
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var newest = -1
    private var oldest = -1

    mutating func touch(_ key: String) -> StoredResult? {
        guard let result = remove(key) else { return nil }
        insert(key, result)
        return result
    }

    mutating func insert(_ key: String, _ result: StoredResult) {
        let node = Node(key: key, result: result, newer: -1, older: newest)
        let place = free.popLast() ?? nodes.count
        if place == nodes.count { nodes.append(node) } else { nodes[place] = node }
        if newest >= 0 { nodes[newest]?.newer = place } else { oldest = place }
        newest = place
        places[key] = place
        cost += result.cost
    }

    mutating func remove(_ key: String) -> StoredResult? {
        guard let place = places.removeValue(forKey: key), let node = nodes[place] else { return nil }
        if node.newer >= 0 { nodes[node.newer]?.older = node.older } else { newest = node.older }
        if node.older >= 0 { nodes[node.older]?.newer = node.newer } else { oldest = node.newer }
        nodes[place] = nil
        free.append(place)
        cost -= node.result.cost
        return node.result
    }

    mutating func removeOldest() -> (String, StoredResult)? {
        guard oldest >= 0, let key = nodes[oldest]?.key, let result = remove(key) else { return nil }
        return (key, result)
    }
}
