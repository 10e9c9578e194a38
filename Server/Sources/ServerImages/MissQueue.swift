/// The pictures that are made and those that wait for it, by the host of their source. Hosts take turns: one that is slow, or whose
/// pictures are many, holds up no other host's.
///
/// A pure value, which ``MissGate`` owns. A call costs as many steps as there are hosts, at most.
struct MissQueue {
    struct Limits: Hashable, Sendable {
        /// Pictures that are made or wait.
        var most: Int
        /// Pictures that are made at a time. A host of which none is made may always begin one.
        var running: Int
        /// Pictures of one host that are made at a time.
        var runningPerHost: Int
        /// So many begin beyond ``most`` where none waits whose place they could take: one of each host that has none.
        var beyond = 0
    }

    /// A picture whose turn it is.
    struct Turn: Hashable, Sendable {
        var number: Int
        /// How many pictures of the same host are being made already.
        var rank: Int
    }

    /// What becomes of a new picture. One that loses its place to it is the newest of the host that has most.
    enum Entry: Hashable, Sendable {
        case begins(Turn, dropped: Int?)
        case waits(dropped: Int?)
        case refused
    }

    private struct Host {
        var running = 0
        /// Oldest first.
        var waiting: [Int] = []

        var count: Int { running + waiting.count }
    }

    private let limits: Limits
    /// Pictures of one host that are made or wait, now; those that are there stay when it is less.
    var mostPerHost: Int
    private var hosts: [String: Host] = [:]
    /// The hosts of which pictures wait; the next one's turn is first.
    private var turns: [String] = []
    private(set) var running = 0
    private(set) var waiting = 0

    init(_ limits: Limits) {
        self.limits = limits
        mostPerHost = limits.most
    }

    var count: Int { running + waiting }
    /// Whether the next one of a host without pictures here would take the place of another, or be refused.
    var isFull: Bool { count >= limits.most + (waiting == 0 ? limits.beyond : 0) }

    /// How many pictures go before the next one of a host, when all hosts take turns.
    func ahead(of host: String) -> Int {
        let own = hosts[host]?.count ?? 0
        return hosts.reduce(0) { $0 + ($1.key == host ? own : min($1.value.count, own + 1)) }
    }

    mutating func enter(_ number: Int, _ host: String) -> Entry {
        if hosts[host]?.count ?? 0 >= mostPerHost { return .refused }
        var dropped: Int?
        if count >= limits.most {
            dropped = dropNewest(inFavourOf: host)
            // Slow hosts may hold all places with pictures whose sources they do not send.
            let mayExceed = hosts[host] == nil && count < limits.most + limits.beyond
            if dropped == nil, !mayExceed { return .refused }
        }
        if hosts[host]?.waiting.isEmpty ?? true, mayBegin(hosts[host] ?? Host()) {
            return .begins(begin(number, host), dropped: dropped)
        }
        if hosts[host, default: Host()].waiting.isEmpty { turns.append(host) }
        hosts[host, default: Host()].waiting.append(number)
        waiting += 1
        return .waits(dropped: dropped)
    }

    /// - Returns: the pictures whose turn it is now that one of a host is done.
    mutating func leave(_ host: String) -> [Turn] {
        hosts[host]?.running -= 1
        running -= 1
        forget(host)
        var begun: [Turn] = []
        while let place = turns.firstIndex(where: { mayBegin(hosts[$0] ?? Host()) }) {
            let next = turns.remove(at: place)
            guard let number = hosts[next]?.waiting.removeFirst() else { continue }
            waiting -= 1
            // The others go first now.
            if hosts[next]?.waiting.isEmpty == false { turns.append(next) }
            begun.append(begin(number, next))
        }
        return begun
    }

    /// Takes away a picture that waits.
    ///
    /// - Returns: false when it does not wait any more.
    mutating func remove(_ number: Int, _ host: String) -> Bool {
        guard let place = hosts[host]?.waiting.firstIndex(of: number) else { return false }
        hosts[host]?.waiting.remove(at: place)
        waiting -= 1
        if hosts[host]?.waiting.isEmpty == true { turns.removeAll { $0 == host } }
        forget(host)
        return true
    }

    private func mayBegin(_ host: Host) -> Bool {
        host.running == 0 || (running < limits.running && host.running < limits.runningPerHost)
    }

    private mutating func begin(_ number: Int, _ host: String) -> Turn {
        let rank = hosts[host]?.running ?? 0
        hosts[host, default: Host()].running += 1
        running += 1
        return Turn(number: number, rank: rank)
    }

    /// The host with most pictures gives up its newest one, where that leaves it with no less than the newcomer's host has then.
    private mutating func dropNewest(inFavourOf host: String) -> Int? {
        let own = hosts[host]?.count ?? 0
        let candidates = hosts.filter { !$0.value.waiting.isEmpty }
        guard let most = candidates.max(by: { ($0.value.count, $0.key) < ($1.value.count, $1.key) }),
            most.value.count > own + 1, let newest = most.value.waiting.last,
            remove(newest, most.key)
        else { return nil }
        return newest
    }

    private mutating func forget(_ host: String) {
        if hosts[host]?.count == 0 { hosts[host] = nil }
    }
}
