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
    private var memory: AlignedMemory?
    private var capacity = 0
    /// The rows that are held: from `first` to before `next`.
    private var first = 0
    private var next = 0

    init(bytesPerRow: Int) { self.bytesPerRow = bytesPerRow }

    deinit { memory?.deallocate() }

    var rows: HeldRows {
        guard let memory else { preconditionFailure("no band was asked for yet") }
        return HeldRows(base: UnsafeRawPointer(memory.base), first: first, bytesPerRow: bytesPerRow)
    }

    /// Memory for `count` rows from `row` on. Of the rows before it, those from `keep` on stay.
    func band(at row: Int, count: Int, keepingFrom keep: Int) -> UnsafeMutableRawPointer {
        if let memory, row >= first, row <= next, keep >= first, row - first + count <= capacity {
            next = row + count
            return memory.base + (row - first) * bytesPerRow
        }
        let kept = row <= next ? max(min(keep, row), min(first, row)) : row
        let held = row - kept
        let (old, offset) = (memory, (kept - first) * bytesPerRow)
        let grows = held + count > capacity
        if grows {
            capacity = max(held + count, Self.leastCapacity)
            memory = AlignedMemory(byteCount: capacity * bytesPerRow)
        }
        guard let memory else { preconditionFailure("memory was allocated above") }
        if held > 0, let old { memory.base.copyMemory(from: old.base + offset, byteCount: held * bytesPerRow) }
        if grows { old?.deallocate() }
        first = kept
        next = row + count
        return memory.base + held * bytesPerRow
    }
}
