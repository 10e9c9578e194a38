/// What the other caches of a directory take, as one of them knows it: a value that takes what the common total says and
/// answers with what it is to say.
///
/// All caches of a directory keep one total in a file. Each adds to it, whenever it meets the file, what its own
/// knowledge has changed by since the last time; what the total then has more than that knowledge is the others'. What a
/// change of the directory freed is counted by the cache that made it. From time to time one counts anew what is there
/// and what all were promised (``recount(promised:headroom:)``): then the others cannot tell which of their own last changes are in
/// that count, and take the way that never counts too little.
struct DiskShare {
    /// What the total has beyond what this cache knows of.
    private(set) var foreign: Int64 = 0
    /// Room that the others count as taken and that nobody has asked for yet.
    private(set) var headroom: Int64 = 0
    private(set) var hasOthers = false
    private var toldBytes: Int64 = 0
    private var toldHeadroom: Int64 = 0
    private var foreignHeadroom: Int64 = 0
    private var lastTotal: DiskTotal?
    /// The count of recounts that ``foreign`` goes back to.
    private(set) var recounts: UInt64 = 0
    /// Room that was promised here without the others: they could not be asked.
    private var untold: Int64 = 0

    /// What others may yet take of ``foreign``.
    func othersHeadroom(strays: Int64) -> Int64 { min(foreignHeadroom, max(foreign - strays, 0)) }

    /// Becomes one of those who share the directory.
    /// - Parameter total: what the others say that all take together; nil when they say nothing to be trusted.
    mutating func join(_ total: DiskTotal?, isAlone: Bool, known: Int64, strays: Int64) {
        let others = isAlone ? nil : total
        self = DiskShare()
        hasOthers = !isAlone
        foreign = others.map { $0.bytes - known } ?? strays
        foreignHeadroom = others?.headroom ?? 0
        recounts = total?.recounts ?? 0
        toldBytes = known
    }

    /// Takes the total as the file has it now.
    mutating func meet(_ total: DiskTotal, known: Int64) {
        if let lastTotal, total != lastTotal { hasOthers = true }
        if total.recounts == recounts {
            foreign = total.bytes - toldBytes
        } else {
            // Counted anew: with what this cache has been promised, so without what it has freed since it last said so.
            recounts = total.recounts
            foreign = total.bytes - headroom + untold - known
            toldBytes = total.bytes - foreign
        }
        foreignHeadroom = max(total.headroom - toldHeadroom, 0)
    }

    /// The total with this cache's changes in it, for the file.
    /// - Parameter headroom: what this cache may store next without meeting the others.
    mutating func tell(known: Int64, headroom: Int64) -> DiskTotal {
        self.headroom = headroom
        (toldBytes, toldHeadroom, untold) = (known + headroom, headroom, 0)
        let total = DiskTotal(
            bytes: known + foreign + headroom, headroom: foreignHeadroom + headroom, recounts: recounts)
        lastTotal = total
        return total
    }

    /// Room was promised; out of the headroom, or with the others looking on, who are told next.
    mutating func didPromise(_ bytes: Int64) { untold += bytes }

    /// The same out of what the others count as taken already.
    mutating func didPromiseHeadroom(_ bytes: Int64) {
        headroom -= bytes
        untold -= bytes
    }

    mutating func leave() { headroom = 0 }

    /// The directory is gone, and all that was said of it.
    mutating func reset() { self = DiskShare() }

    /// - Parameter strays: what is there of nobody's, where nobody else is there.
    mutating func setOthers(_ areThere: Bool, strays: Int64) {
        hasOthers = areThere
        if !areThere { shift(by: strays - foreign) }
    }

    /// A change of the directory freed something else than this cache knew of the place.
    /// - Parameters:
    ///   - known: what its knowledge has changed by.
    ///   - freed: what is gone from the disk by this cache's doing; nil: as much.
    mutating func account(known: Int64, freed: Freed?) {
        guard hasOthers, let freed else { return }
        // Who has counted anew meanwhile may not have found it any more.
        shift(by: known - (freed.before == recounts ? freed.bytes : 0))
    }

    /// Whether the total is so far from what is there that it should be counted anew.
    /// - Parameters:
    ///   - promised: what the others were promised at most.
    ///   - slack: what does not matter.
    func isAmiss(promised: Int64, slack: Int64) -> Bool { hasOthers && (foreign < 0 || foreign > promised + slack) }

    /// What this cache knows of is all that is there; the others have no more than they were promised.
    mutating func recount(promised: Int64, headroom: Int64) {
        recounts += 1
        shift(by: promised - foreign)
        foreignHeadroom = headroom
    }

    private mutating func shift(by bytes: Int64) {
        foreign += bytes
        toldBytes -= bytes
    }
}

/// What a change of the directory has taken from the disk.
struct Freed {
    static let nothing = Freed(bytes: 0, before: 0)

    let bytes: Int64
    /// How often all had been counted anew when it began.
    let before: UInt64

    init(bytes: Int64, before: UInt64) { (self.bytes, self.before) = (bytes, before) }

    /// Nil where the directory is not shared.
    init?(_ bytes: Int64?, before: UInt64?) {
        guard let bytes, let before else { return nil }
        self.init(bytes: bytes, before: before)
    }
}
