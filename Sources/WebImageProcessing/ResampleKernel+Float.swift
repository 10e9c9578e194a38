import CPixels
import WebImageCore

/// For pixels with alpha, weighted by it so that the colour of what cannot be seen does not show, and for 16 bits.
final class FloatResampleKernel: ResampleKernel {
    private let sums: ResampleSums<Float, Float>
    private let row: ResampleRow<Float, Float>
    private let result: UnsafeMutablePointer<Float>
    private let firstByte: Int
    private let layout: PixelLayout
    private let isStraight: Bool
    /// To linear light and back; nil when values are weighted as they are stored.
    private let linear: LinearLight?

    /// - Parameter columns: the input columns that are used.
    init(
        vertical: ResampleWindows<Double>, horizontal: ResampleWindows<Double>, columns: Range<Int>, slots: Int,
        layout: PixelLayout, alpha: AlphaMode, inLinearLight: Bool
    ) throws(WebImageError) {
        sums = try ResampleSums(vertical: vertical.floats(), slots: slots, length: columns.count * 4)
        row = ResampleRow(horizontal: horizontal.floats(), columns: columns)
        result = .allocate(capacity: horizontal.count * 4)
        firstByte = columns.lowerBound * layout.bytesPerPixel
        self.layout = layout
        isStraight = alpha == .straight
        linear = inLinearLight ? LinearLight.of(layout) : nil
    }

    deinit { result.deallocate() }

    private var kind: wi_pixel_kind {
        switch layout {
        case .rgba8: isStraight ? WI_PIXEL_8_STRAIGHT : WI_PIXEL_8
        case .rgba16: isStraight ? WI_PIXEL_16_STRAIGHT : WI_PIXEL_16
        }
    }

    func clear(_ output: Int) { sums.clear(output) }

    func add(_ rows: UnsafePointer<UnsafeRawPointer>, from first: Int, to outputs: Range<Int>) {
        let batch = sums.batch(from: first, to: outputs)
        withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: 4) { starts in
            for index in 0..<4 { starts.initializeElement(at: index, to: rows[index] + firstByte) }
            guard let starts = starts.baseAddress else { return }
            wi_add_rows_float(batch.sums, batch.weights, outputs.count, starts, sums.length / 4, kind, linear?.values)
        }
    }

    func finish(_ output: Int, into memory: UnsafeMutableRawPointer) {
        let width = row.starts.count
        // The windows of the horizontal pass reach beyond the sum, into the row's room.
        row.pixels.update(from: sums.sum(of: output), count: sums.length)
        wi_filter_row_float(result, row.pixels, row.starts, row.weights, row.taps, width)
        switch layout {
        case .rgba8:
            wi_store_row_8(
                memory.assumingMemoryBound(to: UInt8.self), result, width, isStraight ? 1 : 0, linear?.encoded)
        case .rgba16:
            wi_store_row_16(
                memory.assumingMemoryBound(to: UInt16.self), result, width, isStraight ? 1 : 0, linear?.encoded)
        }
    }
}
