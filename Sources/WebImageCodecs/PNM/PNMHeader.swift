import WebImageCore

/// What the text before the samples of a PNM picture says.
struct PNMHeader: Equatable {
    enum Samples {
        /// Digits, 0 for white and 1 for black; nothing need stand between them.
        case textBits
        case textNumbers
        /// Eight to a byte, the highest bit first, 1 for black; each row begins a byte.
        case bits
        /// One byte each, or two (the higher first) when ``PNMHeader/most`` needs them.
        case bytes
    }

    var samples: Samples
    var size: PixelSize
    /// Samples of one pixel: 1 grey, 2 grey and alpha, 3 colours, 4 colours and alpha.
    var channels = 1
    /// The sample that means white, 1 to 65 535.
    var most = 1

    var hasAlpha: Bool { channels == 2 || channels == 4 }
    var bitDepth: Int { Int.bitWidth - most.leadingZeroBitCount }
    var samplesPerRow: Int { size.width * channels }

    /// Bytes of a row that is not text.
    var bytesPerRow: Int {
        samples == .bits ? (size.width + 7) / 8 : samplesPerRow * (most > 255 ? 2 : 1)
    }
}

/// Reads a PNM header byte by byte (Netpbm's pbm(5), pgm(5), ppm(5) and pam(5)).
struct PNMHeaderParser {
    private var kind: UInt8?
    private var count = 0
    private var isComment = false
    private var number: Int?
    private var numbers: [Int] = []
    private var fields = PAMFields()

    /// - Returns: the header with its last byte; the samples follow.
    /// - Throws: `corruptData`, `unsupportedFeature`.
    mutating func push(_ byte: UInt8) throws(WebImageError) -> PNMHeader? {
        count = min(count + 1, 3)
        switch count {
        case 1: guard byte == UInt8(ascii: "P") else { throw PNMHeader.corrupt("it does not begin with P") }
        case 2:
            guard (UInt8(ascii: "1")...UInt8(ascii: "7")).contains(byte) else {
                throw PNMHeader.corrupt("its kind is none of P1 to P7")
            }
            kind = byte - UInt8(ascii: "0")
        default: return kind == 7 ? try fields.push(byte) : try take(byte)
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) throws(WebImageError) -> PNMHeader? {
        let isLineEnd = byte == 10 || byte == 13
        if isComment, !isLineEnd { return nil }
        isComment = byte == UInt8(ascii: "#")
        guard !isComment else { return nil }
        guard PNMHeader.isSpace(byte) else {
            number = try PNMHeader.append(byte, to: number)
            return nil
        }
        if let number { numbers.append(number) }
        number = nil
        return numbers.count == (isBitmap ? 2 : 3) ? try header() : nil
    }

    private var isBitmap: Bool { kind == 1 || kind == 4 }

    private func header() throws(WebImageError) -> PNMHeader {
        let samples: PNMHeader.Samples =
            switch kind {
            case 1: .textBits
            case 2, 3: .textNumbers
            case 4: .bits
            default: .bytes
            }
        var header = PNMHeader(samples: samples, size: PixelSize(width: numbers[0], height: numbers[1]))
        header.channels = kind == 3 || kind == 6 ? 3 : 1
        if !isBitmap { header.most = try PNMHeader.checked(most: numbers[2]) }
        return header
    }
}

extension PNMHeader {
    static func corrupt(_ reason: String) -> WebImageError {
        WebImageError(.corruptData, "the PNM picture is damaged: \(reason)", format: .pnm)
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// A number with one more digit; no number of these formats has more than ten.
    static func append(_ byte: UInt8, to number: Int?) throws(WebImageError) -> Int {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
            throw corrupt("byte \(byte) stands where a number belongs")
        }
        let value = (number ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
        guard value <= Int(UInt32.max) else { throw corrupt("a number is too large") }
        return value
    }

    static func checked(most: Int) throws(WebImageError) -> Int {
        guard (1...65_535).contains(most) else { throw corrupt("its largest sample is said to be \(most)") }
        return most
    }
}
