import WebImageCore
import WebImageProcessing

/// Writes a GIF (GIF89a specification) frame by frame. Keeps only the output and the last two frames.
///
/// A pixel is transparent if its alpha is under 128. A frame holds the rectangle that changed, and leaves out unchanged
/// pixels in it. A GIF frame cannot make a pixel transparent again, but its area can be cleared afterwards: so a frame
/// is written only when the next one is known.
final class GIFEncoder: AnimationEncoder {
    private struct Frame {
        /// The visible pixels: red, green, blue and 255 from the lowest byte on, or 0.
        var shown: [UInt32]
        /// The drawn pixels, 0 where nothing is drawn.
        var drawn: [UInt32]
        /// The area of the canvas that it covers.
        var region: PixelRegion
        /// In hundredths of a second.
        var delay: Int
        var isCleared = false
    }

    private let animation: AnimationDescription
    private let options: EncodeOptions
    private var file: [UInt8] = []
    private var waiting: Frame?
    private var colors: GIFColorChooser?
    private var clock = DelayClock(ticksPerSecond: 100, shortest: 2, longest: Int(UInt16.max))

    /// - Throws: `cannotEncode` for sides over 16 bits.
    init(_ animation: AnimationDescription, _ options: EncodeOptions) throws(WebImageError) {
        guard !animation.size.isEmpty, max(animation.size.width, animation.size.height) <= Int(UInt16.max) else {
            throw WebImageError(.cannotEncode, "a GIF cannot hold a picture of \(animation.size)", format: .gif)
        }
        self.animation = animation
        self.options = options
    }

    func add(_ frame: Image, delay: Duration) throws(WebImageError) {
        let pixels = try animation.plain(frame.withFullAlpha(), .gif).pixels
        let shown = pixels.withBytes { $0.bindMemory(to: UInt32.self).map(Self.opaqueOrNothing) }
        var next = Frame(
            shown: shown, drawn: shown, region: .all(of: animation.size), delay: clock.ticks(delay))
        if var before = waiting {
            waiting = nil
            let canvas = prepare(&before, for: shown)
            write(before, isLast: false)
            Self.leaveOut(canvas, of: &next.drawn)
            let drawn = next.drawn
            next.region = PixelRegion.bounds(on: animation.size) { drawn[$0] != 0 }.orOnePixel
        }
        waiting = next
    }

    func finish() throws(WebImageError) -> [UInt8] {
        guard let last = waiting else {
            throw WebImageError(.cannotEncode, "an animation without frames cannot be written", format: .gif)
        }
        waiting = nil
        write(last, isLast: true)
        file.append(0x3B)
        return file
    }

    private static func opaqueOrNothing(_ stored: UInt32) -> UInt32 {
        let pixel = UInt32(littleEndian: stored)
        return pixel >> 31 == 0 ? 0 : pixel | 0xFF00_0000
    }

    // MARK: differences

    /// Marks a frame as cleared after it was shown, if pixels of it or of earlier frames are transparent in the next
    /// one.
    ///
    /// - Returns: the canvas before the next frame.
    private func prepare(_ frame: inout Frame, for next: [UInt32]) -> [UInt32] {
        var canvas = frame.shown
        let gone = canvas.withUnsafeBufferPointer { canvas in
            next.withUnsafeBufferPointer { next in
                PixelRegion.bounds(on: animation.size) { next[$0] == 0 && canvas[$0] != 0 }
            }
        }
        guard !gone.isEmpty else { return canvas }
        frame.isCleared = true
        frame.region = frame.region.union(gone)
        for row in frame.region.y..<frame.region.y + frame.region.height {
            let start = row * animation.size.width + frame.region.x
            for index in start..<start + frame.region.width { canvas[index] = 0 }
        }
        return canvas
    }

    private static func leaveOut(_ canvas: [UInt32], of drawn: inout [UInt32]) {
        canvas.withUnsafeBufferPointer { canvas in
            drawn.withUnsafeMutableBufferPointer { drawn in
                for index in drawn.indices where drawn[index] == canvas[index] { drawn[index] = 0 }
            }
        }
    }

    private func pixels(_ canvas: [UInt32], in region: PixelRegion) -> [UInt32] {
        if region == .all(of: animation.size) { return canvas }
        var pixels: [UInt32] = []
        pixels.reserveCapacity(region.width * region.height)
        for row in region.y..<region.y + region.height {
            let start = row * animation.size.width + region.x
            pixels += canvas[start..<start + region.width]
        }
        return pixels
    }

    // MARK: writing

    private func write(_ frame: Frame, isLast: Bool) {
        let isFirst = file.isEmpty
        let isStill = isFirst && isLast
        var chooser = colors ?? GIFColorChooser(dithers: options.dithers, isAnimated: !isStill)
        let (drawn, shown) = (pixels(frame.drawn, in: frame.region), pixels(frame.shown, in: frame.region))
        let choice = drawn.withUnsafeBufferPointer { drawn in
            shown.withUnsafeBufferPointer {
                chooser.choose(drawn, shown: $0, isCleared: frame.isCleared, width: frame.region.width)
            }
        }
        colors = chooser
        if isFirst { appendHeader(choice.palette) }
        appendControl(frame, choice.palette, isStill: isStill)
        appendDescriptor(frame.region, choice.palette)
        LZWEncoder.append(choice.indices, codeSize: max(2, choice.palette.bits), to: &file)
    }

    private func appendHeader(_ palette: GIFPalette) {
        file = Array("GIF89a".utf8) + word(animation.size.width) + word(animation.size.height)
        file += [0xF0 | UInt8(palette.bits - 1), 0, 0] + palette.bytes
        // Without this extension a GIF is played once; the extension states the number of repetitions, 0: forever.
        guard let loops = animation.loopCount, loops != 1 else { return }
        file += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8)
        file += [3, 1] + word(min(max(loops, 1) - 1, Int(UInt16.max))) + [0]
    }

    private func appendControl(_ frame: Frame, _ palette: GIFPalette, isStill: Bool) {
        guard !isStill || palette.transparentIndex != nil || frame.delay > 0 else { return }
        let disposal: UInt8 = isStill ? 0 : frame.isCleared ? 2 : 1
        file += [0x21, 0xF9, 4, disposal << 2 | (palette.transparentIndex == nil ? 0 : 1)]
        file += word(frame.delay) + [UInt8(palette.transparentIndex ?? 0), 0]
    }

    private func appendDescriptor(_ region: PixelRegion, _ palette: GIFPalette) {
        file += [0x2C] + word(region.x) + word(region.y) + word(region.width) + word(region.height)
        if palette === colors?.first {
            file.append(0)
        } else {
            file += [0x80 | UInt8(palette.bits - 1)] + palette.bytes
        }
    }

    private func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
}
