#if AVIF || HEIF
    /// Finds boxes (ISO/IEC 14496-12, 4.2) and reads numbers in untrusted bytes. Each operation is bounded.
    struct BoxReader {
        struct Box {
            let type: String
            /// The position of its type.
            let typeField: Range<Int>
            let content: Range<Int>
        }

        /// Further boxes at the same level are ignored.
        private static let maxBoxes = 20_000
        let bytes: UnsafeRawBufferPointer

        /// The consecutive complete boxes in a range, after `skip` bytes; an invalid box ends the list.
        func boxes(in range: Range<Int>, skip: Int = 0) -> [Box] {
            var boxes: [Box] = []
            var at = min(range.lowerBound + skip, range.upperBound)
            while boxes.count < Self.maxBoxes, let (box, length) = head(at: at, in: range) {
                guard let length, length <= range.upperBound - at else { break }
                let start = at + contentOffset(at: at, in: range)
                boxes.append(Box(type: box, typeField: at + 4..<at + 8, content: start..<at + length))
                at += length
            }
            return boxes
        }

        /// The first box with a path of names.
        func first(_ path: [String], in range: Range<Int>) -> Range<Int>? {
            var range = range
            for name in path {
                guard let box = boxes(in: range).first(where: { $0.type == name }) else { return nil }
                range = box.content
            }
            return range
        }

        /// Type and length of the box at an offset; nil if its head is incomplete. The length is nil if it is
        /// impossible.
        func head(at offset: Int, in range: Range<Int>) -> (type: String, length: Int?)? {
            guard let short = integer(at: offset, 4, in: range), let type = name(at: offset + 4, in: range) else {
                return nil
            }
            switch short {
            case 0: return (type, range.upperBound - offset)
            case 1:
                guard offset <= range.upperBound - 16 else { return nil }
                let long = integer(at: offset + 8, 8, in: range)
                return (type, long.flatMap { $0 >= 16 ? $0 : nil })
            default: return (type, short >= 8 ? short : nil)
            }
        }

        func contentOffset(at offset: Int, in range: Range<Int>) -> Int {
            integer(at: offset, 4, in: range) == 1 ? 16 : 8
        }

        /// The content of a full box after its version and flags, which are nil if they are missing.
        func full(_ range: Range<Int>) -> (version: Int, flags: Int, rest: Range<Int>)? {
            guard let head = integer(at: range.lowerBound, 4, in: range) else { return nil }
            return (head >> 24, head & 0xFF_FFFF, range.lowerBound + 4..<range.upperBound)
        }

        /// A big-endian number; nil if it does not lie in the range or overflows.
        func integer(at offset: Int, _ length: Int, in range: Range<Int>) -> Int? {
            guard offset >= range.lowerBound, range.upperBound <= bytes.count, length >= 0,
                offset <= range.upperBound - length
            else { return nil }
            var value: UInt64 = 0
            for index in offset..<offset + length { value = value << 8 | UInt64(bytes[index]) }
            return Int(exactly: value)
        }

        /// A four-character code.
        func name(at offset: Int, in range: Range<Int>) -> String? {
            guard offset >= range.lowerBound, range.upperBound <= bytes.count, offset <= range.upperBound - 4 else {
                return nil
            }
            return String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
        }

        /// The first two zero-terminated texts of a range.
        func texts(in range: Range<Int>) -> [String] {
            guard range.upperBound <= bytes.count else { return [] }
            return bytes[range].split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).prefix(2).map {
                String(decoding: $0.prefix(100), as: UTF8.self)
            }
        }
    }
#endif
