/// The entries on disk, as far as they are known: what each takes and when it was last used, in that order.
///
/// A pure value. All operations are O(1), but ``adopt(_:)``.
struct DiskIndex {
    struct Victim: Hashable {
        let id: EntryID
        let bytes: Int64
        let lastUse: Int64
    }

    private struct Node {
        let id: EntryID
        var bytes: Int64
        /// Seconds since 1970.
        var lastUse: Int64
        /// The last use that the file itself tells of.
        var recordedUse: Int64
        var older: Int32
        var newer: Int32
    }

    private static let none: Int32 = -1

    private var nodes: ContiguousArray<Node> = []
    private var free: [Int32] = []
    private var places: [EntryID: Int32] = [:]
    private var oldestNode = DiskIndex.none
    private var newestNode = DiskIndex.none
    private(set) var bytes: Int64 = 0

    var count: Int { places.count }

    func contains(_ id: EntryID) -> Bool { places[id] != nil }
    func lastUse(of id: EntryID) -> Int64? { places[id].map { nodes[Int($0)].lastUse } }
    func bytes(of id: EntryID) -> Int64? { places[id].map { nodes[Int($0)].bytes } }

    var oldest: Victim? {
        guard oldestNode != Self.none else { return nil }
        let node = nodes[Int(oldestNode)]
        return Victim(id: node.id, bytes: node.bytes, lastUse: node.lastUse)
    }

    /// Enters an entry, in place of the one of that name, as the most recently used.
    mutating func set(_ id: EntryID, bytes: Int64, lastUse: Int64) {
        remove(id)
        let index = makeNode(id, bytes, lastUse)
        link(index, newerThan: newestNode)
    }

    /// Makes an entry the most recently used one.
    /// - Returns: nil when it is not known; else whether its file is an hour behind and should be told of the use.
    mutating func use(_ id: EntryID, at time: Int64) -> Bool? {
        guard let place = places[id] else { return nil }
        let index = Int(place)
        nodes[index].lastUse = max(nodes[index].lastUse, time)
        if newestNode != place {
            unlink(place)
            link(place, newerThan: newestNode)
        }
        guard time - nodes[index].recordedUse >= 3600 else { return false }
        nodes[index].recordedUse = time
        return true
    }

    @discardableResult
    mutating func remove(_ id: EntryID) -> Int64? {
        guard let place = places.removeValue(forKey: id) else { return nil }
        unlink(place)
        free.append(place)
        bytes -= nodes[Int(place)].bytes
        return nodes[Int(place)].bytes
    }

    mutating func takeOldest() -> Victim? {
        guard let victim = oldest else { return nil }
        remove(victim.id)
        return victim
    }

    /// Enters what a scan of the directory found; entries that are known already are newer and stay as they are.
    mutating func adopt(_ found: [Victim]) {
        for entry in found.sorted(by: { $0.lastUse > $1.lastUse }) where places[entry.id] == nil {
            let index = makeNode(entry.id, entry.bytes, entry.lastUse)
            link(index, newerThan: Self.none)
        }
    }

    mutating func removeAll() { self = DiskIndex() }

    private mutating func makeNode(_ id: EntryID, _ bytes: Int64, _ lastUse: Int64) -> Int32 {
        let node = Node(
            id: id, bytes: bytes, lastUse: lastUse, recordedUse: lastUse, older: Self.none, newer: Self.none)
        let index: Int32
        if let reused = free.popLast() {
            index = reused
            nodes[Int(index)] = node
        } else {
            index = Int32(nodes.count)
            nodes.append(node)
        }
        places[id] = index
        self.bytes += bytes
        return index
    }

    private mutating func unlink(_ index: Int32) {
        let (older, newer) = (nodes[Int(index)].older, nodes[Int(index)].newer)
        if older == Self.none { oldestNode = newer } else { nodes[Int(older)].newer = newer }
        if newer == Self.none { newestNode = older } else { nodes[Int(newer)].older = older }
    }

    /// Puts a node right after `older`, or at the old end when that is `none`.
    private mutating func link(_ index: Int32, newerThan older: Int32) {
        let newer = older == Self.none ? oldestNode : nodes[Int(older)].newer
        nodes[Int(index)].older = older
        nodes[Int(index)].newer = newer
        if older == Self.none { oldestNode = index } else { nodes[Int(older)].newer = index }
        if newer == Self.none { newestNode = index } else { nodes[Int(newer)].older = index }
    }

    /// Names from the least to the most recently used. O(n).
    var idsByUse: [EntryID] {
        var (ids, index): ([EntryID], Int32) = ([], oldestNode)
        while index != Self.none {
            ids.append(nodes[Int(index)].id)
            index = nodes[Int(index)].newer
        }
        return ids
    }

    /// What is wrong with sums and links, or nil. For tests; O(n).
    func fault() -> String? {
        var (seen, sum, previous, index): (Int, Int64, Int32, Int32) = (0, 0, Self.none, oldestNode)
        while index != Self.none {
            let node = nodes[Int(index)]
            if node.older != previous { return "node \(index) does not link back to \(previous)" }
            if places[node.id] != index { return "node \(index) is not found by its name" }
            seen += 1
            sum += node.bytes
            if seen > count { return "the list of \(count) entries does not end" }
            (previous, index) = (index, node.newer)
        }
        if newestNode != previous { return "newest is \(newestNode), the list ends in \(previous)" }
        if seen != count { return "count is \(count), the list has \(seen)" }
        return sum == bytes ? nil : "bytes are \(bytes), the entries' sum is \(sum)"
    }
}
