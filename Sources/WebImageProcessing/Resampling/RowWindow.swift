import WebImageCore

/// Consecutive rows in memory.
struct HeldRows {
    var base: UnsafeRawPointer
    /// The index of the picture's row at `base`.
    var first: Int
    var bytesPerRow: Int

    func address(of row: Int) -> UnsafeRawPointer { base + (row - first) * bytesPerRow }
}

/// The currently needed rows of a picture, with memory for the next ones right after them.
final class RowWindow {
    private static let minCapacity = 32
    /// The least free part after kept rows are moved, so that each row is moved only a few times.
    private static let minFree = 4

    private let bytesPerRow: Int
    private let height: Int
    private var memory: AlignedMemory?
    /// The number of rows for which there is memory.
    private(set) var capacity = 0
    /// The held rows are those from `first` to before `next`.
    private var first = 0
    private var next = 0

    /// - Parameter height: how many rows the picture has.
    init(bytesPerRow: Int, height: Int) {
        self.bytesPerRow = bytesPerRow
        self.height = height
    }

    deinit { memory?.deallocate() }

    var rows: HeldRows {
        guard let memory else { preconditionFailure("no band was asked for yet") }
        return HeldRows(base: UnsafeRawPointer(memory.base), first: first, bytesPerRow: bytesPerRow)
    }

    /// Returns memory for `count` rows from `row` on. Earlier rows are kept from `keep` on.
    ///
    /// - Parameter keep: the first row to keep; it may be beyond `row` if none is kept.
    /// - Throws: `limitExceeded` without memory.
    func band(at row: Int, count: Int, keepingFrom keep: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        if let memory, row >= first, row <= next, keep >= first, row - first + count <= capacity {
            next = row + count
            return memory.base + (row - first) * bytesPerRow
        }
        let kept = row <= next ? max(min(keep, row), min(first, row)) : row
        let held = row - kept
        let (old, offset) = (memory, (kept - first) * bytesPerRow)
        let needed = held + count
        let grows = needed > capacity || (needed > capacity - capacity / Self.minFree && capacity < height)
        if grows {
            let wanted = max(needed, min(max(needed + needed / 2, Self.minCapacity), height))
            let (bytes, overflow) = wanted.multipliedReportingOverflow(by: bytesPerRow)
            memory = try AlignedMemory(byteCount: overflow ? .max : bytes)
            capacity = wanted
        }
        guard let memory else { preconditionFailure("memory was allocated above") }
        if held > 0, let old { memory.base.copyMemory(from: old.base + offset, byteCount: held * bytesPerRow) }
        if grows { old?.deallocate() }
        first = kept
        next = row + count
        return memory.base + held * bytesPerRow
    }
}
