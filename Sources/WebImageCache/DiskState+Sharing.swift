import WebImageCore

/// What a cache and the others of its directory tell each other; see ``DiskShare``.
extension DiskState {
    /// Becomes one of those who share the directory.
    mutating func join(_ total: DiskTotal?, isAlone: Bool) {
        share.join(total, isAlone: isAlone, known: known, strays: strayBytes)
    }

    /// Takes the total as the file has it now.
    mutating func meet(_ total: DiskTotal) { share.meet(total, known: known) }

    /// The total with this cache's changes in it, for the file, and what it was promised, for its own; while there is
    /// plenty, with some headroom for what it will store next: to meet the file costs as much as to write a small picture.
    /// - Parameter isLast: nothing more will be stored.
    mutating func tellTotal(isLast: Bool = false) -> (DiskTotal, DiskPromise) {
        let wanted = min(grain, Self.mostHeadroom)
        let total = share.tell(known: known, headroom: !isLast && used <= highWater - wanted ? wanted : 0)
        // Rounded up, so that not every store changes it.
        let promised = grain > 0 ? (reserved + grain - 1) / grain * grain : reserved
        return (total, DiskPromise(bytes: promised + headroom, headroom: headroom))
    }

    private static let mostHeadroom: Int64 = 4 << 20
    /// A part of the limit that hardly matters, in whole blocks.
    private var grain: Int64 { byteLimit / 256 & ~4095 }

    mutating func leave() { share.leave() }

    mutating func setOthers(_ areThere: Bool) { share.setOthers(areThere, strays: strayBytes) }

    /// Whether the common total has gone wrong: others died in the middle, or two changed the same file at once.
    /// - Parameter promised: what the others may have on the disk beyond what can be counted there.
    func isTotalAmiss(promised: Int64) -> Bool { share.isAmiss(promised: promised, slack: max(grain * 2, 8192)) }

    /// The index has just been held against the whole directory: it and what all were promised make the total.
    mutating func recount(promised: Int64, headroom: Int64) { share.recount(promised: promised, headroom: headroom) }
}
