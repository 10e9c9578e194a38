import Testing
import WebImageCore
import WebImageTesting

@Suite struct PixelComparisonTests {
    @Test func equalPicturesAreEqual() throws {
        let pixels = try PixelBuffer.random(PixelSize(5, 5), alpha: .straight, seed: 1)
        let comparison = try #require(PixelComparison(pixels, pixels))
        #expect(comparison.isEqual && comparison.psnr == .infinity && comparison.meanDifference == 0)
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16]) func differencesAreCounted(_ layout: PixelLayout) throws {
        let first = try PixelBuffer.constant(PixelSize(2, 2), layout, [10, 10, 10, 10])
        let second = try PixelBuffer.make(
            PixelSize(2, 2), layout, [10, 10, 10, 10, 10, 10, 10, 10, 10, 14, 10, 10, 10, 10, 8, 10])
        let comparison = try #require(PixelComparison(first, second))
        #expect(comparison.maxDifference == 4)
        #expect(comparison.differingPixels == 2)
        #expect(comparison.meanDifference == 6.0 / 16)
        // 10 log10(255^2 * 16 / 20) and the same for 65535.
        let expected = layout == .rgba8 ? 47.1617 : 95.3606
        #expect(abs(comparison.psnr - expected) < 0.001)
    }

    @Test func theColourOfNothingDoesNotCount() throws {
        let first = try PixelBuffer.make(PixelSize(1, 1), [1, 2, 3, 0])
        let second = try PixelBuffer.make(PixelSize(1, 1), [200, 2, 3, 0])
        #expect(PixelComparison(first, second)?.isEqual == true)
    }

    @Test func picturesOfAnotherShapeCannotBeCompared() throws {
        let first = try PixelBuffer.constant(PixelSize(2, 3), [0, 0, 0, 0])
        #expect(PixelComparison(first, try PixelBuffer.constant(PixelSize(3, 2), [0, 0, 0, 0])) == nil)
        #expect(PixelComparison(first, try PixelBuffer.constant(PixelSize(2, 3), .rgba16, [0, 0, 0, 0])) == nil)
    }
}
