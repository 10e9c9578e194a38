/// A colour table of a GIF that is written, and the mapping of pixels to its entries.
final class GIFPalette {
    /// Six bits of each channel.
    private static let cells = 1 << 18
    private static let unknown = UInt16.max

    /// The table's colours, without the transparent entry.
    let table: ColorTable
    /// The entry after the colours, if it is needed and there is room.
    let transparentIndex: Int?
    /// For a palette that approximates more colours: their mean distance.
    let meanDistance: Double
    let nearest: NearestColor
    /// The entry nearest to each cell's colours, computed on demand.
    private lazy var cache: UnsafeMutablePointer<UInt16> = {
        let cache = UnsafeMutablePointer<UInt16>.allocate(capacity: Self.cells)
        cache.initialize(repeating: Self.unknown, count: Self.cells)
        hasCache = true
        return cache
    }()
    private var hasCache = false

    /// - Parameter colors: distinct, sorted by green.
    init(_ colors: [UInt32], hasTransparency: Bool, of bins: ColorBins? = nil) {
        table = ColorTable(colors)
        transparentIndex = hasTransparency ? colors.count : nil
        nearest = NearestColor(sorted: colors)
        meanDistance = bins?.meanDistance(to: nearest) ?? 0
    }

    deinit {
        nearest.free()
        if hasCache { cache.deallocate() }
    }

    /// How many bits an index has in the file's tables, at least one.
    var bits: Int {
        let count = table.colors.count + (transparentIndex == nil ? 0 : 1)
        return max(1, Int.bitWidth - (max(count, 1) - 1).leadingZeroBitCount)
    }

    /// Red, green and blue of all entries, padded to a power of two.
    var bytes: [UInt8] {
        var bytes = table.colors.flatMap { [UInt8($0 & 255), UInt8($0 >> 8 & 255), UInt8($0 >> 16 & 255)] }
        bytes += [UInt8](repeating: 0, count: 3 << bits - bytes.count)
        return bytes
    }

    /// The entries of pixels whose colours are all in the table.
    func exactIndices(of pixels: UnsafeBufferPointer<UInt32>) -> [UInt8] {
        var (last, index) = (UInt32(0), UInt8(truncatingIfNeeded: transparentIndex ?? 0))
        let hole = index
        return [UInt8](unsafeUninitializedCapacity: pixels.count) { indices, count in
            for place in pixels.indices {
                let pixel = pixels[place]
                if pixel != last {
                    index = pixel == 0 ? hole : UInt8(truncatingIfNeeded: table.number(of: pixel) ?? 0)
                    last = pixel
                }
                indices[place] = index
            }
            count = pixels.count
        }
    }

    /// The entries nearest to pixels. With dithering, the error of an entry is spread over the surrounding pixels (R.
    /// Floyd and L. Steinberg, 1976), alternating between rows from the left and from the right, to avoid patterns.
    func nearestIndices(of pixels: UnsafeBufferPointer<UInt32>, width: Int, dithers: Bool) -> [UInt8] {
        let hole = UInt8(truncatingIfNeeded: transparentIndex ?? 0)
        let cache = cache
        return [UInt8](unsafeUninitializedCapacity: pixels.count) { indices, count in
            // In sixteenths, for the current row and the next, with an extra element on either side.
            var errors = [SIMD4<Int32>](repeating: .zero, count: 2 * (width + 2))
            errors.withUnsafeMutableBufferPointer { errors in
                guard var here = errors.baseAddress else { return }
                var below = here + (width + 2)
                for (row, start) in stride(from: 0, to: pixels.count, by: width).enumerated() {
                    let step = row & 1 == 0 ? 1 : -1
                    var (x, carried) = (step > 0 ? 0 : width &- 1, SIMD4<Int32>.zero)
                    for _ in 0..<width {
                        let pixel = pixels[start &+ x]
                        if pixel == 0 {
                            indices[start &+ x] = hole
                            carried = .zero
                        } else {
                            let due = (here[x &+ 1] &+ carried &+ 8) &>> 4
                            let wanted = (NearestColor.channels(of: pixel) &+ due).clamped(
                                lowerBound: .zero, upperBound: SIMD4(255, 255, 255, 0))
                            let number = number(nearestTo: wanted, cache)
                            indices[start &+ x] = UInt8(truncatingIfNeeded: number)
                            if dithers {
                                let error = wanted &- nearest.color(number)
                                let twice = error &+ error
                                carried = (error &<< 3) &- error
                                below[x &+ 1 &- step] &+= twice &+ error
                                below[x &+ 1] &+= twice &+ twice &+ error
                                below[x &+ 1 &+ step] &+= error
                            }
                        }
                        x &+= step
                    }
                    (here, below) = (below, here)
                    below.update(repeating: .zero, count: width &+ 2)
                }
            }
            count = pixels.count
        }
    }

    @inline(__always)
    private func number(nearestTo wanted: SIMD4<Int32>, _ cache: UnsafeMutablePointer<UInt16>) -> Int {
        let cell = Int(wanted.x >> 2) << 12 | Int(wanted.y >> 2) << 6 | Int(wanted.z >> 2)
        let known = cache[cell]
        if known != Self.unknown { return Int(known) }
        let middle = SIMD4(wanted.x & ~3 | 1, wanted.y & ~3 | 1, wanted.z & ~3 | 1, 0)
        let number = nearest.search(middle).number
        cache[cell] = UInt16(truncatingIfNeeded: number)
        return number
    }
}
