import CPixels
import WebImageCore

/// Adds the difference between each row and its blurred version.
final class SharpenOutput: RowOutput {
    /// Takes the blurred rows, and combines them with the original ones.
    private final class Combiner: RowOutput {
        let plan: SharpenPlan
        let width: Int
        let held: RowWindow
        let next: any RowOutput
        let blurred: RowScratch
        var rowsDone: Int

        init(_ plan: SharpenPlan, size: PixelSize, rows: Range<Int>, next: any RowOutput) throws(WebImageError) {
            rowsDone = rows.lowerBound
            self.plan = plan
            width = size.width
            held = RowWindow(bytesPerRow: size.width * 16, height: size.height)
            self.next = next
            blurred = try RowScratch(width: size.width)
        }

        func row(_ index: Int) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(blurred.floats) }

        func commit(_ index: Int) throws(WebImageError) {
            let sharp = held.rows.address(of: index).assumingMemoryBound(to: Float.self)
            let target = try next.row(index).assumingMemoryBound(to: Float.self)
            switch plan.rule {
            case .colors(let amount, let threshold):
                wi_sharpen_row(target, sharp, blurred.floats, width, amount, threshold)
            case .lightness: LightnessSharpening().sharpen(sharp, blurred.floats, width, into: target)
            }
            rowsDone = index + 1
            try next.commit(index)
        }
    }

    private let combiner: Combiner
    private let blur: any RowOutput

    /// - Parameter rows: the rows that are made.
    init(
        _ plan: SharpenPlan, size: PixelSize, rows: Range<Int>, isOpaque: Bool, next: any RowOutput
    ) throws(WebImageError) {
        combiner = try Combiner(plan, size: size, rows: rows, next: next)
        // Rows of lightness have no alpha.
        let floats = RowSamples.floats(isOpaque: isOpaque || plan.rule == .lightness)
        var (output, rows): (any RowOutput, Range<Int>) = (combiner, rows)
        for filter in plan.blur.reversed() {
            let stage = try filter.axes.makeStage(from: floats, to: floats, rows: rows)
            output = StageInput(stage, size: filter.input, bytesPerPixel: 16, next: output)
            rows = filter.axes.inputRows(for: rows)
        }
        blur = output
    }

    func row(_ index: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        try combiner.held.band(at: index, count: 1, keepingFrom: combiner.rowsDone)
    }

    func commit(_ index: Int) throws(WebImageError) {
        let (target, sharp) = (try blur.row(index), combiner.held.rows.address(of: index))
        switch combiner.plan.rule {
        case .colors: target.copyMemory(from: sharp, byteCount: combiner.width * 16)
        case .lightness:
            LightnessSharpening().measure(
                sharp.assumingMemoryBound(to: Float.self), combiner.width,
                into: target.assumingMemoryBound(to: Float.self))
        }
        try blur.commit(index)
    }
}

struct SharpenPlan: Sendable {
    /// How the difference of a pixel from its blurred version is used.
    enum Rule: Hashable, Sendable {
        /// - Parameter threshold: differences below it, from 0 to 1, stay as they are.
        case colors(amount: Float, threshold: Float)
        /// See ``LightnessSharpening``.
        case lightness
    }

    let blur: [SizedAxes]
    let rule: Rule

    /// The input rows that these rows need.
    func inputRows(for rows: Range<Int>) -> Range<Int> {
        let blurred = blur.reversed().reduce(rows) { $1.axes.inputRows(for: $0) }
        return min(blurred.lowerBound, rows.lowerBound)..<max(blurred.upperBound, rows.upperBound)
    }

    /// The amount, if it can be applied to a blur that is rounded to bytes. The result is then at most one level off,
    /// in addition to its own rounding. Otherwise nil.
    var mildAmount: Float? {
        guard case .colors(let amount, 0) = rule, amount <= 1 else { return nil }
        return amount
    }
}

/// A filter and the size that it is made for.
struct SizedAxes: Sendable {
    let input: PixelSize
    let axes: ResampleAxes
}

/// Sharpens opaque bytes in memory; receives their blurred rows.
final class ByteSharpenOutput: RowOutput {
    private let amount: Float
    private let sharp: HeldRows
    private let width: Int
    private let blurred: UnsafeMutablePointer<UInt8>
    private let next: any RowOutput

    init(_ amount: Float, _ sharp: HeldRows, size: PixelSize, next: any RowOutput) {
        self.amount = amount
        self.sharp = sharp
        width = size.width
        blurred = .allocate(capacity: size.width * 4)
        self.next = next
    }

    deinit { blurred.deallocate() }

    func row(_ index: Int) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(blurred) }

    func commit(_ index: Int) throws(WebImageError) {
        let source = sharp.address(of: index).assumingMemoryBound(to: UInt8.self)
        let target = try next.row(index).assumingMemoryBound(to: UInt8.self)
        wi_sharpen_row_8(target, source, blurred, width, amount)
        try next.commit(index)
    }
}
