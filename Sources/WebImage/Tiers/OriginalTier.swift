import WebImageCache
import WebImageCore
import WebImageDownload

/// A tier of originals as loads see it: the disk cache (``DiskTier``), or a further one (``FurtherTier``). A load has a list
/// of them and treats all alike.
///
/// No call blocks its caller. What is handed over as `then` is called once, on a thread for files.
protocol OriginalTier: Sendable {
    /// How pictures are told to have come that were made of this tier's bytes.
    var source: ImageSource { get }

    /// The entry, where it can be had on the calling thread within some microseconds and without waiting for anything. Nil
    /// says nothing: ``find(_:_:for:_:)`` knows.
    func findAtOnce(_ key: CacheKey, for reader: any TierReader) -> FoundOriginal?

    /// Finds an entry. A failure costs speed, not pictures: the tier logs it and has nothing. A reader that has left may
    /// get no answer.
    func find(
        _ key: CacheKey, _ part: OriginalPart, for reader: any TierReader,
        _ then: @escaping @Sendable (FoundOriginal?) -> Void)

    /// Takes a place in the order of what happens to the key: a removal from now on beats the write, and so does a write
    /// that is announced later and ends earlier.
    ///
    /// - Parameters:
    ///   - log: the bytes, which may still be coming; nil where others will be written, which nobody knows yet.
    ///   - metadata: what is known of them.
    func reserve(_ key: CacheKey, _ log: ByteLog?, _ metadata: DiskMetadata) -> any TierWrite

    /// Replaces the metadata of an entry by what `change` makes of it, in one step.
    func renew(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?,
        _ then: @escaping @Sendable () -> Void)

    /// Removes an entry in the background; what is reserved from now on is not touched.
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

/// Who reads from tiers.
protocol TierReader: Sendable {
    /// Whose urgency may change while something waits.
    var owner: AnyObject { get }
    /// True when nobody wants the bytes any more.
    var isAbandoned: Bool { get }
    var priority: LoadPriority { get }
}

extension Admission {
    /// Goes on once there is memory for an original's bytes: what waits for a decoder is not read meanwhile. A reader that has
    /// left may get no answer.
    func lease(
        _ amount: Int, for reader: any TierReader, on executor: any WorkExecutor,
        _ then: @escaping @Sendable (AdmissionLease) -> Void
    ) {
        let isNow = take(
            amount, reader.priority, for: reader.owner, isWanted: { !reader.isAbandoned },
            orLater: { isAdmitted in
                // Where it is not, nobody wants it any more.
                guard isAdmitted else { return }
                let lease = AdmissionLease(self, amount)
                executor.run(reader.priority, for: reader.owner) { then(lease) }
            })
        if isNow { then(AdmissionLease(self, amount)) }
    }
}

/// What a tier has of an original.
struct FoundOriginal: Sendable {
    /// Nil where only the metadata was wanted.
    let log: ByteLog?
    let metadata: DiskMetadata

    var storedResponse: StoredResponse { metadata.storedResponse }
}

/// A write to one tier, whose place in the order of writes is taken.
protocol TierWrite: AnyObject, Sendable {
    /// Has the entry found from now on, where its bytes are known.
    func announce()
    /// Writes the complete bytes of `log`, unless something has beaten the write.
    ///
    /// - Parameter then: gets how long the writing took, also where something has made it needless, or why nothing was
    ///   written.
    func write(
        _ log: ByteLog, _ metadata: DiskMetadata, _ priority: LoadPriority,
        _ then: @escaping @Sendable (Result<Duration, WebImageError>) -> Void)
    /// The entry is written, or will not be.
    func end()
}
