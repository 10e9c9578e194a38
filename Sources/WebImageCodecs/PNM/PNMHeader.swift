import WebImageCore

/// The information in the text before the samples of a PNM picture.
struct PNMHeader: Equatable {
    enum Samples: Equatable {
        /// Digits, 0 for white and 1 for black, with or without spaces between them.
        case textBits
        case textNumbers
        /// Eight to a byte, the highest bit first, 1 for black; each row begins a byte.
        case bits
        /// One byte each, or two (the higher first) when ``PNMHeader/most`` needs them.
        case bytes
        /// Four bytes each, from 0 to 1 in linear light; the last row comes first.
        case floats(isLittleEndian: Bool)
    }

    var samples: Samples
    var size: PixelSize
    /// Samples of one pixel: 1 grey, 2 grey and alpha, 3 colours, 4 colours and alpha.
    var channels = 1
    /// The sample that means white, 1 to 65 535.
    var most = 1

    var hasAlpha: Bool { channels == 2 || channels == 4 }
    var hasFloats: Bool { if case .floats = samples { true } else { false } }
    var bitDepth: Int { Int.bitWidth - most.leadingZeroBitCount }
    var samplesPerRow: Int { size.width * channels }

    /// Bytes of a row that is not text.
    var bytesPerRow: Int {
        samples == .bits ? (size.width + 7) / 8 : samplesPerRow * (hasFloats ? 4 : most > 255 ? 2 : 1)
    }
}

/// Reads a PNM header byte by byte (Netpbm's pbm(5), pgm(5), ppm(5), pfm(5) and pam(5)).
struct PNMHeaderParser {
    private var kind: UInt8?
    private var count = 0
    private var isComment = false
    private var number: Int?
    private var numbers: [Int] = []
    private var fields = PAMFields()
    /// The last number of a PFM.
    private var scale: [UInt8] = []

    /// - Returns: the header with its last byte; the samples follow.
    /// - Throws: `corruptData`, `unsupportedFeature`.
    mutating func push(_ byte: UInt8) throws(WebImageError) -> PNMHeader? {
        count = min(count + 1, 3)
        switch count {
        case 1: guard byte == UInt8(ascii: "P") else { throw PNMHeader.corrupt("it does not begin with P") }
        case 2:
            guard Array("1234567Ff".utf8).contains(byte) else {
                throw PNMHeader.corrupt("its kind is none of P1 to P7, PF and Pf")
            }
            kind = byte
        default: return kind == UInt8(ascii: "7") ? try fields.push(byte) : try take(byte)
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) throws(WebImageError) -> PNMHeader? {
        if hasFloats, numbers.count == 2 { return try takeScale(byte) }
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

    /// Reads the scale of a PFM. Its sign states the order of bytes; its value, the unit of the samples, is not used.
    private mutating func takeScale(_ byte: UInt8) throws(WebImageError) -> PNMHeader? {
        guard PNMHeader.isSpace(byte) else {
            scale.append(byte)
            guard scale.count <= 64 else { throw PNMHeader.corrupt("a number is too long") }
            return nil
        }
        guard !scale.isEmpty else { return nil }
        guard let value = Double(String(decoding: scale, as: UTF8.self)), value.isFinite, value != 0 else {
            throw PNMHeader.corrupt("its scale is no number")
        }
        return try header(.floats(isLittleEndian: value < 0))
    }

    private var isBitmap: Bool { kind == UInt8(ascii: "1") || kind == UInt8(ascii: "4") }
    private var hasFloats: Bool { kind == UInt8(ascii: "F") || kind == UInt8(ascii: "f") }
    private var hasColors: Bool { kind.map { Array("36F".utf8).contains($0) } ?? false }

    private func header() throws(WebImageError) -> PNMHeader {
        switch kind {
        case UInt8(ascii: "1"): try header(.textBits)
        case UInt8(ascii: "2"), UInt8(ascii: "3"): try header(.textNumbers)
        case UInt8(ascii: "4"): try header(.bits)
        default: try header(.bytes)
        }
    }

    private func header(_ samples: PNMHeader.Samples) throws(WebImageError) -> PNMHeader {
        var header = PNMHeader(samples: samples, size: PixelSize(width: numbers[0], height: numbers[1]))
        header.channels = hasColors ? 3 : 1
        if !isBitmap { header.most = hasFloats ? 65_535 : try PNMHeader.checked(most: numbers[2]) }
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
