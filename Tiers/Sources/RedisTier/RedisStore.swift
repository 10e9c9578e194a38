import NIOCore
import RESP
import RedisClient

/// The entries and removals of a tier in Redis. Any thread may use it.
///
/// An entry is a hash with the fields `m`, the signed head, and `b`, the body, so that each can be read and changed
/// without the other. Removals are a stream in which each item names the previous one, so that a reader notices missing
/// items.
struct RedisStore: Sendable {
    struct Found {
        var head: [UInt8]
        var body: [UInt8]
    }

    /// The removals since a program last read them.
    struct News {
        struct Item {
            var id: String
            /// The ID of the previous removal; `0-0` for the first.
            var previous: String
            var fields: [[UInt8]]
        }

        /// The ID of the latest removal; `0-0` if there is none.
        var last: String
        /// At most ``maxRead``.
        var items: [Item]
    }

    /// How many removals are kept, for programs that are cut off for a while.
    private static let maxRemovals = 100_000
    /// The seconds without a new removal after which the list is deleted: 31 days. The ID of the last removal is kept,
    /// because the next one would otherwise seem to begin a new list, and every program would clear its caches.
    private static let removalLife = 31 * 86_400
    static let maxRead = 500

    let client: RedisClient
    private let start: String

    /// The time for a command that changes something.
    private let changeDeadline: TimeAmount

    /// The tag in braces keeps all keys in one slot of a cluster, which the scripts require.
    init(_ client: RedisClient, prefix: String, changeDeadline: TimeAmount) {
        (self.client, start, self.changeDeadline) = (client, "{\(prefix):t1}:", changeDeadline)
    }

    private func change(_ command: [RESPArgument]) async throws(RedisError) -> RESPValue {
        try await client.send(command, deadline: changeDeadline)
    }

    private func key(_ name: String) -> RESPArgument { RESPArgument("\(start)o:\(name)") }
    private var removals: RESPArgument { RESPArgument("\(start)removed") }
    private var lastRemoval: RESPArgument { RESPArgument("\(start)last") }
    /// The channel on which each removal is announced, without its content.
    var channel: String { "\(start)c" }

    func entry(_ name: String) async throws(RedisError) -> Found? {
        let value = try await client.send(["HMGET", key(name), "m", "b"])
        guard let members = value.members, members.count == 2 else { throw .refused("an unexpected answer") }
        guard let head = members[0].bytes, let body = members[1].bytes else { return nil }
        return Found(head: Array(head.readableBytesView), body: Array(body.readableBytesView))
    }

    func head(_ name: String) async throws(RedisError) -> [UInt8]? {
        try await client.send(["HGET", key(name), "m"]).bytes.map { Array($0.readableBytesView) }
    }

    /// - Parameter life: in seconds.
    func put(_ name: String, head: [UInt8], body: [UInt8], life: Int64) async throws(RedisError) {
        _ = try await change([
            "EVAL", "redis.call('HSET', KEYS[1], 'm', ARGV[1], 'b', ARGV[2]) redis.call('EXPIRE', KEYS[1], ARGV[3])",
            "1", key(name), RESPArgument(ByteBuffer(bytes: head)), RESPArgument(ByteBuffer(bytes: body)),
            RESPArgument(Int(life)),
        ])
    }

    /// - Returns: false if the entry's head has changed since `old` was read, or the entry is gone.
    func replace(
        _ name: String, head old: [UInt8], by new: [UInt8], life: Int64
    ) async throws(RedisError) -> Bool {
        let script = """
            if redis.call('HGET', KEYS[1], 'm') ~= ARGV[1] then return 0 end
            redis.call('HSET', KEYS[1], 'm', ARGV[2])
            redis.call('EXPIRE', KEYS[1], ARGV[3])
            return 1
            """
        let value = try await change([
            "EVAL", RESPArgument(script), "1", key(name), RESPArgument(ByteBuffer(bytes: old)),
            RESPArgument(ByteBuffer(bytes: new)), RESPArgument(Int(life)),
        ])
        return value.integer == 1
    }

    /// Removes an entry without telling the other programs.
    func drop(_ name: String) async throws(RedisError) -> Bool {
        try await change(["UNLINK", key(name)]).integer == 1
    }

    /// Removes an entry and notifies all programs.
    func remove(_ name: String, _ fields: [[UInt8]]) async throws(RedisError) -> Bool {
        // UNLINK comes first: a full Redis refuses a script that begins with XADD, but lets a script go on that has
        // already written.
        let script = """
            local count = redis.call('UNLINK', KEYS[1])
            local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
            local words = {'p', last and last[1] or redis.call('GET', KEYS[3]) or '0-0'}
            for index = 4, #ARGV do
                words[#words + 1] = 'f'
                words[#words + 1] = ARGV[index]
            end
            redis.call('SET', KEYS[3], redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[1], '*', unpack(words)))
            redis.call('EXPIRE', KEYS[2], ARGV[2])
            redis.call('PUBLISH', ARGV[3], '1')
            return count
            """
        let value = try await change(
            [
                "EVAL", RESPArgument(script), "3", key(name), removals, lastRemoval,
                RESPArgument(Self.maxRemovals), RESPArgument(Self.removalLife), RESPArgument(channel),
            ] + fields.map { RESPArgument(ByteBuffer(bytes: $0)) })
        return value.integer == 1
    }

    /// - Parameter id: the last removal that the program knows; nil: only the ID of the latest one is read.
    func removals(after id: String?) async throws(RedisError) -> News {
        let script = """
            local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
            local news = {}
            if ARGV[1] ~= '' then news = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2]) end
            return {last and last[1] or redis.call('GET', KEYS[2]) or '0-0', news}
            """
        let value = try await client.send([
            "EVAL", RESPArgument(script), "2", removals, lastRemoval, RESPArgument(id ?? ""),
            RESPArgument(Self.maxRead),
        ])
        guard let parts = value.members, parts.count == 2, let last = parts[0].text, let items = parts[1].members else {
            throw .refused("an unexpected answer")
        }
        return News(last: last, items: items.compactMap { Self.item($0) })
    }

    private static func item(_ value: RESPValue) -> News.Item? {
        guard let parts = value.members, parts.count == 2, let id = parts[0].text, let words = parts[1].members,
            words.count >= 2, let previous = words[1].text
        else { return nil }
        let fields = stride(from: 3, to: words.count, by: 2).compactMap { words[$0].bytes }
        return News.Item(id: id, previous: previous, fields: fields.map { Array($0.readableBytesView) })
    }
}
