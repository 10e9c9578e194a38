import WebImageCache
import WebImageCore
import WebImageDownload

/// A tier of originals as loads see it: the disk cache (``DiskTier``), or a further one (``FurtherTier``). A load has a
/// list of tiers and treats them all alike.
///
/// No call blocks its caller. The closure `then` is called once, on a file thread.
protocol OriginalTier: Sendable {
    /// The source of pictures that were made from this tier's bytes.
    var source: ImageSource { get }

    /// The entry, if it can be read on the calling thread within some microseconds without waiting. Nil does not mean
    /// that there is none: call ``find(_:_:for:_:)`` then.
    func findAtOnce(_ key: CacheKey, for reader: any TierReader) -> FoundOriginal?

    /// Finds an entry. On a failure the tier logs the error and reports a miss. A reader that has left may get no
    /// answer.
    func find(
        _ key: CacheKey, _ part: OriginalPart, for reader: any TierReader,
        _ then: @escaping @Sendable (FoundOriginal?) -> Void)

    /// Reserves a place in the order of changes to the key. A removal from now on cancels the write, and so does a
    /// write that is announced later and ends earlier.
    ///
    /// - Parameters:
    ///   - log: the bytes, which may still be arriving; nil if a serializer will make other bytes.
    ///   - metadata: the metadata of the bytes.
    func reserve(_ key: CacheKey, _ log: ByteLog?, _ metadata: DiskMetadata) -> any TierWrite

    /// Replaces the metadata of an entry by the result of `change`, in one step.
    func renew(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?,
        _ then: @escaping @Sendable () -> Void)

    /// Removes an entry in the background; writes that are reserved from now on are not affected.
    func remove(_ key: CacheKey, _ then: @escaping @Sendable () -> Void)
}

extension OriginalTier {
    func findAtOnce(_ key: CacheKey, for reader: any TierReader) -> FoundOriginal? { nil }
}

/// Which part of an entry is wanted.
enum OriginalPart {
    case metadata
    case all
}

/// A reader of tiers, for which entries are looked up.
protocol TierReader: Sendable {
    /// The object whose priority may change while something waits.
    var owner: AnyObject { get }
    /// True when no one needs the bytes any more.
    var isAbandoned: Bool { get }
    var priority: LoadPriority { get }
    /// Whether the bytes are wanted for a picture: they are soon decoded and released. Otherwise a caller may keep them
    /// as long as it likes, so that they do not take part of the memory of originals that wait for a decoder.
    var makesPicture: Bool { get }
}

extension Admission {
    /// Continues when there is memory for an original's bytes, so that originals are not read while they would only
    /// wait for a decoder. A reader that has left may get no answer.
    func lease(
        _ amount: Int, for reader: any TierReader, on executor: any WorkExecutor,
        _ then: @escaping @Sendable (AdmissionLease) -> Void
    ) {
        let isNow = take(
            amount, reader.priority, for: reader.owner, isWanted: { !reader.isAbandoned },
            orLater: { isAdmitted in
                // If the memory was not granted, the reader no longer wants it.
                guard isAdmitted else { return }
                let lease = AdmissionLease(self, amount)
                executor.run(reader.priority, for: reader.owner) { then(lease) }
            })
        if isNow { then(AdmissionLease(self, amount)) }
    }
}

/// An original that was found in a tier.
struct FoundOriginal: Sendable {
    /// Nil if only the metadata was requested.
    let log: ByteLog?
    let metadata: DiskMetadata

    var storedResponse: StoredResponse { metadata.storedResponse }
}

/// A write to one tier, whose place in the order of writes is reserved.
protocol TierWrite: AnyObject, Sendable {
    /// Makes the entry available to look-ups from now on, if its bytes are known.
    func announce()
    /// Whether the tier itself limits the bytes that wait and the time that a write takes.
    var limitsItself: Bool { get }
    /// Writes the complete bytes of `log`, unless a removal or a newer write has cancelled the write.
    ///
    /// - Parameters:
    ///   - progress: called each time that some bytes are written, unless the tier limits itself.
    ///   - then: gets how long the write took, also if it was unnecessary, or why it failed.
    func write(
        _ log: ByteLog, _ metadata: DiskMetadata, _ priority: LoadPriority, progress: @escaping @Sendable () -> Void,
        then: @escaping @Sendable (Result<Duration, WebImageError>) -> Void)
    /// Ends the write: the entry is written, or will not be.
    func end()
}
