/// Beginnings of bodies whose transfers broke off, kept for the next attempt, by key.
///
/// What is kept may be lost at any time, but is never wrong: an implementation gives back the bytes that it was given,
/// from the first one on, or fewer of them. It is a help only: where it cannot keep or find something it says so, logs
/// why, and the transfer goes on without. All calls but ``mayHave(_:)`` block.
package protocol PartialBodyStore: Sendable {
    /// False when a look at the disk can be spared. Costs nothing, and may be wrong either way.
    func mayHave(_ key: CacheKey) -> Bool

    /// Takes what is kept under that key, for this caller alone, until the claim is released or discarded.
    ///
    /// - Parameter creates: whether to make a place for something new when nothing is there.
    /// - Returns: nil when there is nothing, another transfer or process has it, or the disk refuses.
    func claim(_ key: CacheKey, creates: Bool) -> (any PartialBody)?
}

/// The beginning of a body, in the hands of one transfer; released when it is let go of. All calls block.
package protocol PartialBody: AnyObject, Sendable {
    /// What was said of it when it was begun, which means nothing to the store; nil when nothing is kept yet.
    var metadata: [UInt8]? { get }
    /// How many bytes are kept.
    var length: Int { get }

    /// Some bytes from `offset` on; none at the end.
    ///
    /// - Throws: `cacheIO`; `corruptEntry` when they are not what they were when they were claimed.
    func read(at offset: Int) throws(WebImageError) -> [UInt8]

    /// Forgets what is kept and begins anew. False when nothing can be kept.
    func restart(metadata: [UInt8]) -> Bool

    /// Adds bytes. False when they were not kept; then none that follow are, and what was kept before stays.
    @discardableResult
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool

    /// Ends the claim and leaves what is kept for the next one.
    func release()

    /// Ends the claim and removes everything.
    func discard()
}
