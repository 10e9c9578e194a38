import WebImageCore

/// The memory that a worker shares with its host: encoded bytes go in, rows come out. Both ends compute by the same rules
/// where something lies; the host believes nothing that the worker says of it.
struct SharedMemory {
    static let inputCount = 2 << 20
    /// Bytes go there in pieces of half of it, so that one is on its way while the other is decoded.
    static let inputPieces = 2
    /// Memory is taken for what is used of it: 4 MiB, but for pictures whose rows are longer than half of that.
    static let mostRingCount = 64 << 20
    static let byteCount = inputCount + mostRingCount

    let base: UnsafeMutableRawPointer

    var input: UnsafeMutableRawPointer { base }
    var ring: UnsafeMutableRawPointer { base + Self.inputCount }
}

/// How far rows have gone through the ring, in bytes of all that were ever put into it.
final class RingPositions {
    /// What was put into it.
    var end = 0
    /// What was taken out again, as far as is known.
    var taken = 0
}

/// How the rows of one picture lie in the ring.
struct RingShape {
    let bytesPerRow: Int
    let capacity: Int

    /// - Throws: `limitExceeded` when two rows are longer than the ring can be.
    init(_ format: RowFormat) throws(WebImageError) {
        let (bytes, overflow) = format.size.width.multipliedReportingOverflow(by: format.layout.bytesPerPixel)
        guard !overflow, bytes > 0, bytes <= SharedMemory.mostRingCount / 2 else {
            throw WebImageError(
                .limitExceeded, "rows of \(format.size.width) pixels are longer than an isolated decoder can give")
        }
        bytesPerRow = bytes
        // Rows that come of a piece of the input have room, so that the worker goes on while they are taken.
        capacity = max(4 << 20, 2 * bytes)
    }

    /// So many bytes are worth waking the host for: with fewer it would wake too often, with more it would have nothing to do.
    var worthTelling: Int { min(256 << 10, capacity / 4) }

    /// How many rows may lie in the ring in one piece.
    var mostRows: Int { capacity / 2 / bytesPerRow }

    /// Whether `count` rows have no room behind `end` and so begin at the ring's start.
    func wraps(_ count: Int, behind end: Int) -> Bool { end % capacity + count * bytesPerRow > capacity }

    /// The position at which rows behind `end` begin.
    func start(behind end: Int, wraps: Bool) -> Int { wraps ? end - end % capacity + capacity : end }
}
