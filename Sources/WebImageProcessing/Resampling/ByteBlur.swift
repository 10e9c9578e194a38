import CPixels
import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The weights of a small bell curve as integers; they are the same in all four directions.
struct BellWeights: Sendable {
    /// With more weights, the errors of truncation to 16 bits would add up; then a smaller intermediate picture is
    /// faster, too.
    private static let farthest = 16

    /// The middle weight, then those next to it; 16 fraction bits.
    let weights: [UInt16]

    var reach: Int { weights.count - 1 }

    /// - Parameter bell: the weight in the middle, then those next to it; not normalised.
    /// - Returns: nil if the bell is not small.
    init?(_ bell: [Double]) {
        guard bell.count <= Self.farthest + 1 else { return nil }
        let sum = bell.dropFirst().reduce(bell[0]) { $0 + 2 * $1 }
        let sides = bell.dropFirst().map { Int(($0 / sum * 65_536).rounded()) }
        // The middle takes the remainder, so that even areas stay unchanged.
        let middle = 65_536 - 2 * sides.reduce(0, +)
        weights = ([middle] + sides).map { UInt16(clamping: $0) }
    }
}

/// Blurs opaque bytes with 16 bits, within half a level of the exact result in addition to rounding.
final class ByteBlurStage: ResampleStage {
    private let weights: [UInt16]
    private let reach: Int
    private let size: PixelSize
    private let memory: AlignedMemory
    private let sums: UnsafeMutablePointer<UInt16>
    private let window: UnsafeMutablePointer<UnsafePointer<UInt8>>
    private let end: Int
    private(set) var rowsDone: Int

    /// - Parameter rows: the rows of the result to make.
    /// - Throws: `limitExceeded` without memory.
    init(_ bell: BellWeights, size: PixelSize, rows: Range<Int>) throws(WebImageError) {
        (rowsDone, end) = (rows.lowerBound, rows.upperBound)
        weights = bell.weights
        reach = bell.reach
        self.size = size
        memory = try AlignedMemory(byteCount: (size.width + 2 * reach) * 8)
        sums = memory.base.bindMemory(to: UInt16.self, capacity: (size.width + 2 * reach) * 4)
        window = .allocate(capacity: 2 * reach + 1)
    }

    deinit {
        memory.deallocate()
        window.deallocate()
    }

    var firstRowNeeded: Int { rowsDone < end ? max(rowsDone - reach, 0) : .max }

    func advance(_ rows: HeldRows, available: Int, into result: any RowOutput) throws(WebImageError) {
        let last = size.height - 1
        while rowsDone < end, min(rowsDone + reach, last) < available {
            for index in 0...2 * reach {
                let row = min(max(rowsDone + index - reach, 0), last)
                (window + index).initialize(to: rows.address(of: row).assumingMemoryBound(to: UInt8.self))
            }
            let middle = sums + 4 * reach
            wi_blur_columns_8(middle, window, reach, weights, 4 * size.width)
            repeatEdges(of: middle)
            let output = try result.row(rowsDone).assumingMemoryBound(to: UInt8.self)
            wi_blur_row_8(output, middle, reach, weights, 4 * size.width)
            try result.commit(rowsDone)
            rowsDone += 1
        }
    }

    private func repeatEdges(of row: UnsafeMutablePointer<UInt16>) {
        let end = row + 4 * size.width
        for pixel in 0..<reach {
            (row - 4 * (pixel + 1)).update(from: row, count: 4)
            (end + 4 * pixel).update(from: end - 4, count: 4)
        }
    }
}
