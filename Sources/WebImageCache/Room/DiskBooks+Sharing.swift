// Exchange of sizes between the caches of one directory; see `DiskShare`.
extension DiskBooks {
    /// Joins the caches that share the directory.
    mutating func join(_ total: DiskTotal?, isAlone: Bool) {
        ledger.share.join(total, isAlone: isAlone, known: known, strays: ledger.strayBytes)
    }

    /// Takes the current total from the file.
    mutating func meet(_ total: DiskTotal) { ledger.share.meet(total, known: known) }

    /// Returns the total with this cache's changes for the common file, and the reserved room for its own file. If
    /// there is plenty of room, some headroom for later stores is included, because accessing the file costs as much as
    /// writing a small picture.
    /// - Parameter isLast: nothing more will be stored.
    mutating func tellTotal(isLast: Bool = false) -> (DiskTotal, DiskPromise) {
        let (grain, reserved) = (ledger.grain, ledger.reserved)
        let wanted = min(grain, Self.maxHeadroom)
        let headroom = !isLast && used <= ledger.highWater - wanted ? wanted : 0
        let total = ledger.share.tell(known: known, headroom: headroom)
        // Rounded up, so that not every store changes it.
        let promised = grain > 0 ? (reserved + grain - 1) / grain * grain : reserved
        return (total, DiskPromise(bytes: promised + headroom, headroom: headroom))
    }

    private static let maxHeadroom: Int64 = 4 << 20
}
