import CPixels
import WebImageCore

/// The kernel for opaque pixels with 8 bits a channel, with weights of 14 bits, and six fraction bits between the two
/// passes. The output is bytes again, or unrounded floats.
final class IntegerResampleKernel: ResampleKernel {
    private let sums: ResampleSums<Int32, Int16>
    private let row: ResampleRow<Int16, Int16>
    private let firstByte: Int
    private let givesFloats: Bool

    /// - Parameter givesFloats: whether the rows of the result are floats.
    init(_ axes: ResampleAxes, slots: Int, givesFloats: Bool) throws(WebImageError) {
        self.givesFloats = givesFloats
        let columns = axes.horizontal.windows.inputs
        sums = try ResampleSums(vertical: axes.vertical.integers, slots: slots, length: columns.count * 4)
        row = ResampleRow(axes.horizontal.integerTable, columns: columns.count)
        firstByte = columns.lowerBound * 4
    }

    func clear(_ output: Int) { sums.clear(output) }

    func add(_ rows: UnsafePointer<UnsafeRawPointer>, from first: Int, to outputs: Range<Int>) {
        let batch = sums.batch(from: first, to: outputs)
        withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>.self, capacity: 4) { starts in
            for index in 0..<4 {
                starts.initializeElement(at: index, to: (rows[index] + firstByte).assumingMemoryBound(to: UInt8.self))
            }
            guard let starts = starts.baseAddress else { return }
            wi_add_rows_8(batch.sums, batch.weights, outputs.count, starts, sums.length)
        }
    }

    func finish(_ output: Int, into result: UnsafeMutableRawPointer) {
        wi_sums_to_row(row.pixels, sums.sum(of: output), sums.length)
        if givesFloats {
            return wi_filter_row_8_float(
                result.assumingMemoryBound(to: Float.self), row.pixels, row.starts, row.weights, row.taps,
                row.starts.count)
        }
        wi_filter_row_8(
            result.assumingMemoryBound(to: UInt8.self), row.pixels, row.starts, row.weights, row.taps,
            row.starts.count)
    }
}
