@testable import FleetCoordination

/// A model of the scripts' effects in Redis, as a value, for simulations of many orders of events. `ScriptTests`
/// compares the model with a real Redis.
struct ModelRedis {
    private struct Lock {
        var token: String
        var until: Int
    }

    private struct Kept {
        var outcome: FleetOutcome
        var until: Int
    }

    /// The current time in milliseconds.
    var now: Int
    private var locks: [String: Lock] = [:]
    private var results: [String: Kept] = [:]
    private var failures: [String: Kept] = [:]
    private(set) var purges: [String: Int] = [:]
    private var list: (name: String, dropped: Int)?
    /// The run ID of the Redis process, which changes when another process takes over; empty if INFO is not permitted.
    var run = "run"
    private var servers: [String: Int] = [:]

    /// The highest time that was given for the beginning of work.
    private var highest = 0
    /// Whether it is kept, as it must be.
    var keepsHighest = true

    init(now: Int) { self.now = now }

    /// As in a replica that has not received it.
    mutating func forgetHighest() { highest = 0 }

    private mutating func give(_ time: Int) { if keepsHighest { highest = max(highest, time) } }

    private var latest: Int { max(purges.values.max() ?? 0, list?.dropped ?? 0) }

    /// Empties Redis, as a restart without persistence or FLUSHALL does.
    mutating func wipe() {
        (locks, results, failures, purges, list, servers, highest) = ([:], [:], [:], [:], nil, [:], 0)
    }

    mutating func expire() {
        locks = locks.filter { $0.value.until > now }
        results = results.filter { $0.value.until > now }
        failures = failures.filter { $0.value.until > now }
    }

    mutating func begin(
        _ result: String, source: String, token: String, lease: Int, notBefore: Int, newList: String
    ) -> FleetCommands.Begin {
        expire()
        begin(newList)
        func answer(_ answer: FleetAnswer) -> FleetCommands.Begin {
            FleetCommands.Begin(answer: answer, latestPurge: latest, list: list?.name ?? "", now: now)
        }
        let known = [results[result], failures[source]].compactMap { kept in
            kept.flatMap { $0.outcome.begun > notBefore ? $0.outcome : nil }
        }
        if let outcome = known.first(where: { $0.kind == .result }) ?? known.last { return answer(.known(outcome)) }
        if let lock = locks[result], lock.token != token { return answer(.taken(left: lock.until - now)) }
        if locks[result] == nil { locks[result] = Lock(token: token, until: now + lease) }
        let begun = max(now, latest + 1)
        give(begun)
        return answer(.lead(begun: begun))
    }

    mutating func renew(_ result: String, token: String, lease: Int) -> Bool {
        expire()
        guard locks[result]?.token == token else { return false }
        locks[result]?.until = now + lease
        return true
    }

    mutating func finish(
        _ result: String, source: String, token: String, _ outcome: FleetOutcome?, ofSource: Bool, life: Int,
        notBefore: Int = 0
    ) -> Bool {
        expire()
        let isOurs = locks[result]?.token == token
        if isOurs { locks[result] = nil }
        let other = ofSource ? failures[source] : results[result]
        func isReplaced(_ other: FleetOutcome, by outcome: FleetOutcome) -> Bool {
            other.begun < outcome.begun && (outcome.kind != .unshared || other.begun <= notBefore)
        }
        if let outcome, other.map({ isReplaced($0.outcome, by: outcome) }) ?? true {
            let kept = Kept(outcome: outcome, until: now + max(life, 1))
            if ofSource { failures[source] = kept } else { results[result] = kept }
        }
        return isOurs
    }

    mutating func purge(_ members: [PurgeMember], newList: String, life: Int, most: Int) -> Int {
        begin(newList)
        var time = max(now, latest + 1, highest)
        for member in members {
            purges[member.text] = time
            time += 1
        }
        var dropped = purges.values.filter { $0 <= now - life }.max()
        if purges.count > most {
            dropped = max(purges.values.sorted()[purges.count - most - 1], dropped ?? 0)
        }
        if let dropped {
            purges = purges.filter { $0.value > dropped }
            list?.dropped = dropped
        }
        return time - 1
    }

    mutating func restore(_ members: [(PurgeMember, Int)], newList: String) {
        begin(newList)
        var time = max(now, latest + 1, highest)
        for (member, was) in members where was > list?.dropped ?? 0 && purges[member.text] ?? 0 < was {
            time = max(time, was)
            purges[member.text] = time
            time += 1
        }
    }

    mutating func read(after last: Int, most: Int, server: String, newList: String, gone: Int) -> FleetCommands.News {
        begin(newList)
        give(now)
        servers[server] = now
        servers = servers.filter { $0.value > now - gone }
        let dropped = list?.dropped ?? 0
        let new = purges.filter { $0.value > max(last, dropped) }.sorted { $0.value < $1.value }.prefix(most)
        return FleetCommands.News(
            now: now, list: list?.name ?? "", dropped: dropped, run: run, servers: servers.count,
            latestPurge: latest, purges: new.map { .init(text: $0.key, time: $0.value) })
    }

    mutating func setPurges(_ purged: [FleetCommands.News.Purged], dropped: Int) {
        purges = Dictionary(uniqueKeysWithValues: purged.map { ($0.text, $0.time) })
        list?.dropped = dropped
    }

    private mutating func begin(_ newList: String) {
        if list == nil { list = ("list:\(newList):\(now - 1)", 0) }
    }
}
