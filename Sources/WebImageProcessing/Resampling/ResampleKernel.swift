import WebImageCore

/// The arithmetic of a resampler: sums of weighted rows, and the output of complete sums.
///
/// There are two kinds: integers for opaque 8-bit rows, which most pictures have, and floating point for all others.
protocol ResampleKernel: AnyObject {
    /// Begins the sum of an output row.
    func clear(_ output: Int)
    /// Adds the four input rows from row `first` on to each of the `outputs`, weighted. The weight of a row outside of
    /// an output's window is 0.
    func add(_ rows: UnsafePointer<UnsafeRawPointer>, from first: Int, to outputs: Range<Int>)
    /// Writes the complete sum of `output` to a row of the result.
    func finish(_ output: Int, into row: UnsafeMutableRawPointer)
}

/// Memory for the open sums.
final class ResampleSums<Element: Numeric, Weight: Numeric & Sendable> {
    private let vertical: ResampleWindows<Weight>
    private let slots: Int
    let length: Int
    private let stride: Int
    private let memory: AlignedMemory
    private let elements: UnsafeMutablePointer<Element>
    private let addresses: UnsafeMutablePointer<UnsafeMutablePointer<Element>>
    private let weights: UnsafeMutablePointer<Weight>

    /// - Parameters:
    ///   - slots: the most sums that are open at a time.
    ///   - length: the number of channels of a sum.
    /// - Throws: `limitExceeded` without memory.
    init(vertical: ResampleWindows<Weight>, slots: Int, length: Int) throws(WebImageError) {
        self.vertical = vertical
        self.slots = slots
        self.length = length
        // Rounded up to whole cache lines.
        stride = (length + 15) & ~15
        memory = try AlignedMemory(byteCount: slots * stride * MemoryLayout<Element>.stride)
        elements = memory.base.bindMemory(to: Element.self, capacity: slots * stride)
        addresses = .allocate(capacity: slots)
        weights = .allocate(capacity: slots * 4)
    }

    deinit {
        memory.deallocate()
        addresses.deallocate()
        weights.deallocate()
    }

    func sum(of output: Int) -> UnsafeMutablePointer<Element> { elements + output % slots * stride }

    func clear(_ output: Int) { sum(of: output).initialize(repeating: 0, count: length) }

    /// Returns the addresses of the sums for these outputs, and four weights for each, for the four rows from `first`
    /// on.
    func batch(
        from first: Int, to outputs: Range<Int>
    ) -> (sums: UnsafeMutablePointer<UnsafeMutablePointer<Element>>, weights: UnsafeMutablePointer<Weight>) {
        for (index, output) in outputs.enumerated() {
            addresses[index] = sum(of: output)
            for row in 0..<4 { weights[4 * index + row] = vertical.weight(of: first + row, in: output) }
        }
        return (addresses, weights)
    }
}

/// The input of the horizontal pass: a row of sums with padding after it, because all windows are padded to the same
/// length.
final class ResampleRow<Element: Numeric, Weight: Numeric & Sendable> {
    let starts: [Int32]
    let weights: [Weight]
    let taps: Int
    let pixels: UnsafeMutablePointer<Element>

    /// - Parameter columns: how many input columns the row holds.
    init(_ table: ResampleAxis.Table<Weight>, columns: Int) {
        (starts, weights, taps) = (table.starts, table.weights, table.taps)
        let capacity = (columns + taps) * 4
        pixels = .allocate(capacity: capacity)
        pixels.initialize(repeating: 0, count: capacity)
    }

    deinit { pixels.deallocate() }
}
