import NIOCore
public import S3Client
import Synchronization
import TierEntries
public import WebImage

/// A tier of an ``WebImage/ImageManager``'s cache in an S3 bucket, through which programs share originals.
///
/// Like ``RedisTier/RedisTier`` it is a shared cache (RFC 9111): answers that are `private`, or that were loaded with
/// credentials or cookies, are not stored unless the origin allows sharing them. A checksum finds damaged entries;
/// everybody who may write to the bucket is trusted.
///
/// Each program revalidates stale entries with the origin; only short entries are then updated in the bucket, since S3
/// can only replace whole objects. The tier does not remove old objects: set a lifecycle rule of the bucket. A storage
/// that fails five times in a row is not asked for a second, then for longer; meanwhile the tier counts as empty. Any
/// thread may use it.
public final class S3Tier: BytesTier {
    /// Counts since the tier was made.
    public struct Statistics: Hashable, Sendable {
        public var hits = 0
        public var misses = 0
        public var puts = 0
        /// Originals that were not stored, because they must not be shared or are too long.
        public var refusals = 0
        /// Entries that were found but are damaged.
        public var damaged = 0
        /// Originals that are being stored now.
        public var storing = 0

        public init() {}
    }

    /// The length in bytes above which an entry is not written again only to extend its freshness.
    private static let longestRenewed = 64 << 10
    /// How many bytes are read for the metadata of an entry: heads are seldom longer.
    private static let usualHead = 16 << 10
    private static let seal = EntrySeal.checksum

    private let client: S3Client
    private let maxBytes: Int
    private let lifetime: Int64
    public let readDeadline: Duration
    public let changeDeadline = Duration.seconds(30)
    private let state = Mutex(Statistics())

    /// - Parameters:
    ///   - client: a client for the bucket; nothing else may be stored under its prefix.
    ///   - longestBody: the longest original that is stored; at most 4 KiB less than the client's longest body. Default
    ///     8 MiB less 4 KiB.
    ///   - lifetime: originals that were stored longer ago count as missing. Default 30 days.
    ///   - deadline: how long a load waits for the tier. Default 500 ms.
    public init(
        _ client: S3Client, longestBody: ByteCount = ByteCount((8 << 20) - (4 << 10)),
        lifetime: Duration = .seconds(30 * 86_400), deadline: Duration = .milliseconds(500)
    ) {
        self.client = client
        maxBytes = longestBody.bytes
        self.lifetime = max(lifetime.components.seconds, 1)
        readDeadline = deadline
    }

    public var longestBody: ByteCount? { ByteCount(maxBytes) }

    public var statistics: Statistics { state.withLock { $0 } }

    /// Whether the storage is asked. False for a while after several failures in a row.
    public var isAvailable: Bool { client.isAvailable }

    /// Closes the client: waiting calls and all later ones end with an error.
    public func close() async { await client.close() }

    // MARK: - The tier

    public func entry(for key: CacheKey) async throws(WebImageError) -> TierEntry? { try await find(key)?.entry }

    /// - Returns: also the object's ``S3Object/etag``.
    private func find(_ key: CacheKey) async throws(WebImageError) -> (entry: TierEntry, tag: String?)? {
        let object = try await failing { () throws(S3Error) in try await client.get(Self.name(key)) }
        guard let object else { return count(nil) }
        guard let entry = SealedBlob.entry(Array(object.body.readableBytesView), Self.seal, for: key) else {
            state.withLock { $0.damaged += 1 }
            return nil
        }
        return count(entry.metadata.wasStored(before: lifetime) ? nil : (entry, object.etag))
    }

    private func count<Found>(_ found: Found?) -> Found? {
        state.withLock { if found == nil { $0.misses += 1 } else { $0.hits += 1 } }
        return found
    }

    public func metadata(for key: CacheKey) async throws(WebImageError) -> DiskMetadata? {
        // Bodies are long, and the manager reserves no memory for metadata.
        let object = try await failing { () throws(S3Error) in
            try await client.get(Self.name(key), upTo: Self.usualHead)
        }
        guard let object else { return count(nil) }
        guard let metadata = SealedBlob.metadata(Array(object.body.readableBytesView), Self.seal, for: key) else {
            // The head is longer than usual, or the entry is damaged.
            return try await entry(for: key)?.metadata
        }
        return count(metadata.wasStored(before: lifetime) ? nil : metadata)
    }

    @discardableResult
    public func put(_ entry: TierEntry, for key: CacheKey) async throws(WebImageError) -> Bool {
        try await put(entry, for: key, replacing: nil)
    }

    /// - Parameter replaced: the ``S3Object/etag`` of the object that may be replaced; nil: any.
    private func put(
        _ entry: TierEntry, for key: CacheKey, replacing replaced: String?
    ) async throws(WebImageError) -> Bool {
        guard entry.body.count <= maxBytes, entry.metadata.sharedLifetime(most: lifetime) != nil else {
            return try await refuse(key)
        }
        let blob = ByteBuffer(bytes: SealedBlob.bytes(entry, Self.seal, for: key))
        // The head is longer than usual.
        guard blob.readableBytes <= client.longestBody else { return try await refuse(key) }
        state.withLock { $0.storing += 1 }
        defer { state.withLock { $0.storing -= 1 } }
        let isStored = try await failing { () throws(S3Error) in
            try await client.put(
                Self.name(key), blob, contentType: "application/octet-stream", replacing: replaced)
        }
        if isStored { state.withLock { $0.puts += 1 } }
        return isStored
    }

    /// Removes the entry of a key in place of storing a newer original that the tier does not take.
    ///
    /// - Returns: false.
    @discardableResult
    public func refuse(_ key: CacheKey) async throws(WebImageError) -> Bool {
        state.withLock { $0.refusals += 1 }
        try await failing { () throws(S3Error) in try await client.remove(Self.name(key)) }
        return false
    }

    /// Updates the metadata of an entry, unless another program has removed or replaced it meanwhile. The storage checks
    /// that by `If-Match`. One that ignores this condition may bring back what was removed or replaced in that moment.
    @discardableResult
    public func renew(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?
    ) async throws(WebImageError) -> Bool {
        guard let (old, tag) = try await find(key), let changed = change(old.metadata) else { return false }
        let mayStay = changed.sharedLifetime(most: lifetime) != nil
        if mayStay, old.body.count > Self.longestRenewed { return false }
        return try await put(TierEntry(body: old.body, metadata: changed), for: key, replacing: tag) || !mayStay
    }

    @discardableResult
    public func remove(_ key: CacheKey) async throws(WebImageError) -> Bool {
        try await failing { () throws(S3Error) in try await client.remove(Self.name(key)) }
        return true
    }

    /// The name varies near its start, because storages partition objects by the prefixes of their names.
    private static func name(_ key: CacheKey) -> String {
        let name = seal.name(of: key)
        return "originals-1/\(name.prefix(2))/\(name)"
    }

    private func failing<Value>(_ work: () async throws(S3Error) -> Value) async throws(WebImageError) -> Value {
        do throws(S3Error) {
            return try await work()
        } catch .cancelled {
            throw .cancelled
        } catch {
            throw WebImageError(Self.code(of: error), "\(error)")
        }
    }

    /// Objects that are too long, keys that S3 does not allow and requests that were not sent have their own codes,
    /// because they do not mean that the storage fails.
    private static func code(of error: S3Error) -> WebImageError.Code {
        switch error {
        case .tooLarge: .bodyTooLarge
        case .invalid: .requestRefused
        case .circuitOpen: .circuitOpen
        case .overloaded: .queueFull
        case .closed: .shutDown
        default: .cacheIO
        }
    }
}
