import WebImageCore
import WebImageProcessing

/// Turns a row of a bitmap into RGBA.
struct BMPRowConverter {
    /// One channel of a pixel with masks: its position, and its values in 8 bits.
    private struct Channel {
        let shift: UInt32
        let mask: UInt32
        let values: [UInt8]

        /// - Parameter absent: the value of a channel without bits.
        init(_ mask: UInt32, absent: UInt8) {
            guard mask != 0 else {
                self.init(shift: 0, mask: 0, values: [absent])
                return
            }
            // Longer channels use their upper eight bits.
            let bits = mask.nonzeroBitCount
            let most = 1 << min(bits, 8) - 1
            self.init(
                shift: UInt32(mask.trailingZeroBitCount + max(bits - 8, 0)), mask: UInt32(most),
                values: (0...most).map { UInt8(($0 * 510 + most) / (2 * most)) })
        }

        private init(shift: UInt32, mask: UInt32, values: [UInt8]) {
            (self.shift, self.mask, self.values) = (shift, mask, values)
        }

        func value(_ pixel: UInt32) -> UInt8 { values[Int(pixel >> shift & mask)] }
    }

    private let width: Int
    private let bitsPerPixel: Int
    private let isPlainColor: Bool
    private var channels: [Channel]
    private let palette: [UInt32]

    /// - Parameter palette: blue, green, red and perhaps a byte more of each colour.
    init(_ header: BMPHeader, palette bytes: [UInt8]) {
        width = header.size.width
        // Run-length encoded data is unpacked to a byte a pixel.
        bitsPerPixel = header.hasRuns ? 8 : header.bitsPerPixel
        isPlainColor = header.masks == [0xFF_0000, 0xFF00, 0xFF, 0] && bitsPerPixel >= 24
        channels = header.masks.enumerated().map { Channel($1, absent: $0 == 3 ? 255 : 0) }
        var colors = [UInt32](repeating: UInt32(0xFF00_0000).littleEndian, count: 256)
        let length = header.paletteEntryLength
        for index in 0..<min(bytes.count / length, 256) {
            let entry = index * length
            let color = UInt32(bytes[entry + 2]) | UInt32(bytes[entry + 1]) << 8 | UInt32(bytes[entry]) << 16
            colors[index] = (color | 0xFF00_0000).littleEndian
        }
        palette = colors
    }

    /// Whether a pixel of a row of the file is not fully transparent; only for files with alpha.
    func hasVisiblePixel(_ source: UnsafePointer<UInt8>) -> Bool {
        let alpha = channels[3]
        let step = bitsPerPixel / 8
        return (0..<width).contains { alpha.value(pixel(source + $0 * step, step)) != 0 }
    }

    /// Makes all pixels opaque from now on, whatever their alpha.
    mutating func ignoreAlpha() { channels[3] = Channel(0, absent: 255) }

    /// - Parameter source: one row of the file.
    func convert(_ source: UnsafePointer<UInt8>, _ target: UnsafeMutableRawPointer) {
        switch bitsPerPixel {
        case ...8: convertIndices(source, target.assumingMemoryBound(to: UInt32.self))
        case _ where isPlainColor: convertPlain(source, target.assumingMemoryBound(to: UInt8.self))
        default: convertMasked(source, target.assumingMemoryBound(to: UInt8.self))
        }
    }

    private func convertIndices(_ source: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt32>) {
        palette.withUnsafeBufferPointer { palette in
            guard let colors = palette.baseAddress else { return }
            if bitsPerPixel == 8 {
                for x in 0..<width { target[x] = colors[Int(source[x])] }
                return
            }
            let (perByte, mask) = (8 / bitsPerPixel, 1 << bitsPerPixel - 1)
            for x in 0..<width {
                // The first pixel is in the upper bits.
                let shift = 8 - bitsPerPixel * (x % perByte + 1)
                target[x] = colors[Int(source[x / perByte]) >> shift & mask]
            }
        }
    }

    private func convertPlain(_ source: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>) {
        let step = bitsPerPixel / 8
        if step == 3 { return PixelExpansion.expandBGR(source, into: target, count: width) }
        var (from, to) = (source, target)
        for _ in 0..<width {
            to[0] = from[2]
            to[1] = from[1]
            to[2] = from[0]
            to[3] = 255
            from += step
            to += 4
        }
    }

    private func convertMasked(_ source: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>) {
        let (red, green, blue, alpha) = (channels[0], channels[1], channels[2], channels[3])
        let step = bitsPerPixel / 8
        var (from, to) = (source, target)
        for _ in 0..<width {
            let pixel = pixel(from, step)
            to[0] = red.value(pixel)
            to[1] = green.value(pixel)
            to[2] = blue.value(pixel)
            to[3] = alpha.value(pixel)
            from += step
            to += 4
        }
    }

    private func pixel(_ bytes: UnsafePointer<UInt8>, _ step: Int) -> UInt32 {
        let low = UInt32(bytes[0]) | UInt32(bytes[1]) << 8
        return step == 4 ? low | UInt32(bytes[2]) << 16 | UInt32(bytes[3]) << 24 : low
    }
}
