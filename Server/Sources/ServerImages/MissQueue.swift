/// The pictures that are being made or waiting, by the host of their source. Hosts take turns, so that a host that is
/// slow, or has many pictures, does not delay the others.
///
/// A pure value, owned by ``MissGate``. A call takes at most as many steps as there are hosts.
struct MissQueue {
    struct Limits: Hashable, Sendable {
        /// How many pictures may be made or wait.
        var most: Int
        /// How many pictures may be made at a time. A host of which no picture is being made may always begin one.
        var running: Int
        /// How many pictures of one host may be made at a time.
        var runningPerHost: Int
        /// How many pictures may begin beyond ``most`` if no waiting picture can give up its place: one for each host
        /// that has no other picture.
        var beyond = 0
    }

    /// A picture whose turn it is.
    struct Turn: Hashable, Sendable {
        var number: Int
        /// How many pictures of the same host are being made already.
        var rank: Int
    }

    /// What happens to a new picture. `dropped` is the picture that loses its place to it: the newest waiting picture
    /// of the host that has most pictures.
    enum Entry: Hashable, Sendable {
        case begins(Turn, dropped: Int?)
        case waits(dropped: Int?)
        case refused
    }

    private struct Host {
        var running = 0
        /// Oldest first.
        var waiting: [Int] = []
        /// How long a picture of this host keeps its place, in seconds, as a moving average; nil: none has left yet.
        var stay: Double?
        /// The same for pictures that did not fail, and when the last of them left.
        var made: (stay: Double, at: Double)?

        var count: Int { running + waiting.count }

        mutating func leave(after stay: Double, at now: Double, hasFailed: Bool) {
            running -= 1
            self.stay = self.stay.map { $0 + (stay - $0) * 0.1 } ?? stay
            if !hasFailed { made = (made.map { $0.stay + (stay - $0.stay) * 0.1 } ?? stay, now) }
        }
    }

    private let limits: Limits
    /// How many pictures of one host may be made or wait at the moment. Lowering the limit does not affect pictures
    /// that are already in the queue.
    var maxPerHost: Int
    private var hosts: [String: Host] = [:]
    /// The hosts with waiting pictures, in the order of their turns.
    private var turns: [String] = []
    private(set) var running = 0
    private(set) var waiting = 0

    init(_ limits: Limits) {
        self.limits = limits
        maxPerHost = limits.most
    }

    var count: Int { running + waiting }
    /// Whether the next picture of a new host would displace another or be refused.
    var isFull: Bool { count >= limits.most + (waiting == 0 ? limits.beyond : 0) }

    /// The host with most pictures among those with waiting ones. Its newest picture gives up its place to that of a
    /// new host.
    var hostWithMostWaiting: String? {
        hosts.filter { !$0.value.waiting.isEmpty }.max { ($0.value.count, $0.key) < ($1.value.count, $1.key) }?.key
    }

    /// Whether the pictures of a host wait for its origin: none has been made yet, or they take more than twice as long
    /// as the threads need for all pictures that are being made.
    ///
    /// - Parameters:
    ///   - work: how long all threads together need for one picture, in seconds.
    ///   - now: in seconds.
    func isSlow(_ host: String, work: Double, at now: Double) -> Bool {
        guard let host = hosts[host] else { return false }
        guard let made = host.made else { return true }
        return max(made.stay, now - made.at) > 2 * work * Double(running)
    }

    /// How many pictures precede the next one of a host if all hosts take turns.
    func ahead(of host: String) -> Int {
        let own = hosts[host]?.count ?? 0
        return hosts.reduce(0) { $0 + ($1.key == host ? own : min($1.value.count, own + 1)) }
    }

    /// The time in seconds until the next picture of a host would be made, given the pictures of the same host that
    /// precede it; 0 if the time is not known, or the picture may begin at once.
    func time(toMakeNextOf host: String) -> Double {
        guard let host = hosts[host], !mayBegin(host) else { return 0 }
        return time(host, behind: host.waiting.count)
    }

    /// The same for the newest waiting picture of a host, and its number; nil if none waits.
    func newestWaiting(of host: String) -> (number: Int, time: Double)? {
        guard let host = hosts[host], let number = host.waiting.last else { return nil }
        return (number, time(host, behind: host.waiting.count - 1))
    }

    private func time(_ host: Host, behind count: Int) -> Double {
        guard let stay = host.stay else { return 0 }
        return Double(count + 1) * stay / Double(limits.runningPerHost) + stay
    }

    mutating func enter(_ number: Int, _ host: String) -> Entry {
        if hosts[host]?.count ?? 0 >= maxPerHost { return .refused }
        var dropped: Int?
        if count >= limits.most {
            dropped = dropNewest(inFavourOf: host)
            // A host without a picture may exceed the limit, because slow hosts could otherwise hold all places.
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

    /// - Parameters:
    ///   - stay: for how many seconds the picture had its place.
    ///   - now: in seconds.
    /// - Returns: the pictures whose turn has come, now that one of a host is finished.
    mutating func leave(
        _ host: String, after stay: Double, at now: Double = 0, hasFailed: Bool = false
    ) -> [Turn] {
        hosts[host]?.leave(after: stay, at: now, hasFailed: hasFailed)
        running -= 1
        forget(host)
        var begun: [Turn] = []
        while let place = turns.firstIndex(where: { mayBegin(hosts[$0] ?? Host()) }) {
            let next = turns.remove(at: place)
            guard let number = hosts[next]?.waiting.removeFirst() else { continue }
            waiting -= 1
            // The host goes to the end of the turns, behind the others.
            if hosts[next]?.waiting.isEmpty == false { turns.append(next) }
            begun.append(begin(number, next))
        }
        return begun
    }

    /// Removes a waiting picture.
    ///
    /// - Returns: false if it is no longer waiting.
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

    /// Removes the newest waiting picture of ``hostWithMostWaiting``, if that host keeps at least as many pictures as the
    /// newcomer's host will have.
    private mutating func dropNewest(inFavourOf host: String) -> Int? {
        let own = hosts[host]?.count ?? 0
        guard let name = hostWithMostWaiting, let most = hosts[name], most.count > own + 1,
            let newest = most.waiting.last,
            remove(newest, name)
        else { return nil }
        return newest
    }

    private mutating func forget(_ host: String) {
        if hosts[host]?.count == 0 { hosts[host] = nil }
    }
}
