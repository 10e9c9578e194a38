/// The colours of pixels, with similar ones combined into bins: the mean and the number of pixels of each bin.
struct ColorBins {
    private static let most = 1 << 15
    /// With fewer bins, 256 colours cannot be chosen well.
    private static let few = 1 << 10
    private static let slotBits: UInt32 = 17
    /// The maximum number of pixels that are used. If there are more, some are skipped evenly.
    private static let maxPixels = 1 << 21

    /// Mean red, green and blue, and the number of pixels.
    private(set) var bins: [SIMD4<Float>] = []

    /// Makes bins that are as fine as possible without becoming too many. Pixels that are 0 are left out.
    init(_ pixels: UnsafeBufferPointer<UInt32>) {
        bins = Self.bins(pixels, mask: 0x00FC_FCFC) ?? Self.bins(pixels, mask: 0x00F8_F8F8) ?? []
        if bins.count < Self.few, let finer = Self.bins(pixels, mask: 0x00FF_FFFF) { bins = finer }
    }

    /// - Returns: nil if there are too many bins.
    private static func bins(_ pixels: UnsafeBufferPointer<UInt32>, mask: UInt32) -> [SIMD4<Float>]? {
        var slots = [UInt16](repeating: 0, count: 1 << Int(slotBits))
        var keys: [UInt32] = []
        var sums: [SIMD4<UInt32>] = []
        let isDone = slots.withUnsafeMutableBufferPointer { slots in
            for index in stride(from: 0, to: pixels.count, by: 1 + pixels.count / maxPixels) {
                let pixel = pixels[index]
                guard pixel != 0 else { continue }
                let key = pixel & mask
                var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B1) >> (32 - slotBits))
                while slots[slot] != 0, keys[Int(slots[slot]) &- 1] != key { slot = (slot &+ 1) & (slots.count &- 1) }
                if slots[slot] == 0 {
                    guard keys.count < most else { return false }
                    keys.append(key)
                    sums.append(.zero)
                    slots[slot] = UInt16(keys.count)
                }
                sums[Int(slots[slot]) &- 1] &+= SIMD4(pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255, 1)
            }
            return true
        }
        guard isDone else { return nil }
        return sums.map { sum in
            let count = Float(sum.w)
            return SIMD4(Float(sum.x) / count, Float(sum.y) / count, Float(sum.z) / count, count)
        }
    }

    /// The mean distance of the pixels to the nearest of some colours.
    func meanDistance(to colors: NearestColor) -> Double {
        var (sum, count) = (0.0, 0.0)
        for bin in bins {
            sum += Double(colors.search(Self.rounded(bin)).distance) * Double(bin.w)
            count += Double(bin.w)
        }
        return count > 0 ? sum / count : 0
    }

    @inline(__always)
    static func rounded(_ bin: SIMD4<Float>) -> SIMD4<Int32> {
        SIMD4(Int32(bin.x + 0.5), Int32(bin.y + 0.5), Int32(bin.z + 0.5), 0)
    }
}
