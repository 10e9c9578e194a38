// What a cache and the others of its directory tell each other; see `DiskShare`.
extension DiskBooks {
    /// Becomes one of those who share the directory.
    mutating func join(_ total: DiskTotal?, isAlone: Bool) {
        ledger.share.join(total, isAlone: isAlone, known: known, strays: ledger.strayBytes)
    }

    /// Takes the total as the file has it now.
    mutating func meet(_ total: DiskTotal) { ledger.share.meet(total, known: known) }

    /// The total with this cache's changes in it, for the file, and what it was promised, for its own; while there is
    /// plenty, with some headroom for what it will store next: to meet the file costs as much as to write a small picture.
    /// - Parameter isLast: nothing more will be stored.
    mutating func tellTotal(isLast: Bool = false) -> (DiskTotal, DiskPromise) {
        let (grain, reserved) = (ledger.grain, ledger.reserved)
        let wanted = min(grain, Self.mostHeadroom)
        let headroom = !isLast && used <= ledger.highWater - wanted ? wanted : 0
        let total = ledger.share.tell(known: known, headroom: headroom)
        // Rounded up, so that not every store changes it.
        let promised = grain > 0 ? (reserved + grain - 1) / grain * grain : reserved
        return (total, DiskPromise(bytes: promised + headroom, headroom: headroom))
    }

    private static let mostHeadroom: Int64 = 4 << 20
}
