import CPixels
import Synchronization
import WebImageSystem

/// The weights of a filter in one direction. They are exact; the number formats of the kernels are computed on demand.
///
/// Thread-safe.
final class ResampleAxis: Sendable {
    /// The weights of consecutive outputs, the same number for each.
    struct Table<Weight: Sendable>: Sendable {
        /// The first input of each output, relative to the first input of all.
        let starts: [Int32]
        let weights: [Weight]
        /// The number of weights of each output.
        let taps: Int
    }

    private struct Numbers {
        var integers: ResampleWindows<Int16>?
        var integerTable: Table<Int16>?
        var floats: (scale: Float, windows: ResampleWindows<Float>)?
        var floatTable: Table<Float>?
    }

    let windows: ResampleWindows<Double>
    private let numbers = Guarded(Numbers())

    init(_ windows: ResampleWindows<Double>) { self.windows = windows }

    /// The weights as integers with `WI_WEIGHT_BITS` fraction bits.
    var integers: ResampleWindows<Int16> { numbers.withLock { integers(&$0) } }

    /// The integer weights as a table, padded to a multiple of four.
    var integerTable: Table<Int16> {
        numbers.withLock { numbers in
            if let made = numbers.integerTable { return made }
            let made = integers(&numbers).table(multiple: 4)
            numbers.integerTable = made
            return made
        }
    }

    func floats(scaledBy scale: Float) -> ResampleWindows<Float> {
        numbers.withLock { numbers in
            if let (known, made) = numbers.floats, known == scale { return made }
            let made = windows.floats(scaledBy: scale)
            numbers.floats = (scale, made)
            return made
        }
    }

    /// The weights as a table of floats, padded to a multiple of two.
    var floatTable: Table<Float> {
        numbers.withLock { numbers in
            if let made = numbers.floatTable { return made }
            let made = windows.floats().table(multiple: 2)
            numbers.floatTable = made
            return made
        }
    }

    private func integers(_ numbers: inout Numbers) -> ResampleWindows<Int16> {
        if let made = numbers.integers { return made }
        let made = windows.integers(bits: Int(WI_WEIGHT_BITS))
        numbers.integers = made
        return made
    }
}
