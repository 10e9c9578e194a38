/// A store for the beginnings of interrupted bodies, by key, for the next attempt.
///
/// A beginning may be lost at any time, but is never wrong: an implementation returns the bytes that it was given, from
/// the first one on, or fewer of them. The store is optional for a transfer: if it cannot store or find something, it
/// reports and logs this, and the transfer goes on without it. All calls except ``mayHave(_:)`` block.
package protocol PartialBodyStore: Sendable {
    /// False if nothing can be stored under the key, which saves a look at the disk. The answer is immediate, and may
    /// be wrong either way.
    func mayHave(_ key: CacheKey) -> Bool

    /// Claims the body that is stored under the key. No other caller can claim it until it is released or discarded.
    ///
    /// - Parameter creates: whether to create an empty body if none is stored.
    /// - Returns: nil if none is stored, if another transfer or process has claimed it, or if the disk fails.
    func claim(_ key: CacheKey, creates: Bool) -> (any PartialBody)?
}

/// The beginning of a body, claimed by one transfer until this object is released. All calls block.
package protocol PartialBody: AnyObject, Sendable {
    /// The transfer's description of the body from when it was started; the store does not interpret it. Nil if nothing
    /// is stored yet.
    var metadata: [UInt8]? { get }
    /// The number of stored bytes.
    var length: Int { get }

    /// Reads some bytes from `offset` on; none at the end.
    ///
    /// - Throws: `cacheIO`; `corruptEntry` if the bytes have changed since they were claimed.
    func read(at offset: Int) throws(WebImageError) -> [UInt8]

    /// Discards the stored bytes and starts again. Returns false if nothing can be stored.
    func restart(metadata: [UInt8]) -> Bool

    /// Appends bytes. Returns false if they could not be stored; later bytes are then not stored either, and the
    /// earlier ones stay.
    @discardableResult
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool

    /// Ends the claim and keeps the stored bytes for the next claim.
    func release()

    /// Ends the claim and removes the stored bytes.
    func discard()
}
