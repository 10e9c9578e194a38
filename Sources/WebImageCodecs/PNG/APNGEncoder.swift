import WebImageCore

/// Writes an APNG (APNG specification) frame by frame; keeps what is written and the frame before.
///
/// All frames are RGBA, for the first says of all whether they have alpha, and a later one may. A frame holds the
/// rectangle that changed: as it is, or, when nothing in it became translucent, with unchanged pixels left out, if that
/// is smaller.
final class APNGEncoder: AnimationEncoder {
    /// An encoded rectangle, and whether it is laid over what is there.
    private typealias Encoded = (png: [UInt8], isOver: Bool)

    private let animation: AnimationDescription
    private let options: EncodeOptions
    private var file: [UInt8] = []
    /// Where the chunk begins that says how many frames there are.
    private var announcement = 0
    private var frameCount: UInt32 = 0
    private var sequence: UInt32 = 0
    private var shown: PixelBuffer?
    private var clock = DelayClock(ticksPerSecond: 1000)

    init(_ animation: AnimationDescription, _ options: EncodeOptions) {
        self.animation = animation
        self.options = options
    }

    /// A picture as an animation of one frame.
    static func encode(_ image: Image, _ options: EncodeOptions) throws(WebImageError) -> [UInt8] {
        let encoder = APNGEncoder(AnimationDescription(size: image.displaySize, loopCount: nil), options)
        try encoder.add(image, delay: .zero)
        return try encoder.finish()
    }

    func add(_ frame: Image, delay: Duration) throws(WebImageError) {
        let plain = try animation.plain(frame, .apng)
        var region = PixelRegion.all(of: animation.size)
        var encoded: Encoded
        if let shown {
            region = shown.regionThatDiffers(from: plain.pixels).orOnePixel
            encoded = (try encode(try plain.pixels.cropped(to: region), plain, isFirst: false), false)
            if let changes = try plain.pixels.changes(in: region, from: shown) {
                let overlay = try encode(changes, plain, isFirst: false)
                if overlay.count < encoded.png.count { encoded = (overlay, true) }
            }
        } else {
            encoded = (try encode(plain.pixels, plain, isFirst: true), false)
        }
        append(encoded, region, ticks: clock.ticks(delay))
        shown = plain.pixels
        frameCount += 1
    }

    func finish() throws(WebImageError) -> [UInt8] {
        guard frameCount > 0 else {
            throw WebImageError(.cannotEncode, "an animation without frames cannot be written", format: .apng)
        }
        let chunk = announcementChunk
        file.replaceSubrange(announcement..<announcement + chunk.count, with: chunk)
        file += PNGChunk.make("IEND", [])
        return file
    }

    private var announcementChunk: [UInt8] {
        let plays = UInt32(clamping: animation.loopCount ?? 1) & 0x7FFF_FFFF
        return PNGChunk.make("acTL", PNGChunk.big(frameCount) + PNGChunk.big(plays))
    }

    private func encode(_ pixels: PixelBuffer, _ frame: Image, isFirst: Bool) throws(WebImageError) -> [UInt8] {
        var options = options
        options.embedsICCProfile = options.embedsICCProfile && isFirst
        let info = Image.Info(alpha: .straight, iccProfile: frame.info.iccProfile)
        return try PNGCoder().encode(Image(pixels: pixels, info: info), as: .png, options)
    }

    /// Takes the data out of a PNG of its own; of the first one also what comes before it.
    private func append(_ encoded: Encoded, _ region: PixelRegion, ticks: Int) {
        let png = encoded.png
        var place = PNGChunk.signature.count
        if frameCount == 0 { file = PNGChunk.signature }
        var hasControl = false
        while place < png.count {
            let end = place + Int(PNGChunk.number(png, at: place)) + 12
            let chunk = place..<end
            place = end
            guard png[chunk.lowerBound + 4..<chunk.lowerBound + 8].elementsEqual("IDAT".utf8) else {
                if frameCount == 0, !hasControl { file += png[chunk] }
                continue
            }
            if !hasControl { appendControl(region, ticks, isOver: encoded.isOver) }
            hasControl = true
            if frameCount == 0 { file += png[chunk] } else { appendData(png, chunk) }
        }
    }

    private func appendControl(_ region: PixelRegion, _ ticks: Int, isOver: Bool) {
        if frameCount == 0 {
            announcement = file.count
            file += announcementChunk
        }
        let numbers = [region.width, region.height, region.x, region.y].flatMap { PNGChunk.big(UInt32($0)) }
        let delay = [ticks, 1000].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        file += PNGChunk.make("fcTL", nextNumber() + numbers + delay + [0, isOver ? 1 : 0])
    }

    private func appendData(_ png: [UInt8], _ chunk: Range<Int>) {
        let data = chunk.lowerBound + 8..<chunk.upperBound - 4
        let before = Array("fdAT".utf8) + nextNumber()
        file += PNGChunk.big(UInt32(data.count + 4)) + before
        file += png[data]
        file += PNGChunk.big(
            PNGChunk.checksum(
                PNGChunk.number(png, at: data.upperBound), of: data.count, behind: Array("IDAT".utf8),
                movedBehind: before))
    }

    private func nextNumber() -> [UInt8] {
        defer { sequence += 1 }
        return PNGChunk.big(sequence)
    }
}

extension PixelBuffer {
    private var words: UnsafePointer<UInt32> { UnsafePointer(base.assumingMemoryBound(to: UInt32.self)) }

    /// Where any channel differs, of two buffers of the same size with 8 bits a channel.
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

    /// A region of this picture with nothing where `shown` has the same; nil when it could not be laid over that, or
    /// hardly anything is the same.
    fileprivate func changes(in region: PixelRegion, from shown: PixelBuffer) throws(WebImageError) -> PixelBuffer? {
        let part = try PixelBuffer(size: region.size)
        let (new, old, changes) = (words, shown.words, part.base.assumingMemoryBound(to: UInt32.self))
        var same = 0
        for row in 0..<region.height {
            let (start, target) = ((region.y + row) * size.width + region.x, row * region.width)
            for column in 0..<region.width {
                let pixel = new[start + column]
                if pixel == old[start + column] {
                    changes[target + column] = 0
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
