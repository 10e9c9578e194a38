public import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The differences between two pictures of the same size and layout.
///
/// All four channels count, in levels of the layout (0 to 255, or 0 to 65535). Two fully transparent pixels are equal
/// whatever their colours, since these are not visible.
public struct PixelComparison: Hashable, Sendable {
    /// The mean of the absolute differences over all channels.
    public let meanDifference: Double
    /// The largest difference of any channel.
    public let maxDifference: Int
    /// The number of pixels with any difference.
    public let differingPixels: Int
    /// The ratio of the largest level to the root mean square difference, in decibels; infinite for equal pictures.
    public let psnr: Double

    public var isEqual: Bool { maxDifference == 0 }

    /// - Returns: nil when the sizes or the layouts differ, so that there is nothing to compare.
    public init?(_ first: PixelBuffer, _ second: PixelBuffer) {
        guard first.size == second.size, first.layout == second.layout else { return nil }
        let top = first.layout == .rgba8 ? 255 : 65_535
        var tally = Tally()
        first.withBytes { a in
            second.withBytes { b in
                if first.layout == .rgba8 {
                    tally.add(a.bindMemory(to: UInt8.self), b.bindMemory(to: UInt8.self))
                } else {
                    tally.add(a.bindMemory(to: UInt16.self), b.bindMemory(to: UInt16.self))
                }
            }
        }
        let channels = Double(first.size.width * first.size.height * 4)
        meanDifference = Double(tally.sum) / channels
        maxDifference = tally.largest
        differingPixels = tally.pixels
        psnr =
            tally.squares == 0
            ? .infinity : 10 * log10(Double(top * top) * channels / Double(tally.squares))
    }

    /// Compares the stored pixels of two images.
    public init?(_ first: Image, _ second: Image) { self.init(first.pixels, second.pixels) }

    private struct Tally {
        var sum: UInt64 = 0
        var squares: UInt64 = 0
        var largest = 0
        var pixels = 0

        mutating func add<Channel: FixedWidthInteger>(
            _ first: UnsafeBufferPointer<Channel>, _ second: UnsafeBufferPointer<Channel>
        ) {
            for start in stride(from: 0, to: first.count, by: 4)
            where first[start + 3] != 0 || second[start + 3] != 0 {
                var differs = false
                for index in start..<start + 4 where first[index] != second[index] {
                    let difference = abs(Int(first[index]) - Int(second[index]))
                    differs = true
                    sum += UInt64(difference)
                    squares += UInt64(difference * difference)
                    largest = max(largest, difference)
                }
                if differs { pixels += 1 }
            }
        }
    }
}
