import Testing
import WebImageCore

@testable import WebImageProcessing

/// The weights of blurs.
@Suite struct BlurPlanTests {
    /// The weights of a side of a million pixels once took half a gigabyte.
    @Test(arguments: [2.4, 15]) func outputsWithTheSameWeightsShareThem(sigma: Double) throws {
        let filters = BlurPlan.gaussian(PixelSize(width: 20_000, height: 3), sigma: sigma, cut: 0.2)
        let axis = try #require(filters.first).axes.horizontal
        #expect(filters.count == 1 && axis.windows.count == 20_000)
        #expect(axis.windows.weightCount > 60_000 && axis.windows.storedCount < 5000)
        #expect(axis.floats(scaledBy: 1).storedCount == axis.windows.storedCount)
        #expect(axis.integers.storedCount == axis.windows.storedCount)
        // Each output still has its own place and the same sum.
        for output in [0, 1, 10_000, 19_999] {
            let sum = (axis.windows.starts[output]..<axis.windows.ends[output]).reduce(0.0) {
                $0 + axis.windows.weight(of: $1, in: output)
            }
            #expect(abs(sum - 1) < 1e-9)
        }
        #expect(axis.windows.weight(of: 10_000, in: 10_000) == axis.windows.weight(of: 15_000, in: 15_000))
    }
}
