import WebImageCore

/// Turns rows of the input into rows of the result, in order.
protocol ResampleStage: AnyObject {
    /// The number of complete rows of the result, from the top.
    var rowsDone: Int { get }
    /// The first input row that the stage still needs; `Int.max` if it needs none.
    var firstRowNeeded: Int { get }
    /// Makes every row of the result that needs only input rows before `available`. `rows` holds the available rows
    /// from ``firstRowNeeded`` on.
    ///
    /// - Throws: errors of the output.
    func advance(_ rows: HeldRows, available: Int, into result: any RowOutput) throws(WebImageError)
}

/// Copies a part: whole pixels, without scaling or other changes.
final class CopyStage: ResampleStage {
    private let left: Int
    private let top: Int
    private let width: Int
    private let end: Int
    private let bytesPerPixel: Int
    private(set) var rowsDone: Int

    /// - Parameters:
    ///   - width: the width of the result.
    ///   - rows: the rows of the result that are made.
    init(bytesPerPixel: Int, left: Int, top: Int, width: Int, rows: Range<Int>) {
        self.left = left
        self.top = top
        self.width = width
        (rowsDone, end) = (rows.lowerBound, rows.upperBound)
        self.bytesPerPixel = bytesPerPixel
    }

    var firstRowNeeded: Int { rowsDone < end ? top + rowsDone : .max }

    func advance(_ rows: HeldRows, available: Int, into result: any RowOutput) throws(WebImageError) {
        while rowsDone < end, top + rowsDone < available {
            let row = rows.address(of: top + rowsDone) + left * bytesPerPixel
            try result.row(rowsDone).copyMemory(from: row, byteCount: width * bytesPerPixel)
            try result.commit(rowsDone)
            rowsDone += 1
        }
    }
}

/// The vertical windows, and how many output rows are in progress at a time.
struct VerticalPlan {
    let windows: ResampleWindows<Double>
    /// Whether each input row is added to its sums and discarded. Otherwise the few input rows of an output row are
    /// kept. The first needs less memory when reducing, the second when enlarging.
    let reduces: Bool
    let slots: Int

    init(_ windows: ResampleWindows<Double>, reduces: Bool) {
        self.windows = windows
        self.reduces = reduces
        guard reduces else {
            slots = 1
            return
        }
        // Rows are added four at a time, so that an output ends up to three rows late, and others begin meanwhile.
        var (most, open) = (1, 0)
        for output in 0..<windows.count {
            while open < windows.count, windows.starts[open] < windows.ends[output] + 3 { open += 1 }
            most = max(most, open - output)
        }
        slots = most
    }
}

/// The stage for reducing: each input row is read once, while it is in the cache, and added to all its sums.
final class ScatterStage: ResampleStage {
    private let windows: ResampleWindows<Double>
    private let kernel: any ResampleKernel
    private let last: Int
    private let end: Int
    private var begun: Int
    /// The first input row that is not added yet.
    private var next: Int
    private(set) var rowsDone: Int

    /// - Parameters:
    ///   - rows: the rows of the result that are made.
    ///   - inputs: the input rows from which they are made.
    init(_ plan: VerticalPlan, _ kernel: any ResampleKernel, rows: Range<Int>, of inputs: Range<Int>) {
        windows = plan.windows
        self.kernel = kernel
        (rowsDone, begun, end) = (rows.lowerBound, rows.lowerBound, rows.upperBound)
        (next, last) = (inputs.lowerBound, inputs.upperBound)
    }

    var firstRowNeeded: Int { next < last ? next : .max }

    func advance(_ rows: HeldRows, available: Int, into result: any RowOutput) throws(WebImageError) {
        let available = min(available, last)
        while next < available {
            let first = next
            let count = min(available - first, 4)
            guard count == 4 || available == last else { return }
            while begun < end, windows.starts[begun] < first + count {
                kernel.clear(begun)
                begun += 1
            }
            kernel.add(rows, from: first, before: first + count, to: rowsDone..<begun)
            next = first + count
            while rowsDone < begun, windows.ends[rowsDone] <= next {
                kernel.finish(rowsDone, into: try result.row(rowsDone))
                try result.commit(rowsDone)
                rowsDone += 1
            }
        }
    }
}

/// The stage for enlarging: many consecutive output rows are made from the same few input rows.
final class GatherStage: ResampleStage {
    private let windows: ResampleWindows<Double>
    private let kernel: any ResampleKernel
    private let end: Int
    private(set) var rowsDone: Int

    /// - Parameter rows: the rows of the result that are made.
    init(_ plan: VerticalPlan, _ kernel: any ResampleKernel, rows: Range<Int>) {
        windows = plan.windows
        self.kernel = kernel
        (rowsDone, end) = (rows.lowerBound, rows.upperBound)
    }

    var firstRowNeeded: Int { rowsDone < end ? windows.starts[rowsDone] : .max }

    func advance(_ rows: HeldRows, available: Int, into result: any RowOutput) throws(WebImageError) {
        while rowsDone < end, windows.ends[rowsDone] <= available {
            let window = windows.starts[rowsDone]..<windows.ends[rowsDone]
            kernel.clear(rowsDone)
            for first in stride(from: window.lowerBound, to: window.upperBound, by: 4) {
                kernel.add(rows, from: first, before: window.upperBound, to: rowsDone..<rowsDone + 1)
            }
            kernel.finish(rowsDone, into: try result.row(rowsDone))
            try result.commit(rowsDone)
            rowsDone += 1
        }
    }
}

extension ResampleKernel {
    /// Adds up to four rows from `first` on. A missing row, from `end` on, is replaced by the one before it, with
    /// weight 0.
    fileprivate func add(_ rows: HeldRows, from first: Int, before end: Int, to outputs: Range<Int>) {
        withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: 4) { addresses in
            for index in 0..<4 {
                addresses.initializeElement(at: index, to: rows.address(of: min(first + index, end - 1)))
            }
            guard let start = addresses.baseAddress else { return }
            add(start, from: first, to: outputs)
        }
    }
}
