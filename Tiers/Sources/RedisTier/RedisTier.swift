public import NIOCore
import NIOPosix
import RESP
public import RedisClient
import Synchronization
public import TierEntries
public import WebImage

/// A tier of an ``WebImage/ImageManager``'s cache in Redis or Valkey, through which programs share originals.
///
///     var configuration = ImageManager.Configuration()
///     let tier = try RedisTier(.init(url: "redis://cache.example", secret: secret))
///     configuration.tiers = [tier]
///     let manager = ImageManager(configuration: configuration)
///     let following = try tier.follow(removalsInto: manager)
///
/// It is a shared cache (RFC 9111): answers that are `private` are not stored, nor those to requests with credentials
/// or cookies unless the origin allows sharing them, and `s-maxage` is obeyed. Only originals from HTTP answers are
/// stored, up to ``Configuration/longestBody``. Entries are signed; an entry with a wrong signature counts as missing.
///
/// A load waits at most ``Configuration/deadline`` for it. A server that fails five times in a row is not asked for a
/// second, then for longer; meanwhile the tier counts as empty. Any thread may use it.
public final class RedisTier: BytesTier {
    public struct Configuration: Sendable {
        /// The server and the settings of its connection.
        public var redis: RedisConfiguration
        /// The secret that signs the entries: at least 16 bytes, the same in all programs that share them, and known to
        /// nobody else.
        public var secret: [UInt8]
        /// A prefix that keeps programs apart that share a server but not their pictures. Default `wi`.
        public var prefix = "wi"
        /// The longest original that is stored: a longer one would delay the commands behind it. Default 1 MiB.
        public var longestBody = ByteCount.mebibytes(1)
        /// How long an original is kept at most; `s-maxage` may shorten it. Default a day.
        public var lifetime = Duration.seconds(86_400)
        /// How long a look-up may take. Default 50 ms. A change may take ten times as long.
        public var deadline = Duration.milliseconds(50)

        public init(redis: RedisConfiguration, secret: [UInt8]) { (self.redis, self.secret) = (redis, secret) }

        /// - Parameter url: `redis://`, `rediss://` (TLS) with `[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]`, or `unix:///PATH`.
        /// - Throws: an error that does not repeat the URL, since it may contain a password.
        public init(url: String, secret: [UInt8]) throws(TierSetupError) {
            do throws(RedisError) {
                self.init(redis: try RedisConfiguration(url: url), secret: secret)
            } catch {
                throw TierSetupError("\(error)")
            }
        }
    }

    /// Counts since the tier was made.
    public struct Statistics: Hashable, Sendable {
        public var hits = 0
        public var misses = 0
        public var puts = 0
        /// Originals that were not stored, because they must not be shared or are too long.
        public var refusals = 0
        /// Entries that were found but not signed with this secret, or were damaged.
        public var damaged = 0
        /// Removals of other programs that this program has received.
        public var removalsHeard = 0

        public init() {}
    }

    let store: RedisStore
    let seal: EntrySeal
    /// Identifies this program in its messages to the others.
    let name = "\(UInt64.random(in: 0 ... .max))"
    private let configuration: Configuration
    private let state = Mutex(Statistics())
    /// Limits the bytes of bodies that are on their way to the server, because look-ups have to wait for them.
    private let puts = BytesInFlight(limit: 2 << 20)

    /// Makes a tier, which connects when it is first used.
    ///
    /// - Parameters:
    ///   - loop: the event loop of the connection. Default: one of NIO's own.
    ///   - onNotice: called when the server fails, when it works again, and when it refuses the subscription to
    ///     removals, which nothing else reports. It must return at once.
    /// - Throws: if the secret is too short, or a feature is not built in (TLS without that trait).
    public init(
        _ configuration: Configuration, on loop: (any EventLoop)? = nil,
        onNotice: @escaping @Sendable (RedisClient.Notice) -> Void = { _ in }
    ) throws(TierSetupError) {
        var configuration = configuration
        seal = try EntrySeal(secret: configuration.secret)
        configuration.redis.deadline = TimeAmount(configuration.deadline)
        configuration.redis.limits.string = max(configuration.longestBody.bytes, 1 << 20) + (1 << 20)
        configuration.redis.limits.frame = max(
            configuration.redis.limits.frame, configuration.redis.limits.string + (1 << 20))
        self.configuration = configuration
        do throws(RedisError) {
            store = try RedisStore(
                RedisClient(
                    configuration.redis, group: loop ?? MultiThreadedEventLoopGroup.singleton.next(), onNotice: onNotice
                ),
                prefix: configuration.prefix, changeDeadline: TimeAmount(configuration.deadline * 10))
        } catch {
            throw TierSetupError("\(error)")
        }
    }

    public var statistics: Statistics { state.withLock { $0 } }

    /// Whether the server is asked. False for a while after several failures in a row.
    public var isAvailable: Bool { store.client.isAvailable }

    /// Closes the connections. Afterwards, no entry is found and changes fail.
    public func close() async { await store.client.close() }

    // MARK: - The tier

    public var longestBody: ByteCount? { configuration.longestBody }
    public var readDeadline: Duration { configuration.deadline }
    public var changeDeadline: Duration { configuration.deadline * 10 }

    public func entry(for key: CacheKey) async throws(WebImageError) -> TierEntry? {
        guard let found = try await failing({ () throws(RedisError) in try await store.entry(seal.name(of: key)) })
        else { return count(nil) }
        guard let entry = seal.entry(head: found.head, body: found.body, for: key) else { return countDamaged() }
        return count(entry)
    }

    public func metadata(for key: CacheKey) async throws(WebImageError) -> DiskMetadata? {
        guard let head = try await failing({ () throws(RedisError) in try await store.head(seal.name(of: key)) })
        else { return count(nil) }
        guard let metadata = seal.metadata(of: head, for: key) else { return countDamaged() }
        return count(metadata)
    }

    @discardableResult
    public func put(_ entry: TierEntry, for key: CacheKey) async throws(WebImageError) -> Bool {
        let name = seal.name(of: key)
        guard entry.body.count <= configuration.longestBody.bytes, let life = life(of: entry.metadata) else {
            return try await refuse(key)
        }
        let head = seal.head(of: entry, for: key)
        try await puts.enter(entry.body.count)
        defer { puts.leave(entry.body.count) }
        try await failing { () throws(RedisError) in try await store.put(name, head: head, body: entry.body, life: life)
        }
        state.withLock { $0.puts += 1 }
        return true
    }

    /// Removes the entry of a key in place of storing a newer original that the tier does not take. The other programs
    /// are not notified.
    ///
    /// - Returns: false.
    @discardableResult
    public func refuse(_ key: CacheKey) async throws(WebImageError) -> Bool {
        state.withLock { $0.refusals += 1 }
        _ = try await failing { () throws(RedisError) in try await store.drop(seal.name(of: key)) }
        return false
    }

    @discardableResult
    public func renew(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?
    ) async throws(WebImageError) -> Bool {
        let name = seal.name(of: key)
        for _ in 0..<Self.maxTries {
            let old = try await failing { () throws(RedisError) in try await store.head(name) }
            guard let old, let known = seal.metadata(of: old, for: key), let changed = change(known),
                let head = seal.head(old, with: changed, for: key)
            else { return false }
            guard let life = life(of: changed) else {
                return try await failing { () throws(RedisError) in try await store.drop(name) }
            }
            let isDone = try await failing { () throws(RedisError) in
                try await store.replace(name, head: old, by: head, life: life)
            }
            if isDone { return true }
        }
        throw WebImageError(.locked, "others keep changing this entry in Redis")
    }

    private static let maxTries = 8

    /// Removes an entry, and notifies the other programs that follow removals.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(WebImageError) -> Bool {
        let removal = Removal(key: key, sender: name)
        return try await failing { () throws(RedisError) in
            try await store.remove(seal.name(of: key), removal.fields(seal))
        }
    }

    private func life(of metadata: DiskMetadata) -> Int64? {
        metadata.sharedLifetime(most: max(configuration.lifetime.components.seconds, 1))
    }

    // MARK: - Counts and errors

    private func count<Value>(_ found: Value?) -> Value? {
        state.withLock { if found == nil { $0.misses += 1 } else { $0.hits += 1 } }
        return found
    }

    private func countDamaged<Value>() -> Value? {
        state.withLock { $0.damaged += 1 }
        return nil
    }

    func countRemovals(_ count: Int) { state.withLock { $0.removalsHeard += count } }

    private func failing<Value>(
        _ work: () async throws(RedisError) -> Value
    ) async throws(WebImageError) -> Value {
        do throws(RedisError) {
            return try await work()
        } catch {
            throw WebImageError(Self.code(of: error), "Redis: \(error)")
        }
    }

    /// Commands that were not sent have their own codes, because they do not mean that the server fails.
    private static func code(of error: RedisError) -> WebImageError.Code {
        switch error {
        case .circuitOpen: .circuitOpen
        case .overloaded: .queueFull
        case .closed: .shutDown
        default: .cacheIO
        }
    }
}
