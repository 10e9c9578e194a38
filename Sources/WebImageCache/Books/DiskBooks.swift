import Synchronization
import WebImageCore
import WebImageSystem

/// A cache's records of its entries and of the room that they take. They are changed together, because an entry that
/// leaves the index takes room until its file is removed.
///
/// It receives events and returns actions; it does not access the disk.
struct DiskBooks {
    var index = DiskIndex()
    var scan = DirectoryScan()
    var journal = IndexJournal()
    var ledger: DiskLedger
    var statistics = DiskStatistics()

    init(limits: DiskCacheConfiguration.Limits) { ledger = DiskLedger(limits) }

    /// The bytes that this cache knows of: the sum of its own operations.
    var known: Int64 { index.bytes + ledger.reserved + ledger.leavingBytes }
    /// All bytes on the disk that count, and the reserved ones.
    var used: Int64 { known + ledger.share.foreign }
    /// ``used`` without the bytes that other caches have reserved ahead; never less than what was seen in the
    /// directory.
    var usage: Int64 { used - ledger.share.othersHeadroom(strays: ledger.strayBytes) }
}

/// The books with their lock. The disk is not accessed under it.
final class GuardedBooks: Sendable {
    private let books: Guarded<DiskBooks>

    init(limits: DiskCacheConfiguration.Limits) { books = Guarded(DiskBooks(limits: limits)) }

    func withLock<Result: Sendable>(_ body: (inout DiskBooks) -> Result) -> Result { books.withLock { body(&$0) } }
}
