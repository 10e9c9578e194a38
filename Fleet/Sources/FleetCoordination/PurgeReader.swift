/// Keeps a table of purges consistent with the list in Redis. A pure value: it is given the answers of Redis.
///
/// The list can be lost (Redis was emptied), go back in time (a replica took over that lacked its end), and lose its
/// old end. In each case the reader ensures that the recent purges that this server knows are added to the list again,
/// and that no result counts as current that an unknown purge may concern.
struct PurgeReader {
    /// Purges of this last period, in ms, are sent again to a Redis server that took over or has lost its data. Older
    /// ones reached a replica by replication; where the list is a new one, all earlier results count as unsure.
    static let recent = 600_000

    private(set) var table: PurgeTable
    /// The time of the last purge that was read.
    private(set) var last = 0
    /// Identifies the list of purges that was read last.
    private(set) var list: String?
    /// See ``FleetCommands/News/created``.
    private(set) var created = 0
    private var run: String?
    /// Whether Redis may have been restarted or replaced since the last answer. It matters only if Redis does not
    /// identify its run.
    private var runMayDiffer = false
    /// The time of the last purge that this server cannot know: of a kind that this version does not support, or lost
    /// with this server's file.
    private var unknown = 0
    /// Purges that Redis has not received, or may have lost, with their times.
    private(set) var unsent: [PurgeMember: Int] = [:]
    /// The number of unsent purges above which everything is purged instead.
    private static let maxUnsent = 100_000
    /// Whether everything was read at least once.
    private(set) var isComplete = false

    /// The time of the last complete reading, by the clock of Redis.
    private var complete = 0

    /// The time of the last purge that Redis could not be told of.
    private var lastUnsent = 0

    /// The time before which all purges are known. An unknown purge has this time or a later one, unless it was made
    /// while Redis could not be asked.
    ///
    /// A purge that this server has added to Redis' list counts only when it was read: other servers may have added
    /// earlier ones since the last reading.
    var stamp: Int { max(complete, last + 1, lastUnsent + 1) }

    /// Whether this server has read everything that existed when Redis gave an answer.
    func hasRead(_ begin: FleetCommands.Begin) -> Bool { begin.list == list && begin.latestPurge <= last }

    /// - Parameter start: the approximate start of the server: all older results count as unsure until the list is
    ///   read.
    init(start: Int) { table = PurgeTable(floor: start) }

    /// Takes an answer of Redis.
    ///
    /// - Parameter after: the time after which purges were requested.
    /// - Returns: whether there is more to read.
    mutating func take(_ news: FleetCommands.News, after: Int) -> Bool {
        defer { (list, created, run, runMayDiffer) = (news.list, news.created, news.run, false) }
        if let list, list != news.list {
            // Purges since the last reading may be lost with the list.
            table.raiseFloor(to: news.now)
            isComplete = true
            readAgain(at: news.now)
            return true
        }
        if let run, run != news.run || (run.isEmpty && runMayDiffer) {
            readAgain(at: news.now)
            return true
        }
        // Another reading has reset ``last`` to an earlier time meanwhile, so that this answer would leave a gap.
        if after > last { return true }
        for purged in news.purges {
            last = max(last, purged.time)
            if let member = PurgeMember(text: purged.text) {
                table.add(member, at: purged.time)
            } else {
                // Another version of this server has added a purge of an unknown kind, so that all older results are
                // unsure.
                unknown = max(unknown, purged.time)
                table.raiseFloor(to: purged.time)
            }
        }
        last = max(last, news.dropped)
        let hasMore = last < news.latestPurge
        if isComplete {
            if news.dropped > table.floor { table.forget(until: news.dropped) }
        } else if !hasMore {
            isComplete = true
            table.setFloor(max(news.dropped, news.created, unknown))
        }
        if !hasMore { complete = max(complete, news.now) }
        return hasMore
    }

    /// Begins to read the list from its start, because it may be another one.
    private mutating func readAgain(at now: Int) {
        last = 0
        for (member, time) in table.members where time > now - Self.recent { unsent[member] = time }
    }

    /// A connection was lost or made: a replica may have taken the place of Redis.
    mutating func noteReconnection() { runMayDiffer = true }

    /// Adds a purge of this server that is already in Redis' list.
    mutating func add(_ member: PurgeMember, at time: Int) { table.add(member, at: time) }

    /// Adds a purge that Redis cannot be told now.
    mutating func addUnsent(_ member: PurgeMember, at time: Int) {
        let member = unsent.count < Self.maxUnsent ? member : PurgeMember(.all)
        let time = max(time, table.latest + 1)
        table.add(member, at: time)
        unsent[member] = time
        lastUnsent = max(lastUnsent, time)
    }

    /// Purges until this time that this server alone knew may be lost.
    mutating func noteLoss(until time: Int) {
        unknown = max(unknown, time)
        table.raiseFloor(to: time)
    }

    /// Called when Redis has received these purges.
    mutating func didSend(_ members: some Sequence<(PurgeMember, Int)>) {
        for (member, time) in members where unsent[member] == time { unsent[member] = nil }
    }
}
