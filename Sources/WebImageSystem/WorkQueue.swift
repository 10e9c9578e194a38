import WebImageCore

/// What waits for a thread, ranked: the more urgent first; among equals, what completes something before what begins
/// something; then in order. Work that is passed over too often goes first for once, so that none waits for ever.
///
/// A pure value that allocates one node for each piece of work. Every call costs O(1), but for
/// ``setPriority(_:of:)``, which costs the number of the owner's waiting pieces.
struct WorkQueue {
    /// One piece of work, in a doubly linked list.
    final class Node {
        let body: @Sendable () -> Void
        let owner: ObjectIdentifier?
        let completes: Bool
        fileprivate var list: Int
        fileprivate var next: Node?
        fileprivate unowned(unsafe) var previous: Node?
        // Unsafe: the list's links hold each node that comes before another one.

        fileprivate init(body: @escaping @Sendable () -> Void, owner: ObjectIdentifier?, completes: Bool, list: Int) {
            self.body = body
            self.owner = owner
            self.completes = completes
            self.list = list
        }
    }

    private struct List {
        var first: Node?
        var last: Node?
        /// How often work of other lists was taken while this one had some.
        var passedOver = 0

        mutating func append(_ node: Node) {
            node.previous = last
            if let last { last.next = node } else { first = node }
            last = node
        }

        mutating func remove(_ node: Node) {
            if let previous = node.previous { previous.next = node.next } else { first = node.next }
            if let next = node.next { next.previous = node.previous } else { last = node.previous }
            node.next = nil
            node.previous = nil
            if first == nil { passedOver = 0 }
        }
    }

    /// So often may work be passed over by more urgent work.
    static let patience = 8

    /// Two for each priority; the last one goes first.
    private var lists = [List](repeating: List(), count: 2 * LoadPriority.allCases.count)
    private var owned: [ObjectIdentifier: [Node]] = [:]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    private static func list(_ priority: LoadPriority, completes: Bool) -> Int {
        2 * priority.rawValue + (completes ? 1 : 0)
    }

    mutating func append(
        _ priority: LoadPriority, owner: ObjectIdentifier?, completes: Bool, _ body: @escaping @Sendable () -> Void
    ) {
        let list = Self.list(priority, completes: completes)
        let node = Node(body: body, owner: owner, completes: completes, list: list)
        lists[list].append(node)
        if let owner { owned[owner, default: []].append(node) }
        count += 1
    }

    mutating func next() -> (@Sendable () -> Void)? {
        guard count > 0 else { return nil }
        var chosen: Int?
        for index in lists.indices.reversed() where lists[index].first != nil {
            if lists[index].passedOver >= Self.patience {
                chosen = index
                break
            }
            if chosen == nil { chosen = index }
        }
        guard let chosen, let node = lists[chosen].first else { return nil }
        for index in lists.indices where index != chosen && lists[index].first != nil { lists[index].passedOver += 1 }
        lists[chosen].passedOver = 0
        lists[chosen].remove(node)
        forget(node)
        count -= 1
        return node.body
    }

    /// Ranks the waiting work of `owner` anew.
    mutating func setPriority(_ priority: LoadPriority, of owner: ObjectIdentifier) {
        for node in owned[owner] ?? [] {
            let list = Self.list(priority, completes: node.completes)
            if list == node.list { continue }
            lists[node.list].remove(node)
            node.list = list
            lists[list].append(node)
        }
    }

    private mutating func forget(_ node: Node) {
        guard let owner = node.owner, let index = owned.index(forKey: owner) else { return }
        if owned.values[index].count == 1 {
            owned.remove(at: index)
        } else {
            owned.values[index].removeAll { $0 === node }
        }
    }
}
