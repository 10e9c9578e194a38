/// A binary heap whose elements can be found, moved and removed by their identity; the one that comes first is on top.
/// Every change costs O(log n).
///
/// Public, although no product offers this module: the compiler (Swift 6.3) specializes and inlines only public code in
/// other modules, and every unspecialized call looks up the metadata of its tuples.
public struct IndexedHeap<ID: Hashable, Rank: Comparable> {
    @usableFromInline var nodes: [(id: ID, rank: Rank)] = []
    @usableFromInline var positions: [ID: Int] = [:]

    @inlinable public init() {}

    @inlinable public var count: Int { nodes.count }
    @inlinable public var isEmpty: Bool { nodes.isEmpty }
    @inlinable public var first: (id: ID, rank: Rank)? { nodes.first }

    /// Inserts `id`, or moves it to its new place.
    @inlinable public mutating func set(_ id: ID, to rank: Rank) {
        if let position = positions[id] {
            nodes[position].rank = rank
            restoreOrder(position)
        } else {
            nodes.append((id, rank))
            positions[id] = nodes.count - 1
            restoreOrder(nodes.count - 1)
        }
    }

    /// Removes an element; returns whether it was in the heap.
    @inlinable @discardableResult
    public mutating func remove(_ id: ID) -> Bool {
        guard let position = positions.removeValue(forKey: id) else { return false }
        let last = nodes.removeLast()
        if position < nodes.count {
            nodes[position] = last
            positions[last.id] = position
            restoreOrder(position)
        }
        return true
    }

    /// Removes and returns the first element; nil if the heap is empty.
    @inlinable public mutating func popFirst() -> ID? {
        guard let id = nodes.first?.id else { return nil }
        remove(id)
        return id
    }

    @inlinable mutating func restoreOrder(_ start: Int) {
        var position = start
        while position > 0, nodes[position].rank < nodes[(position - 1) / 2].rank {
            swap(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
        while true {
            var least = position
            for child in (2 * position + 1)...(2 * position + 2) where child < nodes.count {
                if nodes[child].rank < nodes[least].rank { least = child }
            }
            if least == position { return }
            swap(position, least)
            position = least
        }
    }

    @inlinable mutating func swap(_ left: Int, _ right: Int) {
        nodes.swapAt(left, right)
        positions[nodes[left].id] = left
        positions[nodes[right].id] = right
    }
}

extension IndexedHeap: Sendable where ID: Sendable, Rank: Sendable {}
