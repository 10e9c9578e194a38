#if AVIF || HEIF
    /// Finds boxes (ISO/IEC 14496-12, 4.2) and reads numbers in bytes of which nothing is believed. Each look is bounded.
    struct BoxReader {
        struct Box {
            let type: String
            /// Where its type stands.
            let typeField: Range<Int>
            let content: Range<Int>
        }

        /// More boxes than these at one level are not looked at.
        private static let mostBoxes = 20_000
        let bytes: UnsafeRawBufferPointer

        /// The boxes that lie whole in a range one after the other, behind `skip` bytes; what is no box ends the list.
        func boxes(in range: Range<Int>, skip: Int = 0) -> [Box] {
            var boxes: [Box] = []
            var at = min(range.lowerBound + skip, range.upperBound)
            while boxes.count < Self.mostBoxes, let (box, length) = head(at: at, in: range) {
                guard let length, length <= range.upperBound - at else { break }
                let start = at + contentOffset(at: at, in: range)
                boxes.append(Box(type: box, typeField: at + 4..<at + 8, content: start..<at + length))
                at += length
            }
            return boxes
        }

        /// The first box at the end of a path of names.
        func first(_ path: [String], in range: Range<Int>) -> Range<Int>? {
            var range = range
            for name in path {
                guard let box = boxes(in: range).first(where: { $0.type == name }) else { return nil }
                range = box.content
            }
            return range
        }

        /// The type of the box that begins at an offset, and its length; nil when its head is not there. A length of nil
        /// is one that cannot be.
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

        /// The content of a full box after its version and flags, which are nil where they are not there.
        func full(_ range: Range<Int>) -> (version: Int, flags: Int, rest: Range<Int>)? {
            guard let head = integer(at: range.lowerBound, 4, in: range) else { return nil }
            return (head >> 24, head & 0xFF_FFFF, range.lowerBound + 4..<range.upperBound)
        }

        /// A big-endian number; nil when it does not lie in the range or does not fit.
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

        /// The first two texts of a range, each with a zero behind it.
        func texts(in range: Range<Int>) -> [String] {
            guard range.upperBound <= bytes.count else { return [] }
            return bytes[range].split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).prefix(2).map {
                String(decoding: $0.prefix(100), as: UTF8.self)
            }
        }
    }
#endif
