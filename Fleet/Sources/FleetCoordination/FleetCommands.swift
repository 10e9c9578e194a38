import NIOCore
import RESP
import RedisClient

/// Runs the scripts of a fleet in Redis. Any thread may use it.
struct FleetCommands: Sendable {
    let client: RedisClient
    let keys: FleetKeys
    private let scripts: LoadedScripts

    init(_ client: RedisClient, _ keys: FleetKeys) {
        self.client = client
        self.keys = keys
        scripts = LoadedScripts(client)
    }

    /// The answer of ``FleetScript/begin``.
    struct Begin: Hashable {
        var answer: FleetAnswer
        var latestPurge: Int
        /// Identifies the list of purges.
        var list: String
        /// Milliseconds by the clock of Redis.
        var now: Int
    }

    func begin(
        _ result: String, source: String, token: String, lease: Int, notBefore: Int, newList: String
    ) async throws(RedisError) -> Begin {
        let value = try await run(
            .begin, [keys.lock(result), keys.result(result), keys.failure(source), keys.purges, keys.clock],
            [RESPArgument(token), RESPArgument(lease), RESPArgument(notBefore), RESPArgument(newList)])
        guard let parts = value.members, parts.count == 5, let latest = parts[1].time, let list = parts[2].text,
            let now = parts[3].time
        else { throw .unexpected }
        let answer: FleetAnswer
        switch (parts[0].text, parts[4].integer) {
        case ("lead", _):
            guard let begun = parts[4].time else { throw .unexpected }
            answer = .lead(begun: begun)
        case ("taken", let left?): answer = .taken(left: left)
        case ("known", _):
            guard let bytes = parts[4].bytes, let outcome = FleetOutcome(bytes.readableBytesView) else {
                throw .unexpected
            }
            answer = .known(outcome)
        default: throw .unexpected
        }
        return Begin(answer: answer, latestPurge: latest, list: list, now: now)
    }

    /// - Returns: whether this token still holds the lock.
    func renew(_ result: String, token: String, lease: Int) async throws(RedisError) -> Bool {
        try await run(.renew, [keys.lock(result)], [RESPArgument(token), RESPArgument(lease)]).integer == 1
    }

    /// - Parameters:
    ///   - outcome: nil: the lock is released, and the outcome is not shared.
    ///   - ofSource: whether the outcome applies to all results of the source.
    ///   - notBefore: the time up to which outcomes do not count, because of a purge.
    /// - Returns: whether this token held the lock.
    @discardableResult func finish(
        _ result: String, source: String, token: String, _ outcome: FleetOutcome?, ofSource: Bool, life: Int,
        notBefore: Int = 0
    ) async throws(RedisError) -> Bool {
        let bytes = outcome.map { RESPArgument(ByteBuffer(bytes: $0.bytes)) } ?? ""
        return try await run(
            .finish, [keys.lock(result), ofSource ? keys.failure(source) : keys.result(result)],
            [
                RESPArgument(token), bytes, RESPArgument(outcome?.begun ?? 0), RESPArgument(max(life, 1)),
                RESPArgument(keys.channel(result)), RESPArgument(notBefore),
            ]
        ).integer == 1
    }

    /// - Returns: the time of the last purge, in milliseconds by the clock of Redis.
    func purge(
        _ members: [PurgeMember], newList: String, life: Int, most: Int
    ) async throws(RedisError) -> Int {
        let value = try await run(
            .purge, [keys.purges, keys.clock],
            [RESPArgument(newList), RESPArgument(life), RESPArgument(most), RESPArgument(keys.purgeChannel)]
                + members.map { RESPArgument($0.text) })
        guard let time = value.time else { throw .unexpected }
        return time
    }

    func restore(_ members: [(PurgeMember, Int)], newList: String) async throws(RedisError) {
        _ = try await run(
            .restore, [keys.purges, keys.clock],
            [RESPArgument(newList), RESPArgument(keys.purgeChannel)]
                + members.flatMap { [RESPArgument($0.1), RESPArgument($0.0.text)] })
    }

    /// The recent purges, and the present servers.
    struct News: Hashable {
        /// Milliseconds by the clock of Redis.
        var now: Int
        /// Identifies the list of purges. If it changes, the list was lost.
        var list: String
        /// When the list was created. Earlier purges may be unknown. 0 for the lists of older versions.
        var created: Int {
            let parts = list.split(separator: ":")
            return parts.count == 3 ? Int(parts[2]).flatMap { (0...1 << 53).contains($0) ? $0 : nil } ?? 0 : 0
        }
        /// Purges at this time or before have been removed from the list.
        var dropped: Int
        /// Identifies the run of the Redis server; empty: the user may not run INFO.
        var run: String
        var servers: Int
        var latestPurge: Int
        /// The purges as texts with their times, oldest first.
        var purges: [Purged]

        struct Purged: Hashable {
            var text: String
            var time: Int
        }
    }

    func read(
        after last: Int, most: Int, server: String, newList: String, gone: Int
    ) async throws(RedisError) -> News {
        let value = try await run(
            .read, [keys.purges, keys.servers, keys.clock],
            [
                RESPArgument(newList), RESPArgument(last), RESPArgument(most), RESPArgument(server),
                RESPArgument(gone),
            ])
        guard let parts = value.members, parts.count == 7, let now = parts[0].time, let list = parts[1].text,
            let dropped = parts[2].time, let run = parts[3].text, let servers = parts[4].integer,
            let latest = parts[5].time, let purges = parts[6].members, purges.count % 2 == 0
        else { throw .unexpected }
        var news = News(
            now: now, list: list, dropped: dropped, run: run, servers: servers, latestPurge: latest, purges: [])
        for index in stride(from: 0, to: purges.count, by: 2) {
            guard let text = purges[index].text, let time = purges[index + 1].time else { throw .unexpected }
            news.purges.append(.init(text: text, time: time))
        }
        return news
    }

    func leave(_ server: String) async throws(RedisError) {
        _ = try await client.send(["ZREM", RESPArgument(keys.servers), RESPArgument(server)])
    }

    /// - Returns: nil if the request is within the limit, else the seconds until the next one is.
    func rate(_ client: String, interval: Double, tolerance: Double) async throws(RedisError) -> Double? {
        // Limits the value to some thirty years, because an operator may configure any rate, however low.
        func microseconds(_ seconds: Double) -> RESPArgument { RESPArgument(Int(min(seconds * 1_000_000, 1e15))) }
        let value = try await run(.rate, [keys.rate(client)], [microseconds(interval), microseconds(tolerance)])
        guard let wait = value.integer else { throw .unexpected }
        return wait > 0 ? Double(wait) / 1_000_000 : nil
    }

    /// Runs a script by its digest, and sends its text if Redis does not know it.
    private func run(
        _ script: FleetScript, _ names: [String], _ arguments: [RESPArgument]
    ) async throws(RedisError) -> RESPValue {
        let rest = [RESPArgument(names.count)] + names.map { RESPArgument($0) } + arguments
        func send(_ loading: LoadedScripts.Loading) async throws(RedisError) -> RESPValue {
            try await client.send(["EVALSHA", RESPArgument(loading.value.get())] + rest)
        }
        let loading = scripts.loading(script)
        do {
            return try await send(loading)
        } catch .refused(let text) where text.hasPrefix("NOSCRIPT") {
            return try await send(scripts.loading(script, insteadOf: loading))
        }
    }
}

extension RESPValue {
    /// Milliseconds since 1970. Nil for numbers below 0 or above 2^53, which Lua cannot represent exactly. Anybody with
    /// write access to Redis may have stored such a number, and sums with it could overflow.
    fileprivate var time: Int? { integer.flatMap { (0...1 << 53).contains($0) ? $0 : nil } }
}

extension RedisError {
    /// An unexpected answer of Redis.
    static let unexpected = RedisError.refused("an unexpected answer of a script")
}
