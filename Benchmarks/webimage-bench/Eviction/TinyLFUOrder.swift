import WebImageCache

/// W-TinyLFU (Einziger, Friedman, Manes, 2017) by cost, for comparison: a window of the newest entries, and a main part
/// that accepts an entry only if it is requested more often than the one that it would replace.
struct TinyLFUOrder: EvictionOrder {
    static let seesEveryHit = true
    private static let (window, probation, protected) = (0, 1, 2)
    private var queues = EntryQueues(3)
    private var sketch = FrequencySketch()
    /// The window's share in percent.
    private let share: Int
    private var limit = Int.max

    init(share: Int) { self.share = share }

    private var windowLimit: Int { limit / 100 * share }
    private var mainLimit: Int { limit - windowLimit }

    mutating func insert(_ id: Int, hash: Int, cost: Int) {
        sketch.add(hash, capacity: queues[0].count + queues[1].count + queues[2].count)
        queues.insert(id, hash: hash, cost: cost, into: Self.window)
    }

    mutating func use(_ id: Int) {
        let node = queues.node(id)
        sketch.add(node.hash, capacity: queues[0].count + queues[1].count + queues[2].count)
        guard node.queue == Self.probation else { return queues.move(id, to: node.queue) }
        queues.move(id, to: Self.protected)
        while queues[Self.protected].cost > mainLimit / 5 * 4, queues[Self.protected].count > 1 {
            queues.move(queues[Self.protected].oldest, to: Self.probation)
        }
    }

    mutating func setCost(_ cost: Int, of id: Int) { queues.setCost(cost, of: id) }
    mutating func remove(_ id: Int) { queues.remove(id) }
    mutating func removeAll() { queues.removeAll() }

    mutating func takeVictim(limit: Int, uses: (Int) -> Int) -> Int? {
        self.limit = limit
        while queues[Self.window].cost > windowLimit {
            let candidate = queues.node(queues[Self.window].oldest)
            let id = queues[Self.window].oldest
            if queues[Self.probation].cost + queues[Self.protected].cost + candidate.cost <= mainLimit {
                queues.move(id, to: Self.probation)
                continue
            }
            guard let rival = mainVictim, sketch.count(candidate.hash) > sketch.count(queues.node(rival).hash) else {
                return take(id)
            }
            queues.move(id, to: Self.probation)
            return take(rival)
        }
        if let rival = mainVictim { return take(rival) }
        return queues[Self.window].count > 0 ? take(queues[Self.window].oldest) : nil
    }

    private var mainVictim: Int? {
        if queues[Self.probation].count > 0 { return queues[Self.probation].oldest }
        return queues[Self.protected].count > 0 ? queues[Self.protected].oldest : nil
    }

    private mutating func take(_ id: Int) -> Int {
        queues.remove(id)
        return id
    }

    var ids: [Int] { queues.ids(in: 0) + queues.ids(in: 1) + queues.ids(in: 2) }
}

/// An estimate of how often keys were requested lately: a count-min sketch of four rows whose counts are halved when it
/// fills.
private struct FrequencySketch: Sendable {
    private static let width = 1 << 14
    private var counters = [UInt8](repeating: 0, count: width * 4)
    private var samples = 0

    private static func slot(_ hash: Int, _ row: Int) -> Int {
        let mixed = (UInt64(bitPattern: Int64(hash)) &+ UInt64(row)) &* 0x9E37_79B9_7F4A_7C15
        return row * width + Int((mixed ^ (mixed >> 29)) >> 20) & (width - 1)
    }

    mutating func add(_ hash: Int, capacity: Int) {
        let least = count(hash)
        if least < 15 {
            for row in 0..<4 where counters[Self.slot(hash, row)] == least { counters[Self.slot(hash, row)] += 1 }
        }
        samples += 1
        if samples >= max(capacity, 16) * 10 {
            for index in counters.indices { counters[index] /= 2 }
            samples /= 2
        }
    }

    func count(_ hash: Int) -> UInt8 { (0..<4).map { counters[Self.slot(hash, $0)] }.min() ?? 0 }
}
