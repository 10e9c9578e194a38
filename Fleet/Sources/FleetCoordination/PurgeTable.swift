/// The purges with their times, by the clock of Redis in milliseconds since 1970. A pure value.
///
/// A result is identified by its source, its tags, and the time at which the work on it began. It is purged if that
/// time is not later than a purge that concerns it.
public struct PurgeTable: Sendable {
    public enum Verdict: Hashable, Sendable {
        case current
        /// The result may have been purged: it is served only after its origin has confirmed it.
        case unsure
        case purged
    }

    private var all = 0
    private var urls: [UInt64: Int] = [:]
    private var tags: [UInt64: Int] = [:]
    /// The purges of prefixes, by the length of the prefix in bytes.
    private var prefixes: [Int: [UInt64: Int]] = [:]
    /// The time of the newest purge.
    public private(set) var latest = 0
    /// Not all purges at this time or before are known.
    public private(set) var floor: Int

    /// - Parameter floor: see ``floor``.
    public init(floor: Int = 0) { self.floor = floor }

    /// How many purges are stored.
    public var count: Int {
        urls.count + tags.count + prefixes.values.reduce(0) { $0 + $1.count } + (all > 0 ? 1 : 0)
    }

    /// Adds a purge. It changes nothing if the table already holds the same purge with this time or a later one.
    mutating func add(_ member: PurgeMember, at time: Int) {
        latest = max(latest, time)
        switch member.kind {
        case .all: all = max(all, time)
        case .url: urls[member.hash] = max(urls[member.hash] ?? 0, time)
        case .tag: tags[member.hash] = max(tags[member.hash] ?? 0, time)
        case .prefix(let length):
            prefixes[length, default: [:]][member.hash] = max(prefixes[length]?[member.hash] ?? 0, time)
        }
    }

    /// Adds a purge by this machine's clock, for servers without Redis.
    ///
    /// - Returns: its time: later than all earlier ones.
    @discardableResult public mutating func add(_ purge: Purge, now: Int) -> Int {
        let time = max(now, latest + 1)
        add(PurgeMember(purge), at: time)
        return time
    }

    /// Only those purges of this table that another table does not hold with this time or a later one.
    func news(for other: PurgeTable) -> PurgeTable {
        var news = PurgeTable(floor: floor)
        if all > other.all { news.add(PurgeMember(.all), at: all) }
        news.urls = urls.filter { $0.value > other.urls[$0.key] ?? 0 }
        news.tags = tags.filter { $0.value > other.tags[$0.key] ?? 0 }
        news.prefixes = Dictionary(
            uniqueKeysWithValues: prefixes.map { length, times in
                (length, times.filter { $0.value > other.prefixes[length]?[$0.key] ?? 0 })
            })
        return news
    }

    /// Adds the purges of another table, with its times.
    mutating func merge(_ other: PurgeTable) {
        for (member, time) in other.members { add(member, at: time) }
        raiseFloor(to: other.floor)
    }

    /// Purges up to this time are no longer known completely.
    public mutating func raiseFloor(to time: Int) { floor = max(floor, time) }

    /// Sets the floor; all purges after it must be known.
    mutating func setFloor(_ time: Int) { floor = time }

    /// Removes purges at this time or before, and raises the floor instead.
    mutating func forget(until time: Int) {
        raiseFloor(to: time)
        if all <= time { all = 0 }
        urls = urls.filter { $0.value > time }
        tags = tags.filter { $0.value > time }
        prefixes = prefixes.mapValues { $0.filter { $0.value > time } }.filter { !$0.value.isEmpty }
    }

    /// Removes the oldest purges if there are more than `most`.
    mutating func trim(to most: Int) {
        guard count > most else { return }
        let times = members.map(\.1).sorted()
        forget(until: times[times.count - most - 1])
    }

    /// All stored purges with their times.
    var members: [(PurgeMember, Int)] {
        func members(_ kind: PurgeMember.Kind, _ times: [UInt64: Int]) -> [(PurgeMember, Int)] {
            times.map { hash, time in
                var member = PurgeMember(.all)
                (member.kind, member.hash) = (kind, hash)
                return (member, time)
            }
        }
        return (all > 0 ? [(PurgeMember(.all), all)] : []) + members(.url, urls) + members(.tag, tags)
            + prefixes.flatMap { length, times in members(.prefix(length), times) }
    }

    private static let floorName = "floor"

    /// The table as text, a line for each purge, and one for the floor where it was raised.
    public var text: String {
        let lines = members.sorted { $0.1 < $1.1 }.map { "\($0.1) \($0.0.text)\n" }
        return (floor > 0 ? "\(floor) \(Self.floorName)\n" : "") + lines.joined()
    }

    /// - Parameter text: in the form of ``text``. Invalid lines are ignored.
    public init(text: String) {
        self.init()
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let time = Int(parts[0]) else { continue }
            if parts[1] == Self.floorName { raiseFloor(to: time) }
            if let member = PurgeMember(text: String(parts[1])) { add(member, at: time) }
        }
    }

    /// The time of the last purge that concerns this source; 0: never.
    ///
    /// - Parameters:
    ///   - source: the URL of the source.
    ///   - tags: hashes of the tags that its origin gave it (``StableHash``).
    public func lastPurge(source: String, tags: [UInt64] = []) -> Int {
        var last = all
        for tag in tags { last = max(last, self.tags[tag] ?? 0) }
        guard !urls.isEmpty || !prefixes.isEmpty else { return last }
        var (hash, length) = (StableHash(), 0)
        func look() {
            if let time = prefixes[length]?[hash.value] { last = max(last, time) }
        }
        if prefixes.isEmpty { return max(last, urls[StableHash.of(source)] ?? 0) }
        look()
        for byte in source.utf8 {
            hash.add(byte)
            length += 1
            look()
        }
        return max(last, urls[hash.value] ?? 0)
    }

    /// - Parameter begun: when the work on the result began.
    public func verdict(source: String, tags: [UInt64] = [], begun: Int) -> Verdict {
        if begun > latest, begun > floor { return .current }
        let last = lastPurge(source: source, tags: tags)
        if last > 0, begun <= last { return .purged }
        return begun <= floor ? .unsure : .current
    }
}
