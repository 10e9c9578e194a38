/// Several queues over one set of entries, linked by id: every operation is O(1).
package struct EntryQueues: Sendable {
    package struct Node: Sendable {
        package var hash = 0
        package var cost = 0
        /// A value for the eviction order.
        package var mark = 0
        package fileprivate(set) var queue = -1
        fileprivate var older = -1
        fileprivate var newer = -1
    }

    package struct Queue: Sendable {
        package fileprivate(set) var oldest = -1
        package fileprivate(set) var newest = -1
        package fileprivate(set) var cost = 0
        package fileprivate(set) var count = 0
    }

    private var nodes: [Node] = []
    private var queues: [Queue]

    package init(_ count: Int) { queues = Array(repeating: Queue(), count: count) }

    package subscript(queue: Int) -> Queue { queues[queue] }

    package func node(_ id: Int) -> Node { nodes[id] }

    package func isQueued(_ id: Int) -> Bool { nodes.indices.contains(id) && nodes[id].queue >= 0 }

    /// The next entry of the same queue that is newer; nil at the end.
    package func newer(than id: Int) -> Int? { nodes[id].newer < 0 ? nil : nodes[id].newer }

    package mutating func setMark(_ mark: Int, of id: Int) { nodes[id].mark = mark }

    /// Appends a new entry as the newest of a queue.
    package mutating func insert(_ id: Int, hash: Int, cost: Int, mark: Int = 0, into queue: Int) {
        while nodes.count <= id { nodes.append(Node()) }
        nodes[id] = Node(hash: hash, cost: cost, mark: mark)
        link(id, queue)
    }

    /// Makes an entry the newest of a queue.
    package mutating func move(_ id: Int, to queue: Int) {
        unlink(id)
        link(id, queue)
    }

    package mutating func remove(_ id: Int) {
        guard isQueued(id) else { return }
        unlink(id)
    }

    package mutating func setCost(_ cost: Int, of id: Int) {
        guard isQueued(id) else { return }
        queues[nodes[id].queue].cost += cost - nodes[id].cost
        nodes[id].cost = cost
    }

    package mutating func removeAll() {
        nodes.removeAll()
        queues = Array(repeating: Queue(), count: queues.count)
    }

    /// The ids of a queue, the oldest first.
    package func ids(in queue: Int) -> [Int] {
        var (ids, id) = ([Int](), queues[queue].oldest)
        while id >= 0 {
            ids.append(id)
            id = nodes[id].newer
        }
        return ids
    }

    private mutating func link(_ id: Int, _ queue: Int) {
        let newest = queues[queue].newest
        nodes[id].queue = queue
        nodes[id].older = newest
        nodes[id].newer = -1
        if newest < 0 { queues[queue].oldest = id } else { nodes[newest].newer = id }
        queues[queue].newest = id
        queues[queue].cost += nodes[id].cost
        queues[queue].count += 1
    }

    private mutating func unlink(_ id: Int) {
        let (queue, older, newer) = (nodes[id].queue, nodes[id].older, nodes[id].newer)
        if older < 0 { queues[queue].oldest = newer } else { nodes[older].newer = newer }
        if newer < 0 { queues[queue].newest = older } else { nodes[newer].older = older }
        queues[queue].cost -= nodes[id].cost
        queues[queue].count -= 1
        nodes[id].queue = -1
    }
}
