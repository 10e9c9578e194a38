import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Writes animations in the formats whose frames are whole pictures, with options that the input chooses, and decodes
/// them again.
enum WritingFuzz {
    private static let formats: [(written: ImageFormat, read: ImageFormat)] = [
        (.avif, .avifSequence), (.heicSequence, .heicSequence), (.jxl, .jxl),
    ].filter { pair in (try? CoderRegistry.standard.encoder(for: pair.0)) != nil }
    /// The most frames. More would make every round slow.
    private static let maxFrames = 6
    private static let longestSide = 40

    /// Returns the input's bytes as choices, one after the other; 0 after the end of the input.
    private struct Choices {
        var rest: ArraySlice<UInt8>

        mutating func below(_ count: Int) -> Int { rest.popFirst().map { Int($0) % count } ?? 0 }
    }

    /// The format, the size and the options that the input chooses.
    private struct Choice {
        let format: (written: ImageFormat, read: ImageFormat)
        let size: PixelSize
        let layout: PixelLayout
        let options: EncodeOptions
        let frames: [Image]
        let delays: [Duration]

        init(_ input: [UInt8]) {
            var choices = Choices(rest: input[...])
            let format = formats[choices.below(formats.count)]
            let size = PixelSize(width: 1 + choices.below(longestSide), height: 1 + choices.below(longestSide))
            let layout: PixelLayout = choices.below(2) == 0 ? .rgba8 : .rgba16
            // HEIC cannot be written losslessly.
            let isLossless = choices.below(3) == 0 && format.written != .heicSequence
            var options = EncodeOptions(quality: 1 + choices.below(100), isLossless: isLossless)
            options.avifSpeed = 5 + choices.below(6)
            options.jxlEffort = 1 + choices.below(4)
            let count = 2 + choices.below(maxFrames - 1)
            delays = (0..<count).map { _ in Duration.milliseconds(choices.below(256) * choices.below(20)) }
            frames = (0..<count).compactMap { try? frame($0, size, layout, &choices) }
            (self.format, self.size, self.layout, self.options) = (format, size, layout, options)
        }
    }

    static func run(_ input: [UInt8]) {
        guard !formats.isEmpty else { return }
        let choice = Choice(input)
        do throws(WebImageError) {
            try writeAndRead(choice)
        } catch {
            check([.cannotEncode, .limitExceeded].contains(error.code), choice, "\(error)")
        }
    }

    private static func writeAndRead(_ choice: Choice) throws(WebImageError) {
        let format = choice.format
        let bytes = try encode(choice.frames, choice.delays, choice.size, as: format.written, choice.options)
        let coder = try CoderRegistry.standard.coder(
            for: format.read, prefix: UnsafeRawBufferPointer(start: nil, count: 0))
        let wanted = DecodeOptions(keepsBitDepth: choice.layout == .rgba16)
        let outcome = AnimationOutcome(coder, format.read, bytes, wanted, most: choice.frames.count)
        guard let outcome else {
            check(false, choice, "what was written is no animation")
            return
        }
        check(outcome.error == nil && outcome.faults.isEmpty, choice, "\(outcome)")
        let areShown = areShown(choice.delays, as: outcome.delays, in: format.written)
        check(areShown, choice, "\(outcome.delays), not \(choice.delays)")
        guard choice.options.isLossless else { return }
        for (frame, found) in zip(choice.frames, outcome.frames) {
            check(found == frame.withPixels { Array($0) }, choice, "a lossless frame has other pixels")
        }
    }

    /// Whether the found delays are the written ones. No frame is shown for no time, except for the last one of a JPEG
    /// XL.
    private static func areShown(_ delays: [Duration], as found: [Duration], in format: ImageFormat) -> Bool {
        var wanted = delays.map { max($0, .milliseconds(1)) }
        if format == .jxl { wanted[wanted.count - 1] = delays[delays.count - 1] }
        return found == wanted
    }

    private static func encode(
        _ frames: [Image], _ delays: [Duration], _ size: PixelSize, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        let animation = AnimationDescription(size: size, loopCount: delays.count % 3)
        let coder = try CoderRegistry.standard.encoder(for: format)
        guard let encoder = try coder.makeAnimationEncoder(format, animation, options) else {
            throw WebImageError(.cannotEncode, "there is no encoder of animations", format: format)
        }
        for (frame, delay) in zip(frames, delays) { try encoder.add(frame, delay: delay) }
        return try encoder.finish()
    }

    /// A frame of noise, of one colour, or of moving waves, with 8, 10 or 16 significant bits.
    private static func frame(
        _ number: Int, _ size: PixelSize, _ layout: PixelLayout, _ choices: inout Choices
    ) throws -> Image {
        let (kind, level) = (choices.below(3), choices.below(256))
        let bits = [8, 10, 16][choices.below(3)]
        var random = SeededGenerator(seed: UInt64(level))
        return try Image(size: size, layout: layout, alpha: .straight) { bytes in
            for index in 0..<size.width * size.height * 4 {
                let (x, y) = (index / 4 % size.width, index / 4 / size.width)
                let wave = abs(((x * (3 + index % 4) + y * 2 + number * 7 + level) * 257) % 131_072 - 65_536)
                let value = min([random.below(65_536), level * 257, wave][kind], 65_535)
                guard layout == .rgba16 else {
                    bytes[index] = UInt8(value >> 8)
                    continue
                }
                let top = value >> (16 - bits)
                let wide = (top << (16 - bits)) | (bits == 16 ? 0 : top >> (2 * bits - 16))
                bytes.storeBytes(of: UInt16(wide), toByteOffset: index * 2, as: UInt16.self)
            }
        }
    }

    static var seeds: [(String, [UInt8])] {
        var random = SeededGenerator(seed: 1)
        return (0..<30).map { number in ("animation-\(number)", [UInt8(number % 3)] + random.bytes(40)) }
    }

    /// Animations of 8 bits and of more, as seeds for the targets that decode them.
    static var files: [(String, [UInt8])] {
        let size = PixelSize(width: 24, height: 20)
        return formats.flatMap { format, _ in
            [PixelLayout.rgba8, .rgba16].compactMap { layout in
                var choices = Choices(rest: [2, 0, 1, 2, 9, 1, 2, 40, 1, 0, 90, 1])
                let frames = (0..<4).compactMap { try? frame($0, size, layout, &choices) }
                let delays = frames.indices.map { Duration.milliseconds(40 + $0 * 10) }
                let bytes = try? encode(frames, delays, size, as: format, EncodeOptions())
                return bytes.map { ("animation \(format.rawValue) \(layout)", $0) }
            }
        }
    }

    private static func check(_ isRight: Bool, _ choice: Choice, _ message: @autoclosure () -> String) {
        if !isRight { fatalError("\(choice.format.written.rawValue): \(message())") }
    }
}
