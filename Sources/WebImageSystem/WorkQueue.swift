import WebImageCore

/// The work that waits for a thread, in order: the more urgent first; among equals, work that completes something
/// before work that begins something; then in order of arrival. Work that is passed over too often goes first for once,
/// so that none waits forever.
///
/// A pure value; a piece of work needs no allocation. Every call costs O(1), except ``setPriority(_:of:)``, which costs
/// the number of the owner's waiting pieces.
struct WorkQueue {
    /// One piece of work, or an unused element. It is in two doubly linked lists: that of its rank, and that of its
    /// owner. A link of -1 is the end.
    private struct Place {
        var body: (@Sendable () -> Void)?
        var owner: ObjectIdentifier?
        var completes = false
        var list = 0
        var next = -1
        var previous = -1
        var nextOfOwner = -1
        var previousOfOwner = -1
    }

    private struct List {
        var first = -1
        var last = -1
        /// How often work of other lists was taken while this one was not empty.
        var passedOver = 0

        var isEmpty: Bool { first < 0 }
    }

    /// How often work may be passed over by more urgent work.
    static let patience = 8

    /// How many elements are kept while nothing waits.
    static let keptPlaces = 1024

    /// Two for each priority; the last list goes first.
    private var lists = [List](repeating: List(), count: 2 * LoadPriority.allCases.count)
    private var places: [Place] = []
    /// The first unused element; the others follow by ``Place/next``.
    private var free = -1
    /// The newest piece of each owner; the others follow.
    private var owned: [ObjectIdentifier: Int] = [:]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// How many pieces of work the queue has memory for.
    var placeCount: Int { places.count }

    private static func list(_ priority: LoadPriority, completes: Bool) -> Int {
        2 * priority.rawValue + (completes ? 1 : 0)
    }

    mutating func append(
        _ priority: LoadPriority, owner: ObjectIdentifier?, completes: Bool, _ body: @escaping @Sendable () -> Void
    ) {
        var place = Place(body: body, owner: owner, completes: completes)
        if let owner { place.nextOfOwner = owned[owner] ?? -1 }
        let index = takePlace(for: place)
        if let owner {
            if place.nextOfOwner >= 0 { places[place.nextOfOwner].previousOfOwner = index }
            owned[owner] = index
        }
        link(index, Self.list(priority, completes: completes))
        count += 1
    }

    mutating func next() -> (@Sendable () -> Void)? {
        guard count > 0 else { return nil }
        var chosen: Int?
        for index in lists.indices.reversed() where !lists[index].isEmpty {
            if lists[index].passedOver >= Self.patience {
                chosen = index
                break
            }
            if chosen == nil { chosen = index }
        }
        guard let chosen else { return nil }
        for index in lists.indices where index != chosen && !lists[index].isEmpty { lists[index].passedOver += 1 }
        lists[chosen].passedOver = 0
        let index = lists[chosen].first
        unlink(index)
        leaveOwner(index)
        count -= 1
        return freePlace(index)
    }

    /// Changes the rank of `owner`'s waiting work.
    mutating func setPriority(_ priority: LoadPriority, of owner: ObjectIdentifier) {
        // Starts with the oldest, which keeps their order.
        guard var index = owned[owner] else { return }
        while places[index].nextOfOwner >= 0 { index = places[index].nextOfOwner }
        while index >= 0 {
            let list = Self.list(priority, completes: places[index].completes)
            if list != places[index].list {
                unlink(index)
                link(index, list)
            }
            index = places[index].previousOfOwner
        }
    }

    private mutating func takePlace(for place: Place) -> Int {
        guard free >= 0 else {
            places.append(place)
            return places.count - 1
        }
        let index = free
        free = places[index].next
        places[index] = place
        return index
    }

    private mutating func freePlace(_ index: Int) -> (@Sendable () -> Void)? {
        let body = places[index].body
        if count == 0, places.count > Self.keptPlaces {
            places = []
            free = -1
        } else {
            places[index] = Place(next: free)
            free = index
        }
        return body
    }

    private mutating func link(_ index: Int, _ list: Int) {
        let last = lists[list].last
        places[index].list = list
        (places[index].previous, places[index].next) = (last, -1)
        if last >= 0 { places[last].next = index } else { lists[list].first = index }
        lists[list].last = index
    }

    private mutating func unlink(_ index: Int) {
        let (list, previous, next) = (places[index].list, places[index].previous, places[index].next)
        if previous >= 0 { places[previous].next = next } else { lists[list].first = next }
        if next >= 0 { places[next].previous = previous } else { lists[list].last = previous }
        if lists[list].isEmpty { lists[list].passedOver = 0 }
    }

    private mutating func leaveOwner(_ index: Int) {
        guard let owner = places[index].owner else { return }
        let (previous, next) = (places[index].previousOfOwner, places[index].nextOfOwner)
        if next >= 0 { places[next].previousOfOwner = previous }
        if previous >= 0 {
            places[previous].nextOfOwner = next
        } else {
            owned[owner] = next < 0 ? nil : next
        }
    }
}
