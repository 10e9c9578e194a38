import WebImageCore
import WebImageProcessing

/// Writes an APNG (APNG specification) frame by frame; keeps the output and the previous frame.
///
/// The header of the first frame determines whether all frames have alpha. So frames are written as RGB until one has a
/// transparent pixel; then the earlier ones are written again as RGBA. A frame holds the rectangle that changed:
/// completely or, if nothing in it became translucent, with unchanged pixels left out, if that is smaller. In RGB
/// frames, pixels that are left out have a reserved colour (`tRNS`).
final class APNGEncoder: AnimationEncoder {
    /// The reserved colour of RGB frames; a picture that uses it is written as RGBA.
    private static let leftOut: UInt32 = 0xFF_FB04_FD

    private let animation: AnimationDescription
    private var options: EncodeOptions
    private var frames: [APNGFrame] = []
    private var hasAlpha = false
    private var shown: PixelBuffer?
    private var clock = DelayClock(longest: Int(UInt16.max) * 1000)

    init(_ animation: AnimationDescription, _ options: EncodeOptions) {
        self.animation = animation
        self.options = options
        // Frames are neither interlaced nor written with a palette.
        self.options.progressive = false
        self.options.paletteColors = nil
    }

    /// A picture as an animation of one frame, which has as many bits as the picture.
    static func encode(_ image: Image, _ options: EncodeOptions) throws(WebImageError) -> [UInt8] {
        let encoder = APNGEncoder(
            AnimationDescription(size: image.displaySize, loopCount: nil), options)
        var frame = APNGFrame(region: .all(of: encoder.animation.size), ticks: 0)
        frame.png = try PNGCoder().encode(try image.upright(), as: .png, encoder.options)
        encoder.frames = [frame]
        return try encoder.finish()
    }

    func add(_ frame: Image, delay: Duration) throws(WebImageError) {
        let plain = try animation.plain(frame.withFullAlpha(), .apng)
        if !hasAlpha, !plain.pixels.canBeRGB(leavingOut: Self.leftOut) { try giveAlpha() }
        var next = APNGFrame(region: .all(of: animation.size), ticks: clock.ticks(delay))
        if let shown {
            next.region = shown.regionThatDiffers(from: plain.pixels).orOnePixel
            next.png = try encode(try plain.pixels.cropped(to: next.region))
            let nothing = hasAlpha ? 0 : Self.leftOut
            if let changes = try plain.pixels.changes(in: next.region, from: shown, leavingOut: nothing) {
                let overlay = try encode(changes)
                if overlay.count < next.png.count { (next.png, next.isOver) = (overlay, true) }
            }
        } else {
            next.png = try encode(plain.pixels, of: plain.info)
        }
        frames.append(next)
        shown = plain.pixels
    }

    func finish() throws(WebImageError) -> [UInt8] {
        guard !frames.isEmpty else {
            throw WebImageError(.cannotEncode, "an animation without frames cannot be written", format: .apng)
        }
        var file = APNGFile(frameCount: frames.count, loopCount: animation.loopCount ?? 1)
        if !hasAlpha, frames.contains(where: \.isOver) { file.leftOut = Self.leftOut }
        // Each frame is released when it is copied.
        for index in frames.indices {
            file.append(frames[index])
            frames[index].png = []
        }
        return file.end()
    }

    /// - Parameter info: of the first frame, whose properties apply to all.
    private func encode(_ pixels: PixelBuffer, of info: Image.Info? = nil) throws(WebImageError) -> [UInt8] {
        var info = info ?? Image.Info(alpha: .straight)
        info.alpha = hasAlpha ? .straight : .opaque
        // All frames have the same colour type, and later ones may have colours.
        info.header?.colorModel = .rgb
        return try PNGCoder().encode(Image(pixels: pixels, info: info), as: .png, options)
    }

    /// Writes the earlier frames again.
    private func giveAlpha() throws(WebImageError) {
        hasAlpha = true
        for index in frames.indices {
            let pixels = try Self.decode(frames[index].png)
            if frames[index].isOver { pixels.image.pixels.clear(Self.leftOut) }
            frames[index].png = try encode(pixels.image.pixels, of: index == 0 ? pixels.image.info : nil)
        }
    }

    private static func decode(_ png: [UInt8]) throws(WebImageError) -> DecodedPicture {
        // The data was written here, so nothing in it is refused.
        let limits = DecodeLimits(pixels: .max, bytes: ByteCount(.max), time: .seconds(3600), metadata: ByteCount(.max))
        return try png.withUnsafeBufferPointer { bytes throws(WebImageError) in
            try CoderRegistry.standard.decode(
                UnsafeRawBufferPointer(bytes), DecodeOptions(limits: limits), coder: PNGCoder())
        }
    }
}

extension PixelBuffer {
    private var words: UnsafePointer<UInt32> { UnsafePointer(base.assumingMemoryBound(to: UInt32.self)) }

    /// The region where any channel differs, of two buffers with the same size and 8 bits a channel.
    fileprivate func regionThatDiffers(from other: PixelBuffer) -> PixelRegion {
        let (mine, others) = (words, other.words)
        return PixelRegion.bounds(on: size) { mine[$0] != others[$0] }
    }

    fileprivate func cropped(to region: PixelRegion) throws(WebImageError) -> PixelBuffer {
        let part = try PixelBuffer(size: region.size)
        for row in 0..<region.height {
            part.row(row).copyMemory(
                from: self.row(region.y + row) + region.x * 4, byteCount: part.bytesPerRow)
        }
        return part
    }

    /// Whether all pixels are opaque and none has the given colour.
    fileprivate func canBeRGB(leavingOut color: UInt32) -> Bool {
        let words = words
        for index in 0..<size.width * size.height {
            let pixel = UInt32(littleEndian: words[index])
            if pixel >> 24 != 255 || pixel == color { return false }
        }
        return true
    }

    /// Makes all pixels of a colour transparent black.
    fileprivate func clear(_ color: UInt32) {
        let words = base.assumingMemoryBound(to: UInt32.self)
        for index in 0..<size.width * size.height where UInt32(littleEndian: words[index]) == color {
            words[index] = 0
        }
    }

    /// A region of this picture with `nothing` where `shown` is equal; nil if it could not be composited over `shown`,
    /// or hardly anything is equal.
    fileprivate func changes(
        in region: PixelRegion, from shown: PixelBuffer, leavingOut nothing: UInt32
    ) throws(WebImageError) -> PixelBuffer? {
        let part = try PixelBuffer(size: region.size)
        let (new, old, changes) = (words, shown.words, part.base.assumingMemoryBound(to: UInt32.self))
        var same = 0
        for row in 0..<region.height {
            let (start, target) = ((region.y + row) * size.width + region.x, row * region.width)
            for column in 0..<region.width {
                let pixel = new[start + column]
                if pixel == old[start + column] {
                    changes[target + column] = nothing.littleEndian
                    same += 1
                } else {
                    guard UInt32(littleEndian: pixel) >> 24 == 255 else { return nil }
                    changes[target + column] = pixel
                }
            }
        }
        return same > region.width * region.height / 16 ? part : nil
    }
}
