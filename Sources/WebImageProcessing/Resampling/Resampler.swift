package import WebImageCore

/// A sink that scales a picture while it is decoded. It holds only a few rows of the input. Each row of the result is
/// complete as soon as its input rows have arrived.
///
/// When reducing, the filter is widened to avoid aliasing. Colours are weighted by their straight alpha. The alpha mode
/// and the depth of the result are those of the rows. Peak memory: the result, and 16 bytes a pixel of the input's
/// width for each output row to which a band of rows contributes (2 for box, otherwise 4 to 7). Not thread-safe: one
/// thread at a time.
package final class Resampler: RowSink {
    /// The longest side that is scaled. Weights and sums take some hundred bytes for each of its pixels, and the limits
    /// for pictures restrict only the area.
    static let longestSide = 1 << 20

    /// - Throws: `limitExceeded` if a side is over ``longestSide``.
    static func checkSides(_ sizes: PixelSize...) throws(WebImageError) {
        for size in sizes where max(size.width, size.height) > longestSide {
            throw WebImageError(
                .limitExceeded, "a picture of \(size) is not filtered: no side may be over \(longestSide) pixels")
        }
    }

    private let crop: PixelRect?
    private let bounds: PixelRect?
    private let output: PixelSize
    private let filter: ResampleFilter
    private let inLinearLight: Bool
    private var input: RowWindow?
    private var stage: (any ResampleStage)?

    /// The result; its rows before ``rowsDone`` are complete.
    package private(set) var buffer: PixelBuffer?
    /// The format of the result's rows.
    package private(set) var format: RowFormat?
    /// The number of complete rows of the result, from the top.
    package private(set) var rowsDone = 0

    /// - Parameters:
    ///   - crop: the part to scale, in coordinates of the rows to come; nil means all. Anything outside of the picture
    ///     is cut off.
    ///   - output: the size of the result.
    ///   - inLinearLight: whether light is averaged rather than the stored values. This keeps the brightness of fine
    ///     detail and takes about three times as long.
    ///   - bounds: the whole pixels that the filter may use; nil means all.
    package init(
        crop: PixelRect? = nil, output: PixelSize, filter: ResampleFilter = .lanczos3, inLinearLight: Bool = false,
        within bounds: PixelRect? = nil
    ) {
        self.bounds = bounds
        self.inLinearLight = inLinearLight
        self.crop = crop
        self.output = output
        self.filter = filter
    }

    /// Makes the sink for a plan whose decoder divides the sides by `scaleDenominator`.
    package convenience init(
        _ plan: ResizePlan, scaleDenominator: Int = 1, inLinearLight: Bool = false
    ) {
        let part = 1 / Double(max(scaleDenominator, 1))
        self.init(
            crop: plan.crop(dividedBy: scaleDenominator), output: plan.outputStored, filter: plan.filter,
            inLinearLight: inLinearLight, within: plan.bounds.map { $0.scaled(part, part) })
    }

    /// True if every row of the result is complete.
    package var isComplete: Bool { buffer != nil && rowsDone == output.height }

    /// - Throws: `limitExceeded` if the result is too large, a side is too long to scale (over 1 Mi pixels), or there
    ///   is no memory; `transformFailed` if the crop lies outside of the picture.
    package func begin(_ format: RowFormat) throws(WebImageError) {
        let part = try Self.part(of: format.size, crop)
        let result = RowFormat(size: output, layout: format.layout, alpha: format.alpha)
        if part == PixelRect(format.size), output == format.size {
            stage = nil
            input = nil
        } else {
            let stage = try Self.makeStage(format, part, output, filter, inLinearLight, bounds)
            self.stage = stage
            input = RowWindow(bytesPerRow: format.bytesPerRow, height: format.size.height)
        }
        buffer = try PixelBuffer(size: output, layout: format.layout)
        self.format = result
        rowsDone = 0
    }

    package func band(at row: Int, count: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        guard let buffer else { preconditionFailure("a band was asked for before begin") }
        guard let input, let stage else { return buffer.row(row) }
        return try input.band(at: row, count: count, keepingFrom: stage.firstRowNeeded)
    }

    package func commit(at row: Int, count: Int) throws(WebImageError) {
        guard let buffer else { preconditionFailure("rows were committed before begin") }
        guard let input, let stage else {
            rowsDone = max(rowsDone, row + count)
            return
        }
        try stage.advance(input.rows, available: row + count, into: buffer)
        rowsDone = stage.rowsDone
    }

    package var wantsRows: Bool { !isComplete }

    /// Makes missing rows transparent black, for a picture whose data ended early.
    package func clearMissingRows() {
        guard let buffer, rowsDone < output.height else { return }
        let rest = (output.height - rowsDone) * buffer.bytesPerRow
        buffer.row(rowsDone).initializeMemory(as: UInt8.self, repeating: 0, count: rest)
    }
}

extension Resampler {
    /// Scales pixels in memory.
    ///
    /// - Parameter alpha: the alpha mode of `pixels`, and of the result.
    /// - Throws: as ``begin(_:)``.
    package static func resample(
        _ pixels: PixelBuffer, alpha: AlphaMode, crop: PixelRect? = nil, to output: PixelSize,
        filter: ResampleFilter = .lanczos3, inLinearLight: Bool = false, within bounds: PixelRect? = nil
    ) throws(WebImageError) -> PixelBuffer {
        let part = try part(of: pixels.size, crop)
        let format = RowFormat(size: pixels.size, layout: pixels.layout, alpha: alpha)
        let stage = try makeStage(format, part, output, filter, inLinearLight, bounds)
        let buffer = try PixelBuffer(size: output, layout: pixels.layout)
        let rows = HeldRows(base: UnsafeRawPointer(pixels.base), first: 0, bytesPerRow: pixels.bytesPerRow)
        try stage.advance(rows, available: pixels.size.height, into: buffer)
        return buffer
    }

    private static func part(of size: PixelSize, _ crop: PixelRect?) throws(WebImageError) -> PixelRect {
        guard !size.isEmpty else { throw WebImageError(.corruptData, "the picture's size is \(size)") }
        guard let crop else { return PixelRect(size) }
        let (left, top) = (max(crop.x, 0), max(crop.y, 0))
        let right = min(crop.x + crop.width, Double(size.width))
        let bottom = min(crop.y + crop.height, Double(size.height))
        // Written so that a part with NaN is refused as well.
        guard right - left > 0, bottom - top > 0 else {
            throw WebImageError(.transformFailed, "the part to keep lies outside of the picture of \(size)")
        }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    private static func makeStage(
        _ format: RowFormat, _ part: PixelRect, _ output: PixelSize, _ filter: ResampleFilter, _ inLinearLight: Bool,
        _ bounds: PixelRect?
    ) throws(WebImageError) -> any ResampleStage {
        if part.width == Double(output.width), part.height == Double(output.height),
            part.x == part.x.rounded(), part.y == part.y.rounded()
        {
            return CopyStage(
                bytesPerPixel: format.layout.bytesPerPixel, left: Int(part.x), top: Int(part.y), width: output.width,
                rows: 0..<output.height)
        }
        let sides = [format.size.width, format.size.height, output.width, output.height]
        guard sides.allSatisfy({ $0 > 0 && $0 <= longestSide }) else {
            throw WebImageError(
                .limitExceeded,
                "a picture of \(format.size) is not scaled to \(output): no side may be over \(longestSide) pixels")
        }
        let axes = ResampleAxes(part, of: format.size, to: output, filter: filter, within: bounds)
        let samples = RowSamples(format.layout, format.alpha)
        return try axes.makeStage(from: samples, to: samples, inLinearLight: inLinearLight, rows: axes.allRows)
    }
}
