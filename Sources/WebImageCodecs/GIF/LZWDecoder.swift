/// Decompresses a GIF's data to palette indices as it arrives (GIF89a specification, appendix F).
final class LZWDecoder {
    enum State {
        case running
        /// The end code was read.
        case ended
        /// An undefined code was read.
        case damaged
    }

    /// The valid code sizes at the beginning; a larger one leaves no room for other codes.
    static let codeSizes = 1...11

    private static let codes = 4096
    private static let longestCode = 12
    private static let outputLength = 16 << 10
    /// How many indices are written at a time.
    private static let chunk = MemoryLayout<UInt64>.size

    /// The indices of a code. Stored in chunks of eight, so that most codes are written with one store and no loop.
    private struct Entry {
        /// The last one to eight indices, the first in the lowest byte.
        var tail: UInt64
        /// The code of the indices before the tail, if there are any.
        var before: UInt16
        var length: UInt16
        var first: UInt8
    }

    private(set) var state = State.running
    private let entries: UnsafeMutablePointer<Entry>
    private let output: UnsafeMutableRawPointer
    private let clear: Int
    private let firstWidth: Int
    private var width: Int
    private var next: Int
    /// The previous code; negative after a clear code.
    private var previous = -1
    private var bits: UInt64 = 0
    private var bitCount = 0

    /// - Parameter codeSize: one of ``codeSizes``.
    init(codeSize: Int) {
        entries = .allocate(capacity: Self.codes)
        entries.initialize(repeating: Entry(tail: 0, before: 0, length: 1, first: 0), count: Self.codes)
        output = .allocate(byteCount: Self.outputLength, alignment: 16)
        clear = 1 << codeSize
        firstWidth = codeSize + 1
        width = firstWidth
        next = clear + 2
        for index in 0..<clear {
            entries[index].tail = UInt64(index & 255)
            entries[index].first = UInt8(index & 255)
        }
    }

    deinit {
        entries.deallocate()
        output.deallocate()
    }

    /// Decodes a part of `input` and removes it; `input` is empty when all of it is used up or the state is not
    /// `running`.
    ///
    /// - Returns: indices, valid until the next call.
    func decode(_ input: inout UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        guard let source = input.baseAddress, state == .running else {
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        let (count, room) = (input.count, Self.outputLength - Self.codes - Self.chunk)
        var (position, written) = (0, 0)
        var (bits, bitCount, width, next, previous) = (self.bits, self.bitCount, self.width, self.next, self.previous)
        decoding: while written <= room {
            if bitCount < width {
                if count &- position >= 8 {
                    // Fills up to at least 56 bits; the bits above `bitCount` are loaded again, unchanged, with the
                    // next load.
                    let word = UnsafeRawPointer(source + position).loadUnaligned(as: UInt64.self).littleEndian
                    bits |= word &<< UInt64(truncatingIfNeeded: bitCount)
                    position &+= (63 &- bitCount) &>> 3
                    bitCount |= 56
                } else {
                    while bitCount < 56, position < count {
                        bits |= UInt64(source[position]) &<< UInt64(truncatingIfNeeded: bitCount)
                        bitCount &+= 8
                        position &+= 1
                    }
                    guard bitCount >= width else { break decoding }
                }
            }
            let code = Int(bits & (1 &<< UInt64(truncatingIfNeeded: width) &- 1))
            bits &>>= UInt64(truncatingIfNeeded: width)
            bitCount &-= width
            if code &- clear == 0 {
                (width, next, previous) = (firstWidth, clear + 2, -1)
                continue
            }
            if code &- clear == 1 {
                state = .ended
                break
            }
            guard previous < 0 ? code < clear : code <= next else {
                state = .damaged
                break
            }
            if previous >= 0, next < Self.codes {
                // A code may be used while it is being defined: the previous string and its first index again.
                let last = code == next ? entries[previous].first : entries[code].first
                entries[next] = entry(previous, and: last)
                next &+= 1
                if next == 1 &<< width, width < Self.longestCode { width &+= 1 }
            }
            written = write(code, at: written)
            previous = code
        }
        (self.bits, self.bitCount, self.width, self.next, self.previous) = (bits, bitCount, width, next, previous)
        input = UnsafeBufferPointer(rebasing: input[position...])
        return UnsafeBufferPointer(start: UnsafePointer(output.assumingMemoryBound(to: UInt8.self)), count: written)
    }

    /// The entry of a code's indices and one more.
    @inline(__always)
    private func entry(_ code: Int, and last: UInt8) -> Entry {
        var entry = entries[code]
        let used = Int(entry.length) & (Self.chunk - 1)
        if used == 0 {
            entry.tail = UInt64(last)
            entry.before = UInt16(truncatingIfNeeded: code)
        } else {
            entry.tail |= UInt64(last) &<< UInt64(truncatingIfNeeded: used &* 8)
        }
        entry.length &+= 1
        return entry
    }

    /// Writes a code's indices, the last ones first, and returns their end. May overwrite up to seven bytes after them.
    @inline(__always)
    private func write(_ code: Int, at start: Int) -> Int {
        var entry = entries[code]
        let end = start &+ Int(entry.length)
        var at = start &+ (Int(entry.length) &- 1) & ~(Self.chunk - 1)
        output.storeBytes(of: entry.tail.littleEndian, toByteOffset: at, as: UInt64.self)
        while at > start {
            at &-= Self.chunk
            entry = entries[Int(entry.before)]
            output.storeBytes(of: entry.tail.littleEndian, toByteOffset: at, as: UInt64.self)
        }
        return end
    }
}
