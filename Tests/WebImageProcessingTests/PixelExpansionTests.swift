import Testing
import WebImageProcessing

@Suite struct PixelExpansionTests {
    /// Every length up to several vectors. Nothing is written after the last pixel.
    @Test(arguments: 0...40) func threeChannelsBecomeFour(_ count: Int) {
        let source = (0..<count * 3).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        for isReversed in [false, true] {
            var pixels = [UInt8](repeating: 0xA5, count: count * 4 + 8)
            source.withUnsafeBufferPointer { source in
                pixels.withUnsafeMutableBytes { pixels in
                    // An empty array has no address.
                    guard let from = source.baseAddress, let to = pixels.baseAddress else { return }
                    if isReversed {
                        PixelExpansion.expandBGR(from, into: to, count: count)
                    } else {
                        PixelExpansion.expandRGB(from, into: to, count: count)
                    }
                }
            }
            let order = isReversed ? [2, 1, 0] : [0, 1, 2]
            var expected: [UInt8] = []
            for pixel in 0..<count { expected += order.map { source[pixel * 3 + $0] } + [255] }
            #expect(pixels == expected + [UInt8](repeating: 0xA5, count: 8))
        }
    }
}
