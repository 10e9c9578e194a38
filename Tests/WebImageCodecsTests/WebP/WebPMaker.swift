import WebImageCore
import WebImageTesting

/// Makes WebP files that our encoder does not write: lossless pictures with up to two values in each channel, and any
/// chunks that a test wants.
enum WebPMaker {
    /// A chunk, padded to an even length.
    static func chunk(_ name: String, _ contents: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(contents.count, 4) + contents + (contents.count % 2 == 1 ? [0] : [])
    }

    static func file(_ chunks: [[UInt8]]) -> [UInt8] {
        let body = Array("WEBP".utf8) + chunks.joined()
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }

    /// - Parameter flags: 0x20 for a profile, 0x10 for alpha, 0x08 for EXIF, 0x02 for an animation.
    static func extended(_ flags: UInt8, _ size: PixelSize) -> [UInt8] {
        chunk("VP8X", [flags, 0, 0, 0] + little(size.width - 1, 3) + little(size.height - 1, 3))
    }

    static func animation(loops: Int) -> [UInt8] { chunk("ANIM", [9, 9, 9, 9] + little(loops, 2)) }

    /// - Parameter flags: 0x02 if the frame replaces the canvas below it instead of being blended, 0x01 if its place is
    ///   cleared afterwards.
    static func frame(
        x: Int, y: Int, _ size: PixelSize, delay: Int = 70, flags: UInt8 = 0, _ chunks: [UInt8]
    ) -> [UInt8] {
        let place = [x / 2, y / 2, size.width - 1, size.height - 1, delay].flatMap { little($0, 3) }
        return chunk("ANMF", place + [flags] + chunks)
    }

    static func little(_ value: Int, _ bytes: Int) -> [UInt8] { big(value, bytes).reversed() }
}

/// A lossless picture (RFC 9649, 3) without transforms: each channel of each pixel is one bit, which chooses between
/// two values.
struct LosslessMaker {
    let size: PixelSize
    /// The two values of red, green, blue and alpha, the lower one first.
    let values: [(UInt8, UInt8)]
    /// For each pixel and each of its four channels, whether the higher value is chosen.
    let choices: [[Bool]]
    var saysAlpha = true

    init(_ width: Int, _ height: Int, values: [(UInt8, UInt8)], seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        size = PixelSize(width: width, height: height)
        self.values = values
        choices = (0..<width * height).map { _ in (0..<4).map { _ in .random(using: &generator) } }
    }

    static func colorful(_ width: Int, _ height: Int, seed: UInt64 = 1) -> LosslessMaker {
        LosslessMaker(width, height, values: [(10, 200), (3, 250), (40, 41), (0, 255)], seed: seed)
    }

    var pixels: Pixels {
        Pixels(choices.flatMap { pixel in zip(values, pixel).map { $1 ? $0.1 : $0.0 } })
    }

    func chunk() -> [UInt8] {
        var bits: [Bool] = []
        func write(_ value: Int, _ count: Int) { for bit in 0..<count { bits.append(value >> bit & 1 == 1) } }
        write(size.width - 1, 14)
        write(size.height - 1, 14)
        write(saysAlpha ? 1 : 0, 1)
        write(0, 3 + 3)  // version; no transform, colour cache or further codes
        let order = [1, 0, 2, 3]
        for channel in order {
            write(0b111, 3)  // simple, two symbols, the first of 8 bits
            write(Int(values[channel].0), 8)
            write(Int(values[channel].1), 8)
        }
        write(0b0001, 4)  // distances: one symbol of one bit
        for pixel in choices { for channel in order { bits.append(pixel[channel]) } }
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { start + $1 < bits.count && bits[start + $1] ? $0 | 1 << UInt8($1) : $0 }
        }
        return WebPMaker.chunk("VP8L", [0x2F] + bytes)
    }
}

extension WebPMaker {
    /// An animation of two frames. The first, `frame`, is at (2, 4) of a canvas of 20 by 16.
    static func animated(_ frame: LosslessMaker) -> [UInt8] {
        let canvas = PixelSize(width: 20, height: 16)
        let second = LosslessMaker.colorful(20, 16, seed: 9)
        return file([
            extended(0x12, canvas), animation(loops: 3), self.frame(x: 2, y: 4, frame.size, frame.chunk()),
            self.frame(x: 0, y: 0, second.size, second.chunk()),
        ])
    }
}
