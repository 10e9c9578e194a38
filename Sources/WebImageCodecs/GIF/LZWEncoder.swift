/// Compresses palette indices to a GIF's data (GIF89a specification, appendix F), divided into blocks.
struct LZWEncoder {
    private static let codes = 4096
    private static let slots = 1 << 14
    private static let empty = UInt32.max
    private static let longestBlock = 255

    private let codeSize: Int
    private var output: [UInt8]
    /// The position of the current block's length.
    private var block: Int
    private var bits: UInt32 = 0
    private var bitCount = 0
    private var width: Int

    /// Appends the code size, the data of all `indices`, and the block that ends it.
    ///
    /// - Parameter codeSize: the bits of an index, from 2 to 8.
    static func append(_ indices: [UInt8], codeSize: Int, to output: inout [UInt8]) {
        var encoder = LZWEncoder(codeSize, output)
        // Moved out, so that appending does not copy it.
        output = []
        indices.withUnsafeBufferPointer { encoder.write($0) }
        output = encoder.finished()
    }

    private init(_ codeSize: Int, _ output: [UInt8]) {
        self.codeSize = codeSize
        self.output = output
        self.output += [UInt8(codeSize), 0]
        block = self.output.count - 1
        width = codeSize + 1
    }

    private mutating func write(_ indices: UnsafeBufferPointer<UInt8>) {
        let clear = 1 << codeSize
        var next = clear + 2
        put(clear)
        // For each known string, one word with the code of all but its last index, that index, and its own code.
        let known = UnsafeMutablePointer<UInt32>.allocate(capacity: Self.slots)
        defer { known.deallocate() }
        known.initialize(repeating: Self.empty, count: Self.slots)
        guard var code = indices.first.map(Int.init) else { return put(clear + 1) }
        for index in indices.dropFirst() {
            let key = UInt32(truncatingIfNeeded: code) << 8 | UInt32(index)
            var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B1) >> 18)
            while known[slot] != Self.empty, known[slot] >> 12 != key { slot = (slot &+ 1) & (Self.slots &- 1) }
            if known[slot] != Self.empty {
                code = Int(known[slot] & 4095)
                continue
            }
            put(code)
            code = Int(index)
            if next < Self.codes {
                known[slot] = key << 12 | UInt32(truncatingIfNeeded: next)
                // A reader defines each code one step later than its writer.
                if next == 1 << width { width += 1 }
                next &+= 1
            } else {
                put(clear)
                known.update(repeating: Self.empty, count: Self.slots)
                (width, next) = (codeSize + 1, clear + 2)
            }
        }
        put(code)
        if next == 1 << width, width < 12 { width += 1 }
        put(clear + 1)
    }

    @inline(__always)
    private mutating func put(_ code: Int) {
        bits |= UInt32(truncatingIfNeeded: code) << UInt32(truncatingIfNeeded: bitCount)
        bitCount &+= width
        while bitCount >= 8 {
            append(UInt8(truncatingIfNeeded: bits))
            bits >>= 8
            bitCount &-= 8
        }
    }

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        output.append(byte)
        if output.count &- block > Self.longestBlock { endBlock() }
    }

    private mutating func endBlock() {
        output[block] = UInt8(output.count - block - 1)
        block = output.count
        output.append(0)
    }

    private mutating func finished() -> [UInt8] {
        if bitCount > 0 { append(UInt8(truncatingIfNeeded: bits)) }
        // A block of length zero ends the data.
        if output.count - block > 1 { endBlock() }
        return output
    }
}
