import WebImageCore

/// Rows that are in memory, one after the other.
struct HeldRows {
    var base: UnsafeRawPointer
    /// The picture's row at `base`.
    var first: Int
    var bytesPerRow: Int

    func address(of row: Int) -> UnsafeRawPointer { base + (row - first) * bytesPerRow }
}

/// The rows of a picture that are being looked at: memory to write the next ones into, right behind those before them.
final class RowWindow {
    /// Enough that keeping the last rows seldom means moving them.
    private static let leastCapacity = 32

    private let bytesPerRow: Int
    private let height: Int
    private var memory: AlignedMemory?
    private var capacity = 0
    /// The rows that are held: from `first` to before `next`.
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

    /// Memory for `count` rows from `row` on. Of the rows before it, those from `keep` on stay.
    ///
    /// - Throws: `limitExceeded` without memory.
    func band(at row: Int, count: Int, keepingFrom keep: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        if let memory, row >= first, row <= next, keep >= first, row - first + count <= capacity {
            next = row + count
            return memory.base + (row - first) * bytesPerRow
        }
        let kept = row <= next ? max(min(keep, row), min(first, row)) : row
        let held = row - kept
        let (old, offset) = (memory, (kept - first) * bytesPerRow)
        let grows = held + count > capacity
        if grows {
            let wanted = max(held + count, min(Self.leastCapacity, height))
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
