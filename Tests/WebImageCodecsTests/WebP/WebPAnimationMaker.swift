import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Makes an animation from stills that our encoder wrote, and states what each frame has to look like.
struct WebPAnimationMaker {
    struct Frame {
        var x = 0
        var y = 0
        var image: Image
        var replaces = false
        var isCleared = false
        var delay = 40
        var isLossless = true
    }

    /// The combinations of blending and disposal, so that each of the four follows each of them once (a De Bruijn
    /// sequence).
    private static let ways = [0, 0, 1, 0, 2, 0, 3, 1, 1, 2, 1, 3, 2, 2, 3, 3]

    var canvas: PixelSize
    var frames: [Frame]
    var loops = 0

    /// Frames of noise with all combinations of blending and disposal, each after each other. Every pixel is opaque or
    /// transparent.
    static func all(seed: UInt64, count: Int = 34, isLossless: Bool = true) throws -> WebPAnimationMaker {
        var random = SeededGenerator(seed: seed)
        let canvas = PixelSize(width: 21, height: 17)
        let frames = try (0..<count).map { index in
            let isWhole = index % 7 == 3
            let x = isWhole ? 0 : Int.random(in: 0...8, using: &random) * 2
            let y = isWhole ? 0 : Int.random(in: 0...7, using: &random) * 2
            let size = PixelSize(
                width: isWhole ? 21 : .random(in: 1...21 - x, using: &random),
                height: isWhole ? 17 : .random(in: 1...17 - y, using: &random))
            let isOpaque = index % 5 == 2
            let image = try Image(size: size, alpha: isOpaque ? .opaque : .straight) { bytes in
                for byte in bytes.indices {
                    let isSolid = isOpaque || Bool.random(using: &random)
                    let alpha: UInt8 = isSolid ? 255 : 0
                    bytes[byte] = byte % 4 == 3 ? alpha : UInt8.random(in: 0...255, using: &random)
                }
            }
            let way = Self.ways[index % 16]
            return Frame(
                x: x, y: y, image: image, replaces: way & 1 == 1, isCleared: way & 2 == 2, delay: 10 * index,
                isLossless: isLossless)
        }
        return WebPAnimationMaker(canvas: canvas, frames: frames)
    }

    /// The chunks of the file, in order: the header, the animation's settings, and one for each frame.
    func chunks() throws -> [[UInt8]] {
        try [WebPMaker.extended(0x12, canvas), WebPMaker.animation(loops: loops)]
            + frames.map { frame in
                let flags: UInt8 = (frame.replaces ? 2 : 0) | (frame.isCleared ? 1 : 0)
                let still = try WebPCoder().encode(
                    frame.image, as: .webp, EncodeOptions(isLossless: frame.isLossless))
                return WebPMaker.frame(
                    x: frame.x, y: frame.y, frame.image.size, delay: frame.delay, flags: flags,
                    WebPMaker.pictureChunks(of: still))
            }
    }

    func file() throws -> [UInt8] { WebPMaker.file(try chunks()) }

    /// Each frame as it is shown, by a compositor that is as simple as possible.
    func shown() -> [Pixels] {
        var pixels = [UInt8](repeating: 0, count: canvas.width * canvas.height * 4)
        return frames.map { frame in
            var shown = pixels
            let source = frame.image.bytes.bytes
            for y in 0..<frame.image.size.height {
                for x in 0..<frame.image.size.width {
                    let from: Int = (y * frame.image.size.width + x) * 4
                    let to: Int = ((y + frame.y) * canvas.width + x + frame.x) * 4
                    if frame.replaces || source[from + 3] == 255 {
                        shown.replaceSubrange(to..<to + 4, with: source[from..<from + 4])
                    }
                    pixels.replaceSubrange(to..<to + 4, with: frame.isCleared ? [0, 0, 0, 0] : shown[to..<to + 4])
                }
            }
            return Pixels(shown)
        }
    }
}

extension Pixels {
    /// The same pixels, with the colour of fully transparent ones set to zero.
    var seen: Pixels {
        var seen = bytes
        for start in stride(from: 0, to: seen.count, by: 4) where seen[start + 3] == 0 {
            for channel in 0..<3 { seen[start + channel] = 0 }
        }
        return Pixels(seen)
    }
}

extension WebPMaker {
    /// The chunks of a still file that can be put into a frame.
    static func pictureChunks(of file: [UInt8]) -> [UInt8] {
        let body = file.dropFirst(12)
        return Array(body.starts(with: "VP8X".utf8) ? body.dropFirst(18) : body)
    }
}

/// An animation decoder that was given all bytes in pieces, and the error that it threw.
struct WebPFrames {
    let decoder: any AnimationDecoder
    var error: WebImageError?

    init(_ bytes: [UInt8], _ options: DecodeOptions = DecodeOptions(), length: () -> Int = { .max }) throws {
        decoder = try #require(try WebPCoder().makeAnimationDecoder(.webp, options))
        do throws(WebImageError) {
            try pushPieces(of: bytes, length) { [decoder] piece, _ throws(WebImageError) in try decoder.push(piece) }
            try decoder.finish()
        } catch { self.error = error }
    }

    var count: Int { decoder.storedDelays.count }

    func frame(_ index: Int) throws -> Pixels { try decoder.frame(at: index).withBytes { Pixels(Array($0)) } }
}
