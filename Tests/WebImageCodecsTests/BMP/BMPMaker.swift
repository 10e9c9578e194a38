import WebImageCore
import WebImageTesting

/// Writes uncompressed bitmaps of every kind, and states the pixels that they show.
struct BMPMaker {
    var width = 5
    var height = 4
    var bits: Int
    var isTopDown = false
    /// The length of the information header: 12 for OS/2, 40 to 124 for Windows.
    var headerLength = 40
    var masks: [UInt32] = []
    /// Colours as blue, green and red.
    var palette: [[UInt8]] = []
    /// If not nil, written instead of the true number of colours.
    var colorsUsed: Int?
    /// If not nil, written instead of the true offset of the pixels, which follow the palette anyway.
    var pixelOffset: Int?
    /// Bytes between the palette and the pixels.
    var gap = 0
    /// The stored value of each pixel, from the top row on.
    var pixels: [UInt32]

    init(_ bits: Int, seed: UInt64 = 1, width: Int = 5, height: Int = 4) {
        var generator = SeededGenerator(seed: seed)
        (self.bits, self.width, self.height) = (bits, width, height)
        let most = UInt32.max >> UInt32(32 - bits)
        pixels = (0..<width * height).map { _ in UInt32.random(in: 0...most, using: &generator) }
        guard bits <= 8 else { return }
        palette = (0..<1 << bits).map { _ in (0..<3).map { _ in UInt8.random(in: 0...255, using: &generator) } }
    }

    func with(_ change: (inout BMPMaker) -> Void) -> BMPMaker {
        var copy = self
        change(&copy)
        return copy
    }

    /// Bitmaps of every kind.
    static var samples: [BMPMaker] {
        var makers = [1, 2, 4, 8, 16, 24, 32].flatMap { bits in
            [BMPMaker(bits, seed: 7), BMPMaker(bits, seed: 8, width: 21, height: 19).with { $0.isTopDown = true }]
        }
        makers += [1, 4, 8, 24].map { bits in BMPMaker(bits, seed: 9, width: 9).with { $0.headerLength = 12 } }
        makers += [40, 52, 56, 108, 124].map { length in
            BMPMaker(16, seed: 3, width: 7).with { ($0.headerLength, $0.masks) = (length, [0xF800, 0x7E0, 0x1F]) }
        }
        makers.append(
            BMPMaker(32, seed: 4).with { ($0.headerLength, $0.masks) = (124, [0xFF, 0xFF00, 0xFF_0000, 0xFF00_0000]) })
        makers.append(BMPMaker(8, seed: 5).with { $0.gap = 9 })
        return makers
    }

    var file: [UInt8] {
        let isFirst = headerLength == 12
        var header: [UInt8] = long(headerLength)
        let height = isTopDown ? -height : height
        header += isFirst ? word(width) + word(height) : long(width) + long(height)
        header += word(1) + word(bits)
        if !isFirst {
            let used = colorsUsed ?? (palette.count == 1 << bits ? 0 : palette.count)
            header += long(masks.isEmpty ? 0 : 3) + long(0) + long(0) + long(0) + long(used) + long(0)
            header += masks.flatMap { long(Int($0)) }
            let whole = headerLength == 40 ? header.count : headerLength
            header += [UInt8](repeating: 0, count: whole - header.count)
        }
        header += palette.flatMap { isFirst ? $0 : $0 + [0] }
        let start = pixelOffset ?? (14 + header.count + gap)
        let front = Array("BM".utf8) + long(0) + long(0) + long(start) + header + [UInt8](repeating: 0xEE, count: gap)
        let order = isTopDown ? Array(0..<self.height) : (0..<self.height).reversed()
        return front + order.flatMap { row($0) }
    }

    /// The picture as straight RGBA.
    var shown: [UInt8] {
        pixels.flatMap { pixel -> [UInt8] in
            if bits <= 8 {
                let color = Int(pixel) < palette.count ? palette[Int(pixel)] : [0, 0, 0]
                return color.reversed() + [255]
            }
            let usual: [UInt32] = bits == 16 ? [0x7C00, 0x3E0, 0x1F] : [0xFF_0000, 0xFF00, 0xFF]
            let channels = (masks.isEmpty ? usual : masks).map { mask -> UInt8 in
                let (value, most) = (pixel & mask, mask)
                return UInt8((Double(value) / Double(most) * 255).rounded())
            }
            return channels.count == 4 ? channels : channels + [255]
        }
    }

    private func row(_ index: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var (part, count) = (UInt32(0), 0)
        for pixel in pixels[index * width..<(index + 1) * width] {
            if bits >= 8 {
                bytes += long(Int(pixel)).prefix(bits / 8)
                continue
            }
            part = part << UInt32(bits) | pixel
            count += bits
            if count == 8 {
                bytes.append(UInt8(part))
                (part, count) = (0, 0)
            }
        }
        if count > 0 { bytes.append(UInt8(part << UInt32(8 - count))) }
        return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    private func word(_ value: Int) -> [UInt8] { Array(long(value).prefix(2)) }

    private func long(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
}

extension BMPMaker {
    /// The palette indices that ``runs8`` shows, from the top row on.
    static let shown8: [[UInt8]] = [
        [0, 0, 0, 0, 0], [0, 0, 0, 7, 7], [0, 0, 0, 0, 0], [1, 2, 3, 0, 0], [5, 5, 5, 5, 5],
    ]
    static let shown4: [[UInt8]] = [[1, 2, 1, 2, 1], [3, 4, 5, 0, 0]]

    /// A run-length encoded bitmap with a run that is too long, a literal with padding, a jump, and an end before the
    /// last row.
    static var runs8: [UInt8] {
        runs(8, height: 5, [9, 5, 0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0, 2, 3, 1, 2, 7, 0, 1])
    }
    static var runs4: [UInt8] { runs(4, height: 2, [0, 3, 0x34, 0x50, 0, 0, 5, 0x12, 0, 1]) }

    /// A bitmap with only jumps of no distance.
    static func jumps(_ count: Int) -> [UInt8] {
        runs(8, height: 5, Array(repeating: [0, 2, 0, 0], count: count).flatMap { $0 } + [0, 1])
    }

    /// The grey level of each of the first 16 indices is 10 times the index.
    private static func runs(_ bits: Int, height: Int, _ data: [UInt8]) -> [UInt8] {
        var maker = BMPMaker(bits, width: 5, height: height)
        maker.palette = (0..<16).map { [UInt8]($0..<$0 + 1).flatMap { [$0 * 10, $0 * 10, $0 * 10] } }
        var bytes = Array(maker.file.dropLast(height * (bits == 8 ? 8 : 4)))
        bytes[30] = bits == 8 ? 1 : 2
        return bytes + data
    }
}
