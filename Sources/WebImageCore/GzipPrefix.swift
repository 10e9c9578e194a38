/// Decompresses the first bytes of a gzip stream (RFC 1951, RFC 1952): enough to recognise an SVG document.
///
/// It exists only because sniffing must not depend on a C library; decoders use zlib. It accepts any bytes.
enum GzipPrefix {
    static func inflate(_ bytes: UnsafeRawBufferPointer, limit: Int) -> [UInt8] {
        guard let start = endOfHeader(bytes) else { return [] }
        var inflater = Inflater(bytes: UnsafeRawBufferPointer(rebasing: bytes[start...]), limit: limit)
        inflater.run()
        return inflater.output
    }

    private static func endOfHeader(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 10 else { return nil }
        let flags = bytes[3]
        var at = 10
        if flags & 4 != 0 {
            guard at + 2 <= bytes.count else { return nil }
            at += 2 + Int(bytes[at]) + Int(bytes[at + 1]) << 8
        }
        for flag: UInt8 in [8, 16] where flags & flag != 0 {
            while at < bytes.count, bytes[at] != 0 { at += 1 }
            at += 1
        }
        if flags & 2 != 0 { at += 2 }
        return at < bytes.count ? at : nil
    }
}

private struct Inflater {
    private struct EndOfInput: Error {}

    private let bytes: UnsafeRawBufferPointer
    private let limit: Int
    private var at = 0
    private var bits: UInt32 = 0
    private var bitCount = 0
    private(set) var output: [UInt8] = []

    init(bytes: UnsafeRawBufferPointer, limit: Int) {
        self.bytes = bytes
        self.limit = limit
    }

    mutating func run() {
        do {
            var isLast = false
            while !isLast, output.count < limit {
                isLast = try read(1) == 1
                switch try read(2) {
                case 0: try copyStored()
                case 1: try inflateBlock(literals: Self.fixedLiterals, distances: Self.fixedDistances)
                case 2: try inflateDynamicBlock()
                default: return
                }
            }
        } catch {
            return  // the bytes decompressed so far are the result
        }
    }

    private mutating func read(_ count: Int) throws(EndOfInput) -> Int {
        while bitCount < count {
            guard at < bytes.count else { throw EndOfInput() }
            bits |= UInt32(bytes[at]) << UInt32(bitCount)
            at += 1
            bitCount += 8
        }
        let value = bits & ((1 << UInt32(count)) - 1)
        bits >>= UInt32(count)
        bitCount -= count
        return Int(value)
    }

    private mutating func copyStored() throws(EndOfInput) {
        (bits, bitCount) = (0, 0)
        var length = try read(16)
        _ = try read(16)
        while length > 0, output.count < limit {
            output.append(UInt8(try read(8)))
            length -= 1
        }
    }

    private mutating func symbol(_ code: HuffmanCode) throws(EndOfInput) -> Int {
        var (value, first, index) = (0, 0, 0)
        for length in 1...15 {
            value |= try read(1)
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw EndOfInput()
    }

    private mutating func inflateBlock(literals: HuffmanCode, distances: HuffmanCode) throws(EndOfInput) {
        while output.count < limit {
            let symbol = try symbol(literals)
            if symbol < 256 {
                output.append(UInt8(symbol))
                continue
            }
            guard symbol > 256, symbol - 257 < Self.lengthBase.count else {
                if symbol == 256 { return }
                throw EndOfInput()
            }
            let length = Self.lengthBase[symbol - 257] + (try read(Self.lengthExtra[symbol - 257]))
            let distanceSymbol = try self.symbol(distances)
            guard distanceSymbol < Self.distanceBase.count else { throw EndOfInput() }
            let distance =
                Self.distanceBase[distanceSymbol] + (try read(distanceSymbol < 4 ? 0 : distanceSymbol / 2 - 1))
            guard distance <= output.count else { throw EndOfInput() }
            for _ in 0..<min(length, limit - output.count) { output.append(output[output.count - distance]) }
        }
    }

    private mutating func inflateDynamicBlock() throws(EndOfInput) {
        let literalCount = try read(5) + 257
        let distanceCount = try read(5) + 1
        let lengthCount = try read(4) + 4
        var codeLengths = [Int](repeating: 0, count: 19)
        for index in 0..<lengthCount { codeLengths[Self.lengthOrder[index]] = try read(3) }
        let lengthCode = HuffmanCode(lengths: codeLengths[...])
        var lengths: [Int] = []
        while lengths.count < literalCount + distanceCount {
            switch try symbol(lengthCode) {
            case 16:
                guard let last = lengths.last else { throw EndOfInput() }
                lengths += repeatElement(last, count: 3 + (try read(2)))
            case 17: lengths += repeatElement(0, count: 3 + (try read(3)))
            case 18: lengths += repeatElement(0, count: 11 + (try read(7)))
            case let length: lengths.append(length)
            }
        }
        try inflateBlock(
            literals: HuffmanCode(lengths: lengths[..<literalCount]),
            distances: HuffmanCode(lengths: lengths[literalCount..<literalCount + distanceCount]))
    }

    private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let lengthBase = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthExtra = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBase = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145,
        8193, 12289, 16385, 24577,
    ]
    private static let fixedLiterals = HuffmanCode(
        lengths: ([Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112) + [Int](repeating: 7, count: 24)
            + [Int](repeating: 8, count: 8))[...])
    private static let fixedDistances = HuffmanCode(lengths: [Int](repeating: 5, count: 30)[...])
}

/// A canonical Huffman code: how many codes of each length there are, and their symbols in order.
private struct HuffmanCode: Sendable {
    var counts = [Int](repeating: 0, count: 16)
    var symbols: [Int]

    init(lengths: ArraySlice<Int>) {
        for length in lengths where length > 0 { counts[length] += 1 }
        var offsets = [Int](repeating: 0, count: 17)
        for length in 1...15 { offsets[length + 1] = offsets[length] + counts[length] }
        symbols = [Int](repeating: 0, count: max(offsets[16], 1))
        for (symbol, length) in lengths.enumerated() where length > 0 {
            symbols[offsets[length]] = symbol
            offsets[length] += 1
        }
    }
}
