import WebImageCore

/// The memory that a worker shares with its host: encoded bytes for the worker, rows for the host. Both ends compute
/// positions by the same rules; the host does not trust the worker's messages about them.
struct SharedMemory {
    static let inputCount = 2 << 20
    /// Bytes are written in pieces of half its size, so that one is written while the other is decoded.
    static let inputPieces = 2
    /// Only the used part takes memory: 4 MiB, except for pictures with rows longer than half of that.
    static let maxRingCount = 64 << 20
    static let byteCount = inputCount + maxRingCount

    let base: UnsafeMutableRawPointer

    var input: UnsafeMutableRawPointer { base }
    var ring: UnsafeMutableRawPointer { base + Self.inputCount }
}

/// The progress of rows through the ring, in bytes since the beginning.
final class RingPositions {
    /// How many bytes were written.
    var end = 0
    /// How many bytes were read, as far as is known.
    var taken = 0
}

/// The layout of one picture's rows in the ring.
struct RingShape {
    let bytesPerRow: Int
    let capacity: Int

    /// - Throws: `limitExceeded` if two rows are longer than the ring can be.
    init(_ format: RowFormat) throws(WebImageError) {
        let (bytes, overflow) = format.size.width.multipliedReportingOverflow(by: format.layout.bytesPerPixel)
        guard !overflow, bytes > 0, bytes <= SharedMemory.maxRingCount / 2 else {
            throw WebImageError(
                .limitExceeded, "rows of \(format.size.width) pixels are longer than an isolated decoder can give")
        }
        bytesPerRow = bytes
        // There is room for the rows of one piece of the input, so that the worker continues while they are taken.
        capacity = max(4 << 20, 2 * bytes)
    }

    /// The number of bytes for which the host is woken: with fewer it would wake too often, with more it would be idle.
    var worthTelling: Int { min(256 << 10, capacity / 4) }

    /// How many rows may be contiguous in the ring.
    var maxRows: Int { capacity / 2 / bytesPerRow }

    /// Whether `count` rows do not fit after `end` and so begin at the ring's start.
    func wraps(_ count: Int, behind end: Int) -> Bool { end % capacity + count * bytesPerRow > capacity }

    /// The position of rows after `end`.
    func start(behind end: Int, wraps: Bool) -> Int { wraps ? end - end % capacity + capacity : end }
}
