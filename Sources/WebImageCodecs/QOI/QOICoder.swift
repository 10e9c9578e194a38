package import WebImageCore
import WebImageProcessing

/// QOI, the Quite OK Image format: lossless, 8 bits, fast.
package struct QOICoder: ImageCoder {
    package init() {}

    package var decodableFormats: Set<ImageFormat> { [.qoi] }
    package var timeDependsOnlyOnPixels: Bool { true }
    package var encodableFormats: Set<ImageFormat> { [.qoi] }
    package var losslessFormats: Set<ImageFormat> { encodableFormats }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        QOIDecoder(options, plan: plan)
    }

    /// A QOI with the same pixels, 8 bits each: three channels for opaque pictures, else four. QOI stores neither
    /// orientation nor profile, so pixels are rotated upright.
    ///
    /// - Throws: `cannotEncode` for another format, for sides over 32 bits, and for lossless encoding of 16 bits a
    ///   channel.
    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard format == .qoi else {
            throw WebImageError(.cannotEncode, "the QOI coder does not write \(format.rawValue)", format: format)
        }
        try options.checkDepth(of: image, .qoi)
        let plain = try image.plain()
        let pixels = try plain.pixels.narrowed()
        guard let width = UInt32(exactly: pixels.size.width), let height = UInt32(exactly: pixels.size.height) else {
            throw WebImageError(.cannotEncode, "a QOI cannot hold a picture of \(pixels.size)", format: .qoi)
        }
        var encoder = QOIEncoder(width: width, height: height, hasAlpha: plain.alpha != .opaque)
        pixels.withBytes { encoder.append($0.bindMemory(to: UInt32.self)) }
        return encoder.finished()
    }
}

private struct QOIEncoder {
    private var output: [UInt8]
    private var last: UInt32 = 0xFF00_0000
    private var run = 0
    private var seen = [UInt32](repeating: 0, count: 64)
    private let opaque: UInt32

    init(width: UInt32, height: UInt32, hasAlpha: Bool) {
        opaque = hasAlpha ? 0 : 0xFF00_0000
        output = Array("qoif".utf8)
        for side in [width, height] { withUnsafeBytes(of: side.bigEndian) { output.append(contentsOf: $0) } }
        output += [hasAlpha ? 4 : 3, 0]
    }

    mutating func append(_ pixels: UnsafeBufferPointer<UInt32>) {
        for stored in pixels {
            let pixel = UInt32(littleEndian: stored) | opaque
            if pixel == last {
                run += 1
                if run == QOIChunk.longestRun { endRun() }
            } else {
                endRun()
                append(pixel)
            }
        }
    }

    mutating func finished() -> [UInt8] {
        endRun()
        return output + QOIChunk.end
    }

    private mutating func endRun() {
        guard run > 0 else { return }
        output.append(QOIChunk.run | UInt8(run - 1))
        run = 0
    }

    private mutating func append(_ pixel: UInt32) {
        let before = last
        last = pixel
        let slot = QOIChunk.slot(of: pixel)
        guard seen[slot] != pixel else {
            output.append(UInt8(slot))
            return
        }
        seen[slot] = pixel
        guard pixel >> 24 == before >> 24 else {
            output.append(QOIChunk.rgba)
            withUnsafeBytes(of: pixel.littleEndian) { output.append(contentsOf: $0) }
            return
        }
        let change = { (shift: UInt32) in
            UInt8(truncatingIfNeeded: pixel >> shift) &- UInt8(truncatingIfNeeded: before >> shift)
        }
        let (red, green, blue) = (change(0), change(8), change(16))
        // Shifted to begin at zero, as stored: -2...1, then -32...31 and -8...7 relative to green.
        let small = (red &+ 2, green &+ 2, blue &+ 2)
        let large = (red &- green &+ 8, green &+ 32, blue &- green &+ 8)
        if max(small.0, small.1, small.2) < 4 {
            output.append(QOIChunk.difference | small.0 << 4 | small.1 << 2 | small.2)
        } else if large.1 < 64, max(large.0, large.2) < 16 {
            output.append(QOIChunk.luma | large.1)
            output.append(large.0 << 4 | large.2)
        } else {
            output.append(QOIChunk.rgb)
            withUnsafeBytes(of: pixel.littleEndian) { output.append(contentsOf: $0.prefix(3)) }
        }
    }
}
