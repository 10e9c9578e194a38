/// A store for the beginnings of interrupted bodies, by key, for the next attempt.
///
/// A beginning may be lost at any time, but is never wrong: an implementation returns the bytes that it was given, from
/// the first one on, or fewer of them. The store is optional for a transfer: if it cannot store or find something, it
/// reports and logs this, and the transfer goes on without it. All calls except ``mayHave(_:)`` block.
package protocol PartialBodyStore: Sendable {
    /// False when a look at the disk can be spared. Costs nothing, and may be wrong either way.
    func mayHave(_ key: CacheKey) -> Bool

    /// Takes what is kept under that key, for this caller alone, until the claim is released or discarded.
    ///
    /// - Parameter creates: whether to make a place for something new when nothing is there.
    /// - Returns: nil when there is nothing, another transfer or process has it, or the disk refuses.
    func claim(_ key: CacheKey, creates: Bool) -> (any PartialBody)?
}

/// The beginning of a body, claimed by one transfer until this object is released. All calls block.
package protocol PartialBody: AnyObject, Sendable {
    /// What was said of it when it was begun, which means nothing to the store; nil when nothing is kept yet.
    var metadata: [UInt8]? { get }
    /// How many bytes are kept.
    var length: Int { get }

    /// Some bytes from `offset` on; none at the end.
    ///
    /// - Throws: `cacheIO`; `corruptEntry` when they are not what they were when they were claimed.
    func read(at offset: Int) throws(WebImageError) -> [UInt8]

    /// Discards the stored bytes and starts again. Returns false if nothing can be stored.
    func restart(metadata: [UInt8]) -> Bool

    /// Adds bytes. False when they were not kept; then none that follow are, and what was kept before stays.
    @discardableResult
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool

    /// Ends the claim and leaves what is kept for the next one.
    func release()

    /// Ends the claim and removes everything.
    func discard()
}
