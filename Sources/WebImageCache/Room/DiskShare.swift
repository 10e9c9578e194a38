/// The bytes of the other caches of a directory, as one cache knows them. A value that takes the common total from the
/// file and returns the new one.
///
/// All caches of a directory keep one total in a file. Whenever a cache accesses the file, it adds the change of its
/// own knowledge since the last time; the difference between the total and its knowledge belongs to the others. Bytes
/// that a change of the directory freed are counted by the cache that made the change. From time to time a cache
/// recounts the directory and adds the reserved bytes of all (``recount(promised:headroom:)``). The others then do not
/// know which of their own last changes are in that count, and assume the case that never counts too little.
struct DiskShare {
    /// The part of the total that this cache does not know of.
    private(set) var foreign: Int64 = 0
    /// Room that the others count as taken and that is not reserved yet.
    private(set) var headroom: Int64 = 0
    private(set) var hasOthers = false
    private var reportedBytes: Int64 = 0
    private var reportedHeadroom: Int64 = 0
    private var foreignHeadroom: Int64 = 0
    private var lastTotal: DiskTotal?
    /// The number of the recount that ``foreign`` is based on.
    private(set) var recounts: UInt64 = 0
    /// Room that was reserved here without the others, because they could not be reached.
    private var unreported: Int64 = 0

    /// The part of ``foreign`` that others have not used yet.
    func othersHeadroom(strays: Int64) -> Int64 { min(foreignHeadroom, max(foreign - strays, 0)) }

    /// Joins the caches that share the directory.
    /// - Parameter total: the common total by the file; nil if that is invalid.
    mutating func join(_ total: DiskTotal?, isAlone: Bool, known: Int64, strays: Int64) {
        let others = isAlone ? nil : total
        self = DiskShare()
        hasOthers = !isAlone
        foreign = others.map { $0.bytes - known } ?? strays
        foreignHeadroom = others?.headroom ?? 0
        recounts = total?.recounts ?? 0
        reportedBytes = known
    }

    /// Takes the current total from the file.
    mutating func meet(_ total: DiskTotal, known: Int64) {
        if let lastTotal, total != lastTotal { hasOthers = true }
        if total.recounts == recounts {
            foreign = total.bytes - reportedBytes
        } else {
            // A recount includes this cache's reserved bytes, but not what it has freed since it last updated the file.
            recounts = total.recounts
            foreign = total.bytes - headroom + unreported - known
            reportedBytes = total.bytes - foreign
        }
        foreignHeadroom = max(total.headroom - reportedHeadroom, 0)
    }

    /// Returns the total with this cache's changes, for the file.
    /// - Parameter headroom: the room that this cache may use next without accessing the file.
    mutating func tell(known: Int64, headroom: Int64) -> DiskTotal {
        self.headroom = headroom
        (reportedBytes, reportedHeadroom, unreported) = (known + headroom, headroom, 0)
        let total = DiskTotal(
            bytes: known + foreign + headroom, headroom: foreignHeadroom + headroom, recounts: recounts)
        lastTotal = total
        return total
    }

    /// Room was reserved; from the headroom, or with the common file, which is updated next.
    mutating func didReserve(_ bytes: Int64) { unreported += bytes }

    /// Room was reserved that the others count as taken already.
    mutating func didReserveHeadroom(_ bytes: Int64) {
        headroom -= bytes
        unreported -= bytes
    }

    mutating func leave() { headroom = 0 }

    /// The directory was removed, and all its totals.
    mutating func reset() { self = DiskShare() }

    /// - Parameter strays: the bytes of files without an owner, if there are no other caches.
    mutating func setOthers(_ areThere: Bool, strays: Int64) {
        hasOthers = areThere
        if !areThere { shift(by: strays - foreign) }
    }

    /// A change of the directory freed another number of bytes than this cache expected.
    /// - Parameters:
    ///   - known: the change of its own knowledge.
    ///   - freed: the bytes that this cache freed on the disk; nil: the same number.
    mutating func account(known: Int64, freed: Freed?) {
        guard hasOthers, let freed else { return }
        // A recount in between may not have seen the file any more.
        shift(by: known - (freed.before == recounts ? freed.bytes : 0))
    }

    /// Whether the total differs so much from the real size that a recount is needed.
    /// - Parameters:
    ///   - promised: the maximum of the others' reserved bytes.
    ///   - slack: a negligible difference.
    func isWrong(promised: Int64, slack: Int64) -> Bool { hasOthers && (foreign < 0 || foreign > promised + slack) }

    /// After a recount this cache knows all files; the others have no more than their reserved bytes.
    mutating func recount(promised: Int64, headroom: Int64) {
        recounts &+= 1
        shift(by: promised - foreign)
        foreignHeadroom = headroom
    }

    private mutating func shift(by bytes: Int64) {
        foreign += bytes
        reportedBytes -= bytes
    }
}

/// The bytes that a change of the directory has freed on the disk.
struct Freed {
    static let nothing = Freed(bytes: 0, before: 0)

    let bytes: Int64
    /// The number of the last recount when the change began.
    let before: UInt64

    init(bytes: Int64, before: UInt64) { (self.bytes, self.before) = (bytes, before) }

    /// Nil if the directory is not shared.
    init?(_ bytes: Int64?, before: UInt64?) {
        guard let bytes, let before else { return nil }
        self.init(bytes: bytes, before: before)
    }
}
