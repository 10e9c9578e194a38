/// Reads the pixels of a QOI stream ("The Quite OK Image Format Specification", version 1.0) as its bytes arrive.
struct QOIPixelReader {
    /// Red in the lowest byte, alpha in the highest.
    private var pixel: UInt32 = 0xFF00_0000
    private var run = 0
    private var seen = [UInt32](repeating: 0, count: 64)

    /// Writes up to `count` pixels.
    ///
    /// - Parameters:
    ///   - offset: the start in `bytes`; moved after the used bytes.
    ///   - opaque: bits that are set in every written pixel.
    /// - Returns: how many pixels were written; fewer than `count` if the bytes end, possibly within a chunk, which
    ///   then is not used.
    mutating func read(
        _ bytes: UnsafeBufferPointer<UInt8>, at offset: inout Int, into pixels: UnsafeMutablePointer<UInt32>,
        count: Int, opaque: UInt32
    ) -> Int {
        // Local variables stay in registers.
        var (place, pixel, run, done) = (offset, pixel, run, 0)
        seen.withUnsafeMutableBufferPointer { seen in
            while done < count {
                if run == 0 {
                    guard let repeats = Self.readChunk(bytes, at: &place, &pixel, seen) else { return }
                    seen[QOIChunk.slot(of: pixel)] = pixel
                    if repeats == 1 {
                        pixels[done] = (pixel | opaque).littleEndian
                        done += 1
                        continue
                    }
                    run = repeats
                }
                let repeats = min(run, count - done)
                (pixels + done).update(repeating: (pixel | opaque).littleEndian, count: repeats)
                done += repeats
                run -= repeats
            }
        }
        (offset, self.pixel, self.run) = (place, pixel, run)
        return done
    }

    /// Reads the next chunk into `pixel`.
    ///
    /// - Returns: how often the pixel is repeated; nil if the chunk is incomplete.
    private static func readChunk(
        _ bytes: UnsafeBufferPointer<UInt8>, at offset: inout Int, _ pixel: inout UInt32,
        _ seen: UnsafeMutableBufferPointer<UInt32>
    ) -> Int? {
        guard offset < bytes.count else { return nil }
        let first = bytes[offset]
        let length = QOIChunk.length(first)
        guard offset + length <= bytes.count else { return nil }
        defer { offset += length }
        switch first {
        case 0..<QOIChunk.difference: pixel = seen[Int(first)]
        case QOIChunk.difference..<QOIChunk.luma:
            pixel = sum(pixel, red: (first >> 4 & 3) &- 2, green: (first >> 2 & 3) &- 2, blue: (first & 3) &- 2)
        case QOIChunk.luma..<QOIChunk.run:
            let green = (first & 63) &- 32
            let second = bytes[offset + 1]
            pixel = sum(pixel, red: green &+ (second >> 4) &- 8, green: green, blue: green &+ (second & 15) &- 8)
        case QOIChunk.rgb: pixel = pixel & 0xFF00_0000 | color(bytes, offset)
        case QOIChunk.rgba: pixel = color(bytes, offset) | UInt32(bytes[offset + 4]) << 24
        default: return Int(first & 63) + 1
        }
        return 1
    }

    /// The three channels behind a chunk's first byte.
    private static func color(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int) -> UInt32 {
        UInt32(bytes[offset + 1]) | UInt32(bytes[offset + 2]) << 8 | UInt32(bytes[offset + 3]) << 16
    }

    /// Channels wrap around, as the specification says.
    private static func sum(_ pixel: UInt32, red: UInt8, green: UInt8, blue: UInt8) -> UInt32 {
        let red = UInt8(truncatingIfNeeded: pixel) &+ red
        let green = UInt8(truncatingIfNeeded: pixel >> 8) &+ green
        let blue = UInt8(truncatingIfNeeded: pixel >> 16) &+ blue
        return pixel & 0xFF00_0000 | UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16
    }
}

/// The kinds of chunks by their first byte; for two-bit tags, the first value of their range.
enum QOIChunk {
    static let difference: UInt8 = 0x40
    static let luma: UInt8 = 0x80
    static let run: UInt8 = 0xC0
    static let rgb: UInt8 = 0xFE
    static let rgba: UInt8 = 0xFF
    static let longestRun = 62
    /// The bytes at the end of the stream.
    static let end: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]

    static func length(_ first: UInt8) -> Int {
        switch first {
        case rgb: 4
        case rgba: 5
        case luma..<run: 2
        default: 1
        }
    }

    /// The slot in which a pixel is remembered.
    static func slot(of pixel: UInt32) -> Int {
        let red = pixel & 255
        let green = pixel >> 8 & 255
        let blue = pixel >> 16 & 255
        let colors = red &* 3 &+ green &* 5 &+ blue &* 7
        return Int((colors &+ (pixel >> 24) &* 11) & 63)
    }
}
