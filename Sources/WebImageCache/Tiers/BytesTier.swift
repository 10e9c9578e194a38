public import WebImageCore

/// A store for the encoded bytes of originals: the disk cache, or a further tier behind it, such as a store that
/// several machines share.
///
/// An `ImageManager` asks its disk cache first, then its further tiers in their order, then the origin. An original
/// that is found in a tier is stored in the tiers before it, the origin's answer is stored in all tiers, and a removal
/// goes to all of them. A tier that fails or is late delays a load by its deadline at most: the load then goes on as if
/// the tier did not have the original.
///
/// The manager makes at most 64 calls at a time, half of them reads; further reads wait for their turn until their
/// deadline. It never makes two changes of one key at once. A call is cancelled when its deadline is over. It should
/// then end soon, since the next change of that key waits for it.
///
/// After five failures in a row the manager leaves a tier alone for a second, then for longer. Errors with the codes
/// `bodyTooLarge`, `requestRefused`, `locked`, `cancelled`, `corruptEntry` and `limitExceeded` do not count as
/// failures: they say that one call was refused. Nor do `circuitOpen`, `queueFull` and `shutDown`, with which a tier
/// says that it has not asked its storage.
///
/// A tier must return exactly the bytes that were stored, or nothing: a tier that cannot trust its storage should keep
/// a checksum with them. The manager decides from the metadata which requests may be answered with an entry.
public protocol BytesTier: AnyObject, Sendable {
    /// How long a load waits for ``entry(for:)`` and ``metadata(for:)``. Default 50 ms. For the disk cache, the first
    /// tier, there is no limit.
    var readDeadline: Duration { get }
    /// How long a change may take. Loads do not wait for changes. Default 5 s.
    var changeDeadline: Duration { get }

    /// The longest body that the tier stores; nil (the default): the tier decides in ``put(_:for:)``. The manager does not
    /// read a longer one into memory, and calls ``refuse(_:)`` instead.
    var longestBody: ByteCount? { get }

    /// Returns the entry of a key; nil if there is none.
    func entry(for key: CacheKey) async throws(WebImageError) -> TierEntry?

    /// Returns the metadata of the entry of a key, without its body; nil if there is none.
    func metadata(for key: CacheKey) async throws(WebImageError) -> DiskMetadata?

    /// Stores an entry under a key, and replaces an older one.
    ///
    /// - Returns: false when there is no room for it.
    @discardableResult
    func put(_ entry: TierEntry, for key: CacheKey) async throws(WebImageError) -> Bool

    /// Removes the entry of a key. Called in place of ``put(_:for:)`` for a body that is longer than ``longestBody``, and
    /// after a ``put(_:for:)`` that another program's removal has overtaken. Default: ``remove(_:)``.
    ///
    /// - Returns: false, because nothing was stored.
    @discardableResult
    func refuse(_ key: CacheKey) async throws(WebImageError) -> Bool

    /// Replaces the metadata of an entry by the result of `change`; its body stays.
    ///
    /// Reading the old metadata and the change must be atomic: if the entry was replaced between the two, `change` is
    /// called again with the new metadata.
    ///
    /// - Parameters:
    ///   - key: the key of the entry.
    ///   - change: returns the new metadata; nil if the entry must not be changed, for example because it has another
    ///     body.
    /// - Returns: false if nothing was changed.
    @discardableResult
    func renew(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?
    ) async throws(WebImageError) -> Bool

    /// Removes the entry of that key.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    func remove(_ key: CacheKey) async throws(WebImageError) -> Bool
}

extension BytesTier {
    public var readDeadline: Duration { .milliseconds(50) }
    public var changeDeadline: Duration { .seconds(5) }
    public var longestBody: ByteCount? { nil }

    @discardableResult
    public func refuse(_ key: CacheKey) async throws(WebImageError) -> Bool {
        try await remove(key)
        return false
    }
}

/// An entry of a tier.
public struct TierEntry: Hashable, Sendable {
    /// The original as the origin sent it.
    public var body: [UInt8]
    public var metadata: DiskMetadata

    public init(body: [UInt8], metadata: DiskMetadata) {
        self.body = body
        self.metadata = metadata
    }
}
