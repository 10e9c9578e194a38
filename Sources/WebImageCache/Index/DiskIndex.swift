import WebImageSystem

/// The known entries on disk: the size of each and the date by which it is evicted, in that order.
///
/// A pure value. Operations are O(1), those on an adopted entry O(log n), and those on a shard linear in its entries.
///
/// Entries that this cache stores or uses become the newest, so a list keeps their order. Entries of other caches are
/// found with any date: they are in a heap until they are used.
struct DiskIndex {
    private struct Node {
        var record: Record
        var older: Int32 = none
        var newer: Int32 = none
        /// The node's ticket in the heap; nil if the node is in the list.
        var ticket: Int64?
        /// Whether the entry is in the file, and with which date if the date is the only difference.
        var isWritten = false
        var writtenDate: Int64?
        var previousInShard: Int32 = none
        var nextInShard: Int32 = none
    }

    private static let none: Int32 = -1

    private var nodes: ContiguousArray<Node> = []
    private var free: [Int32] = []
    private var places: [EntryID: Int32] = [:]
    private var oldestNode = DiskIndex.none
    private var newestNode = DiskIndex.none
    /// Nodes that are not in the list, by date and ticket; may hold stale ones, but not at its top.
    private var adopted = TimeHeap<Int32>()
    private var adoptedCount = 0
    private var lastTicket: Int64 = 0
    private var firstInShard = [Int32](repeating: DiskIndex.none, count: 256)
    /// Nodes with a lifetime of their own, by its end; may hold stale ones.
    private var lifetimes = TimeHeap<Int32>()
    private(set) var bytes: Int64 = 0
    private var counts = [Int](repeating: 0, count: 256)
    /// Removed entries that are still in the file, by directory.
    private var unwrittenRemovals: [Int: [EntryID]] = [:]

    var count: Int { places.count }

    /// The place of an entry, valid until the next change of the index.
    func place(of id: EntryID) -> Int32? { places[id] }
    subscript(place: Int32) -> Record { nodes[Int(place)].record }

    func contains(_ id: EntryID) -> Bool { places[id] != nil }
    func record(of id: EntryID) -> Record? { places[id].map { nodes[Int($0)].record } }

    var oldest: Victim? {
        guard let found = adopted.first else { return oldestNode == Self.none ? nil : victim(oldestNode) }
        guard oldestNode != Self.none else { return victim(found) }
        let isFoundOlder = nodes[Int(found)].record.date < nodes[Int(oldestNode)].record.date
        return victim(isFoundOlder ? found : oldestNode)
    }

    private func victim(_ place: Int32) -> Victim {
        let record = nodes[Int(place)].record
        return Victim(id: record.id, bytes: record.bytes, date: record.date)
    }

    /// Adds an entry as the newest, and replaces the one of the same name.
    mutating func set(_ record: Record) {
        remove(record.id)
        link(makeNode(record), newerThan: newestNode)
    }

    /// Records that the entry's file has changed; the entry keeps its place in the order.
    mutating func update(_ record: Record) {
        guard let place = places[record.id] else { return set(record) }
        bytes += record.bytes - nodes[Int(place)].record.bytes
        let date = nodes[Int(place)].record.date
        nodes[Int(place)].record = record
        nodes[Int(place)].record.date = date
        nodes[Int(place)].writtenDate = nil
        noteLifetime(place)
    }

    /// Makes an entry the newest.
    /// - Returns: whether the file's date is outdated by an hour and should be updated.
    mutating func use(_ place: Int32, at time: Int64) -> Bool {
        let index = Int(place)
        if newestNode != place {
            takeOut(place)
            link(place, newerThan: newestNode)
        }
        return nodes[index].record.use(at: time)
    }

    /// Records the end of an entry's own lifetime if it was not known.
    mutating func learn(_ id: EntryID, expires: Int64) {
        guard let place = places[id], nodes[Int(place)].record.expires != expires else { return }
        nodes[Int(place)].record.expires = expires
        nodes[Int(place)].writtenDate = nil
        noteLifetime(place)
    }

    @discardableResult
    mutating func remove(_ id: EntryID) -> Record? {
        guard let place = places.removeValue(forKey: id) else { return nil }
        takeOut(place)
        unlinkFromShard(place)
        free.append(place)
        let record = nodes[Int(place)].record
        counts[id.shard] -= 1
        if nodes[Int(place)].isWritten { unwrittenRemovals[id.shard, default: []].append(id) }
        nodes[Int(place)].record.expires = 0
        bytes -= record.bytes
        return record
    }

    mutating func takeOldest() -> Victim? {
        guard let victim = oldest else { return nil }
        remove(victim.id)
        return victim
    }

    /// Removes and returns an entry whose own lifetime has ended.
    mutating func takeExpired(at now: Int64) -> Victim? {
        while let time = lifetimes.earliest, time <= .seconds(now), let place = lifetimes.removeEarliest() {
            let expires = nodes[Int(place)].record.expires
            guard expires != 0, .seconds(expires) == time else { continue }
            let victim = victim(place)
            remove(victim.id)
            return victim
        }
        return nil
    }

    func hasExpired(at now: Int64) -> Bool { lifetimes.earliest.map { $0 <= .seconds(now) } ?? false }

    /// Adds entries that were found in the directory; known ones stay unchanged. O(k log n).
    mutating func adopt(_ found: [Record]) {
        guard nodes.isEmpty else {
            for record in found where places[record.id] == nil { insertAdopted(makeNode(record)) }
            return
        }
        nodes.reserveCapacity(found.count)
        places.reserveCapacity(found.count)
        for record in found.sorted(by: { $0.date < $1.date }) where places[record.id] == nil {
            link(makeNode(record), newerThan: newestNode)
        }
    }

    // MARK: - The heap of adopted entries

    private mutating func insertAdopted(_ place: Int32) {
        lastTicket += 1
        nodes[Int(place)].ticket = lastTicket
        adoptedCount += 1
        adopted.insert(place, at: adoptedTime(place) ?? .zero)
    }

    /// The time of a node in the heap: by date; entries that were adopted earlier come first within a second. Nil for a
    /// node that is not in the heap.
    private func adoptedTime(_ place: Int32) -> Duration? {
        let node = nodes[Int(place)]
        return node.ticket.map { Duration(secondsComponent: node.record.date, attosecondsComponent: $0) }
    }

    /// Removes a node from the order.
    private mutating func takeOut(_ place: Int32) {
        guard nodes[Int(place)].ticket != nil else { return unlink(place) }
        nodes[Int(place)].ticket = nil
        adoptedCount -= 1
        dropStale()
    }

    private mutating func dropStale() {
        while let first = adopted.first, adopted.earliest != adoptedTime(first) { _ = adopted.removeEarliest() }
        guard adopted.count > 2 * adoptedCount + 64 else { return }
        adopted = TimeHeap()
        for place in places.values { adoptedTime(place).map { adopted.insert(place, at: $0) } }
    }

    mutating func removeAll() { self = DiskIndex() }

    private mutating func makeNode(_ record: Record) -> Int32 {
        let index: Int32
        if let reused = free.popLast() {
            index = reused
            // The heap may still hold its place with the old ticket.
            nodes[Int(index)] = Node(record: record)
        } else {
            index = Int32(nodes.count)
            nodes.append(Node(record: record))
        }
        places[record.id] = index
        bytes += record.bytes
        counts[record.id.shard] += 1
        linkIntoShard(index)
        noteLifetime(index)
        return index
    }

    private mutating func noteLifetime(_ place: Int32) {
        let record = nodes[Int(place)].record
        guard record.expiresKnowingly else { return }
        if lifetimes.count > 2 * count + 64 {
            lifetimes = TimeHeap()
            for place in places.values where nodes[Int(place)].record.expiresKnowingly {
                lifetimes.insert(place, at: .seconds(nodes[Int(place)].record.expires))
            }
        } else {
            lifetimes.insert(place, at: .seconds(record.expires))
        }
    }

    // MARK: - Links

    private mutating func unlink(_ index: Int32) {
        let (older, newer) = (nodes[Int(index)].older, nodes[Int(index)].newer)
        if older == Self.none { oldestNode = newer } else { nodes[Int(older)].newer = newer }
        if newer == Self.none { newestNode = older } else { nodes[Int(newer)].older = older }
    }

    /// Inserts a node right after `older`, or at the old end if that is `none`.
    private mutating func link(_ index: Int32, newerThan older: Int32) {
        let newer = older == Self.none ? oldestNode : nodes[Int(older)].newer
        nodes[Int(index)].older = older
        nodes[Int(index)].newer = newer
        if older == Self.none { oldestNode = index } else { nodes[Int(older)].newer = index }
        if newer == Self.none { newestNode = index } else { nodes[Int(newer)].older = index }
    }

    private mutating func linkIntoShard(_ index: Int32) {
        let shard = nodes[Int(index)].record.id.shard
        let next = firstInShard[shard]
        nodes[Int(index)].previousInShard = Self.none
        nodes[Int(index)].nextInShard = next
        if next != Self.none { nodes[Int(next)].previousInShard = index }
        firstInShard[shard] = index
    }

    private mutating func unlinkFromShard(_ index: Int32) {
        let (previous, next) = (nodes[Int(index)].previousInShard, nodes[Int(index)].nextInShard)
        if next != Self.none { nodes[Int(next)].previousInShard = previous }
        if previous == Self.none {
            firstInShard[nodes[Int(index)].record.id.shard] = next
        } else {
            nodes[Int(previous)].nextInShard = next
        }
    }

    // MARK: - Written entries

    mutating func forEachPlace(inShard shard: Int, _ body: (inout DiskIndex, Int32) -> Void) {
        var place = firstInShard[shard]
        while place != Self.none {
            body(&self, place)
            place = nodes[Int(place)].nextInShard
        }
    }

    func places(inShard shard: Int) -> [Int32] {
        var (places, place): ([Int32], Int32) = ([], firstInShard[shard])
        while place != Self.none {
            places.append(place)
            place = nodes[Int(place)].nextInShard
        }
        return places
    }

    func hasRemovals(inShard shard: Int) -> Bool { unwrittenRemovals[shard] != nil }

    func writtenDate(_ place: Int32) -> Int64? { nodes[Int(place)].writtenDate }
    mutating func setWritten(_ place: Int32, _ isWritten: Bool, date: Int64?) {
        (nodes[Int(place)].isWritten, nodes[Int(place)].writtenDate) = (isWritten, date)
    }

    mutating func takeRemovals(inShard shard: Int) -> [EntryID] { unwrittenRemovals.removeValue(forKey: shard) ?? [] }
    mutating func addRemovals(_ ids: [EntryID], inShard shard: Int) {
        if !ids.isEmpty { unwrittenRemovals[shard, default: []] += ids }
    }

    private var placesByDate: [Int32] {
        let apart = places.values.filter { nodes[Int($0)].ticket != nil }
            .sorted { adoptedTime($0) ?? .zero < adoptedTime($1) ?? .zero }
        var (all, place, next): ([Int32], Int32, Int) = ([], oldestNode, 0)
        while place != Self.none {
            while next < apart.count, nodes[Int(apart[next])].record.date < nodes[Int(place)].record.date {
                all.append(apart[next])
                next += 1
            }
            all.append(place)
            place = nodes[Int(place)].newer
        }
        return all + apart[next...]
    }

    func count(inShard shard: Int) -> Int { counts[shard] }

    /// The records of one of the 256 directories.
    func records(inShard shard: Int) -> [Record] {
        places(inShard: shard).map { nodes[Int($0)].record }
    }

    /// All records, from the oldest to the newest. O(n).
    var recordsByDate: [Record] { placesByDate.map { nodes[Int($0)].record } }

    /// A problem of sums and links; nil if there is none. For tests; O(n).
    func fault() -> String? {
        var (seen, sum, previous, index): (Int, Int64, Int32, Int32) = (0, 0, Self.none, oldestNode)
        while index != Self.none {
            let node = nodes[Int(index)]
            if node.ticket != nil { return "node \(index) is in the list and in the heap" }
            if node.older != previous { return "node \(index) does not link back to \(previous)" }
            if places[node.record.id] != index { return "node \(index) is not found by its name" }
            seen += 1
            sum += node.record.bytes
            if seen > count { return "the list of \(count) entries does not end" }
            (previous, index) = (index, node.newer)
        }
        if newestNode != previous { return "newest is \(newestNode), the list ends in \(previous)" }
        for place in places.values where nodes[Int(place)].ticket != nil {
            seen += 1
            sum += nodes[Int(place)].record.bytes
        }
        if seen != count { return "count is \(count), list and heap have \(seen)" }
        if adopted.count < adoptedCount { return "the heap has \(adopted.count) of \(adoptedCount)" }
        let inShards = (0..<256).reduce(0) { $0 + records(inShard: $1).filter { contains($0.id) }.count }
        if inShards != count { return "count is \(count), the shards have \(inShards)" }
        return sum == bytes ? nil : "bytes are \(bytes), the entries' sum is \(sum)"
    }
}
