import CPixels
import Synchronization
import WebImageSystem

/// The weights of a filter in one direction: exactly, and in the number formats of the kernels, which are computed on
/// demand.
///
/// Thread-safe.
final class ResampleAxis: Sendable {
    /// The weights of consecutive outputs, the same number for each.
    struct Table<Weight: Sendable>: Sendable {
        /// The first input of each output, relative to the first input of all.
        let starts: [Int32]
        let weights: [Weight]
        /// How many weights an output has.
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

    /// In parts of 2 to the power of `WI_WEIGHT_BITS`.
    var integers: ResampleWindows<Int16> { numbers.withLock { integers(&$0) } }

    /// The same, four weights together.
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

    /// Two weights together.
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
