import CPixels
import Testing
import WebImageTesting

/// The integer kernels that sum weighted rows, each that this processor supports.
@Suite struct RowKernelTests {
    @Test(arguments: [1, 15, 16, 31, 32, 33, 48, 100, 4000]) func allKernelsGiveTheSameSums(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let rows = (0..<4).map { _ in (0..<count).map { _ in UInt8(random.below(256)) } }
        let weights = (0..<4 * 5).map { _ in Int16(random.below(20_000) - 4000) }
        let start = (0..<5).map { _ in (0..<count).map { _ in Int32(random.below(1 << 20)) } }
        let expected = start.indices.map { sum in
            (0..<count).map { at in
                (0..<4).reduce(start[sum][at]) { $0 + Int32(rows[$1][at]) * Int32(weights[4 * sum + $1]) }
            }
        }
        for kernel in [WI_KERNEL_PLAIN, WI_KERNEL_AVX2, WI_KERNEL_VNNI] {
            let sums = add(rows, weights, to: start, by: kernel)
            if let sums { #expect(sums == expected) } else { #expect(kernel != WI_KERNEL_PLAIN) }
        }
    }

    /// - Returns: The sums, or nil if this processor does not support the kernel.
    private func add(
        _ rows: [[UInt8]], _ weights: [Int16], to start: [[Int32]], by kernel: wi_kernel
    ) -> [[Int32]]? {
        let inputs = rows.map { row in
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: row.count)
            memory.initialize(from: row, count: row.count)
            return UnsafePointer(memory)
        }
        let outputs = start.map { sum in
            let memory = UnsafeMutablePointer<Int32>.allocate(capacity: sum.count)
            memory.initialize(from: sum, count: sum.count)
            return memory
        }
        defer {
            for input in inputs { input.deallocate() }
            for output in outputs { output.deallocate() }
        }
        let isAvailable = wi_add_rows_8_with(kernel, outputs, weights, start.count, inputs, rows[0].count)
        return isAvailable == 0 ? nil : outputs.map { Array(UnsafeBufferPointer(start: $0, count: rows[0].count)) }
    }
}
