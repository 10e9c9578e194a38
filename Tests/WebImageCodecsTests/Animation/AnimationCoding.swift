import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// A decoder of an animation that has received all of `bytes`, in pieces of the lengths that `length` returns.
func animationDecoder(
    _ bytes: [UInt8], _ options: DecodeOptions = DecodeOptions(), length: () -> Int = { .max }
) throws(WebImageError) -> any AnimationDecoder {
    let decoder = try openAnimation(bytes, options)
    var rest = bytes[...]
    while !rest.isEmpty {
        let piece = Array(rest.prefix(length()))
        rest = rest.dropFirst(piece.count)
        try piece.withUnsafeBufferPointer { piece throws(WebImageError) in
            try decoder.push(UnsafeRawBufferPointer(piece))
        }
    }
    try decoder.finish()
    return decoder
}

/// A decoder for a file that begins with `bytes`. It has not received any of them yet.
func openAnimation(
    _ bytes: [UInt8], _ options: DecodeOptions = DecodeOptions()
) throws(WebImageError) -> any AnimationDecoder {
    let format = bytes.withUnsafeBytes { ImageFormat(sniffing: $0) }
    let coder: any ImageCoder = format == .gif ? GIFCoder() : PNGCoder()
    guard let decoder = try coder.makeAnimationDecoder(format ?? .apng, options) else {
        throw WebImageError(.unknownFormat, "there is no animation decoder")
    }
    return decoder
}

extension AnimationDecoder {
    func pixels(at index: Int) throws(WebImageError) -> Pixels {
        let frame = try frame(at: index)
        return frame.rows(frame.size.height)
    }
}

/// Encodes `frames` as an animation.
func encodeAnimation(
    _ frames: [Image], as format: ImageFormat, loopCount: Int? = 0, delays: [Duration] = [],
    _ options: EncodeOptions = EncodeOptions()
) throws -> [UInt8] {
    let animation = AnimationDescription(size: frames[0].displaySize, loopCount: loopCount)
    let coder = try CoderRegistry.standard.encoder(for: format)
    let encoder = try #require(try coder.makeAnimationEncoder(format, animation, options))
    for (index, frame) in frames.enumerated() {
        try encoder.add(frame, delay: index < delays.count ? delays[index] : .milliseconds(100))
    }
    return try encoder.finish()
}

/// Random frames with typical changes: parts move, vanish and appear, and some frames stay unchanged.
func randomFrames(_ count: Int, _ size: PixelSize, colors: [UInt32], seed: UInt64) throws -> [Image] {
    var generator = SeededGenerator(seed: seed)
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    var canvas = [UInt32](repeating: 0, count: size.width * size.height)
    return try (0..<count).map { _ in
        for _ in 0..<number(0...3) {
            let (left, top) = (number(0...size.width - 1), number(0...size.height - 1))
            let (right, bottom) = (number(left...size.width - 1), number(top...size.height - 1))
            let (plain, isNoise) = (colors[number(0...colors.count - 1)], number(0...2) == 0)
            for row in top...bottom {
                for column in left...right {
                    canvas[row * size.width + column] = isNoise ? colors[number(0...colors.count - 1)] : plain
                }
            }
        }
        return try Image(size: size, alpha: .straight) { bytes in
            for (index, pixel) in canvas.enumerated() {
                bytes.storeBytes(of: pixel.littleEndian, toByteOffset: index * 4, as: UInt32.self)
            }
        }
    }
}

/// Random colours, all different. The first is fully transparent, the others are opaque.
func randomColors(_ count: Int, seed: UInt64) -> [UInt32] {
    var generator = SeededGenerator(seed: seed)
    var colors: Set<UInt32> = []
    while colors.count < count - 1 { colors.insert(0xFF00_0000 | UInt32.random(in: 0...0xFF_FFFF, using: &generator)) }
    return [0] + colors.sorted()
}
