/// Keeps a table of purges in step with the list in Redis. A pure value: it is told what Redis says.
///
/// The list can be lost (Redis was emptied), go back in time (a replica took over that had not got all of it), and be cut at its
/// old end. In each case the reader sees to it that a purge that this server knows gets into the list again, and that nothing
/// counts as current that a purge may have named which this server does not know.
struct PurgeReader {
    /// Purges of this time, in ms, are told to a server of Redis that took over: an older one had them from the one before.
    static let recent = 600_000

    private(set) var table: PurgeTable
    /// The time of the last purge that was read.
    private(set) var last = 0
    private var list: String?
    private var run: String?
    /// The time of the last purge of a kind that this version does not know.
    private var unknown = 0
    /// Purges that Redis was not told, or may have lost, with their times.
    private(set) var untold: [PurgeMember: Int] = [:]
    /// Who has more to say than this says "all".
    private static let mostUntold = 100_000
    /// Whether everything was read at least once.
    private(set) var isComplete = false

    /// When everything was read last, by the clock of Redis.
    private var complete = 0

    /// The time up to which all purges are known. One that is not known yet has this time at the earliest.
    var stamp: Int { max(complete, table.latest + 1) }

    /// Whether this server has read what there was when Redis gave an answer.
    func hasRead(_ begin: FleetCommands.Begin) -> Bool { begin.list == list && begin.latestPurge <= last }

    /// - Parameter start: when the server started, about: all older results count as unsure until the list is read.
    init(start: Int) { table = PurgeTable(floor: start) }

    /// - Parameter after: what was asked for: purges later than this.
    /// - Returns: whether there is more to read.
    mutating func take(_ news: FleetCommands.News, after: Int) -> Bool {
        defer { (list, run) = (news.list, news.run) }
        if let list, list != news.list {
            // What was purged since this server looked last may be lost with the list.
            table.raiseFloor(to: news.now)
            (isComplete, last) = (true, 0)
            for (member, time) in table.members { untold[member] = time }
            return true
        }
        if let run, run != news.run {
            last = 0
            for (member, time) in table.members where time > news.now - Self.recent { untold[member] = time }
            return true
        }
        // Another reading was answered meanwhile, and begins from further back.
        if after > last { return true }
        for purged in news.purges {
            last = max(last, purged.time)
            if let member = PurgeMember(text: purged.text) {
                table.add(member, at: purged.time)
            } else {
                // Another version of this server knows other kinds. Whatever it is: nothing older is certain.
                unknown = max(unknown, purged.time)
                table.raiseFloor(to: purged.time)
            }
        }
        last = max(last, news.dropped)
        let readsOn = last < news.latestPurge
        if isComplete {
            if news.dropped > table.floor { table.forget(until: news.dropped) }
        } else if !readsOn {
            isComplete = true
            table.setFloor(max(news.dropped, unknown))
        }
        if !readsOn { complete = max(complete, news.now) }
        return readsOn
    }

    /// A purge of this server's own, which is in the list already.
    mutating func add(_ member: PurgeMember, at time: Int) { table.add(member, at: time) }

    /// A purge that Redis cannot be told now.
    mutating func addUntold(_ member: PurgeMember, at time: Int) {
        let member = untold.count < Self.mostUntold ? member : PurgeMember(.all)
        let time = max(time, table.latest + 1)
        table.add(member, at: time)
        untold[member] = time
    }

    /// Redis has these now.
    mutating func told(_ members: some Sequence<(PurgeMember, Int)>) {
        for (member, time) in members where untold[member] == time { untold[member] = nil }
    }
}
