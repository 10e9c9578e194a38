import CPixels
import WebImageCore

/// The kernel for pixels with alpha, for 16 bits, and for floats. Alpha weights the colours, so that invisible pixels
/// do not show.
final class FloatResampleKernel: ResampleKernel {
    private let sums: ResampleSums<Float, Float>
    private let row: ResampleRow<Float, Float>
    /// A row before it is converted to the output's format; nil if the output takes floats.
    private let result: UnsafeMutablePointer<Float>?
    private let firstByte: Int
    private let input: RowSamples
    private let output: RowSamples
    /// Whether negative weights may lead beyond black and white.
    private let overshoots: Bool
    /// Tables to linear light and back; nil if stored values are weighted.
    private let linear: LinearLight?

    /// - Parameter inLinearLight: only for input and output of the same kind, and not for floats.
    init(
        _ axes: ResampleAxes, slots: Int, from input: RowSamples, to output: RowSamples,
        inLinearLight: Bool
    ) throws(WebImageError) {
        let scale = output.top / input.top
        let columns = axes.horizontal.windows.inputs
        sums = try ResampleSums(
            vertical: axes.vertical.floats(scaledBy: scale), slots: slots, length: columns.count * 4)
        row = ResampleRow(axes.horizontal.floatTable, columns: columns.count)
        result = output.kind == .floats ? nil : .allocate(capacity: axes.horizontal.windows.count * 4)
        firstByte = columns.lowerBound * input.bytesPerPixel
        self.input = input
        self.output = output
        overshoots = axes.overshoots
        linear = inLinearLight ? input.layout.map(LinearLight.of) : nil
    }

    deinit { result?.deallocate() }

    func clear(_ output: Int) { sums.clear(output) }

    func add(_ rows: UnsafePointer<UnsafeRawPointer>, from first: Int, to outputs: Range<Int>) {
        let batch = sums.batch(from: first, to: outputs)
        withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: 4) { starts in
            for index in 0..<4 { starts.initializeElement(at: index, to: rows[index] + firstByte) }
            guard let starts = starts.baseAddress else { return }
            wi_add_rows_float(
                batch.sums, batch.weights, outputs.count, starts, sums.length / 4, input.pixelKind, linear?.values)
        }
    }

    func finish(_ index: Int, into memory: UnsafeMutableRawPointer) {
        let width = row.starts.count
        // The windows of the horizontal pass extend beyond the sum, into the row's padding.
        row.pixels.update(from: sums.sum(of: index), count: sums.length)
        let made = result ?? memory.assumingMemoryBound(to: Float.self)
        wi_filter_row_float(made, row.pixels, row.starts, row.weights, row.taps, width)
        let isStraight: Int32 = output.alpha == .straight ? 1 : 0
        switch output.kind {
        case .floats:
            if overshoots { wi_clamp_row_float(made, width, 1) }
        case .eight:
            wi_store_row_8(memory.assumingMemoryBound(to: UInt8.self), made, width, isStraight, linear?.encoded)
        case .sixteen:
            wi_store_row_16(memory.assumingMemoryBound(to: UInt16.self), made, width, isStraight, linear?.encoded)
        }
    }
}
