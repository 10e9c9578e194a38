/// Turns a GIF's compressed data into palette indices as it comes (GIF89a specification, appendix F).
final class LZWDecoder {
    enum State {
        case running
        /// The end code was read.
        case ended
        /// A code came that stands for nothing.
        case damaged
    }

    /// The code sizes that a file may begin with; a larger one leaves no room for other codes.
    static let codeSizes = 1...11

    private static let codes = 4096
    private static let longestCode = 12
    private static let outputLength = 16 << 10

    private(set) var state = State.running
    /// For each code the code of all but its last index << 16, its first index << 8, its last index.
    private let entries: UnsafeMutablePointer<UInt32>
    /// How many indices each code stands for.
    private let lengths: UnsafeMutablePointer<UInt16>
    private let output: UnsafeMutablePointer<UInt8>
    private let clear: Int
    private let firstWidth: Int
    private var width: Int
    private var next: Int
    /// The code before; negative after a clear code.
    private var previous = -1
    private var bits: UInt32 = 0
    private var bitCount = 0

    /// - Parameter codeSize: one of ``codeSizes``.
    init(codeSize: Int) {
        entries = .allocate(capacity: Self.codes)
        lengths = .allocate(capacity: Self.codes)
        output = .allocate(capacity: Self.outputLength)
        entries.initialize(repeating: 0, count: Self.codes)
        lengths.initialize(repeating: 1, count: Self.codes)
        output.initialize(repeating: 0, count: Self.outputLength)
        clear = 1 << codeSize
        firstWidth = codeSize + 1
        width = firstWidth
        next = clear + 2
        for index in 0..<clear { entries[index] = UInt32(index & 255) << 8 | UInt32(index & 255) }
    }

    deinit {
        entries.deallocate()
        lengths.deallocate()
        output.deallocate()
    }

    /// Decodes some of `input` and takes it off; empty when all of it is used up or the state is not `running`.
    ///
    /// - Returns: indices, valid until the next call.
    func decode(_ input: inout UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        guard let source = input.baseAddress, state == .running else {
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        let (count, room) = (input.count, Self.outputLength - Self.codes)
        var (position, written) = (0, 0)
        var (bits, bitCount, width, next, previous) = (self.bits, self.bitCount, self.width, self.next, self.previous)
        decoding: while written <= room {
            while bitCount < width {
                guard position < count else { break decoding }
                bits |= UInt32(source[position]) << UInt32(truncatingIfNeeded: bitCount)
                bitCount &+= 8
                position &+= 1
            }
            let code = Int(bits & (1 &<< UInt32(truncatingIfNeeded: width) &- 1))
            bits &>>= UInt32(truncatingIfNeeded: width)
            bitCount &-= width
            if code == clear {
                (width, next, previous) = (firstWidth, clear + 2, -1)
                continue
            }
            if code == clear + 1 {
                state = .ended
                break
            }
            guard previous < 0 ? code < clear : code <= next else {
                state = .damaged
                break
            }
            if previous >= 0, next < Self.codes {
                let first = entries[previous] >> 8 & 255
                // A code may stand for what it is just being made of: the string before and its first index again.
                let last = code == next ? first : entries[code] >> 8 & 255
                entries[next] = UInt32(truncatingIfNeeded: previous) &<< 16 | first &<< 8 | last
                lengths[next] = lengths[previous] &+ 1
                next &+= 1
                if next == 1 &<< width, width < Self.longestCode { width &+= 1 }
            }
            written = write(code, at: written)
            previous = code
        }
        (self.bits, self.bitCount, self.width, self.next, self.previous) = (bits, bitCount, width, next, previous)
        input = UnsafeBufferPointer(rebasing: input[position...])
        return UnsafeBufferPointer(start: output, count: written)
    }

    /// Writes a code's indices, the last one first, and returns where they end.
    @inline(__always)
    private func write(_ code: Int, at start: Int) -> Int {
        let end = start &+ Int(lengths[code])
        var (at, walk) = (end, code)
        repeat {
            at &-= 1
            let entry = entries[walk]
            output[at] = UInt8(truncatingIfNeeded: entry)
            walk = Int(entry >> 16)
        } while at > start
        return end
    }
}
