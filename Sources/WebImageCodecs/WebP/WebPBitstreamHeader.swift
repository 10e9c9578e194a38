import WebImageCore

/// The information in the first bytes of a `VP8 ` or `VP8L` chunk (RFC 6386, 9.1; RFC 9649, 3.4).
struct WebPBitstreamHeader {
    let size: PixelSize
    /// Whether the header of a lossless picture says that it has transparent pixels.
    let saysAlpha: Bool
    let isLossless: Bool

    /// nil when the bytes do not begin such a picture.
    init?(_ contents: ArraySlice<UInt8>, isLossless: Bool) {
        self.isLossless = isLossless
        let bytes = Array(contents)
        if isLossless {
            guard bytes.count >= 5, bytes[0] == 0x2F else { return nil }
            let bits = WebPBytes.number(bytes[1..<5])
            guard bits >> 29 == 0 else { return nil }
            size = PixelSize(width: (bits & 0x3FFF) + 1, height: (bits >> 14 & 0x3FFF) + 1)
            saysAlpha = bits >> 28 & 1 == 1
        } else {
            let isKeyFrame = bytes.count >= 10 && bytes[0] & 1 == 0
            guard isKeyFrame, bytes[3..<6].elementsEqual([0x9D, 0x01, 0x2A]) else { return nil }
            size = PixelSize(
                width: WebPBytes.number(bytes[6..<8]) & 0x3FFF, height: WebPBytes.number(bytes[8..<10]) & 0x3FFF)
            saysAlpha = false
        }
    }
}

/// The header of an animation's frame (RFC 9649, 2.7.1.1): its place, duration, and effects on the canvas.
struct WebPFrame {
    let x: Int
    let y: Int
    let size: PixelSize
    var delay: Duration = .zero
    /// Whether its transparent pixels replace those of the canvas.
    var replaces = true
    /// Whether its area is cleared afterwards.
    var isCleared = false

    init(x: Int = 0, y: Int = 0, size: PixelSize) {
        (self.x, self.y, self.size) = (x, y, size)
    }

    /// - Parameter contents: at least the first 16 bytes of an `ANMF` chunk's contents.
    init(_ contents: ArraySlice<UInt8>) {
        func number(_ at: Int) -> Int { WebPBytes.number(contents.dropFirst(at).prefix(3)) }
        self.init(
            x: number(0) * 2, y: number(3) * 2, size: PixelSize(width: number(6) + 1, height: number(9) + 1))
        delay = .milliseconds(number(12))
        let flags = WebPBytes.number(contents.dropFirst(15).prefix(1))
        (replaces, isCleared) = (flags & 2 != 0, flags & 1 != 0)
    }

    func fits(_ canvas: PixelSize) -> Bool { x + size.width <= canvas.width && y + size.height <= canvas.height }
}

enum WebPBytes {
    /// A number of up to seven bytes, the lowest first.
    static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
}
