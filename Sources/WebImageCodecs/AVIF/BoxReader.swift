#if AVIF
    /// Finds boxes (ISO/IEC 14496-12, 4.2) and reads numbers in bytes of which nothing is believed. Each look is bounded.
    struct BoxReader {
        struct Box {
            let type: UInt32
            let content: Range<Int>
        }

        /// More boxes than these at one level are not looked at.
        private static let mostBoxes = 10_000
        let bytes: UnsafeRawBufferPointer

        /// The boxes that lie whole in a range, one after the other; `skip` bytes come before them.
        func boxes(in range: Range<Int>, skip: Int = 0) -> [Box] {
            var boxes: [Box] = []
            var at = min(range.lowerBound + skip, range.upperBound)
            while boxes.count < Self.mostBoxes, var length = integer(at: at, 4, in: range),
                let type = integer(at: at + 4, 4, in: range)
            {
                var head = 8
                if length == 1 {
                    guard let long = integer(at: at + 8, 8, in: range) else { break }
                    (length, head) = (long, 16)
                } else if length == 0 {
                    length = range.upperBound - at
                }
                guard length >= head, length <= range.upperBound - at else { break }
                boxes.append(Box(type: UInt32(truncatingIfNeeded: type), content: at + head..<at + length))
                at += length
            }
            return boxes
        }

        /// The first box at the end of a path of names.
        func first(_ path: [String], in range: Range<Int>) -> Range<Int>? {
            var range = range
            for name in path {
                let code = Self.code(name)
                guard let box = boxes(in: range).first(where: { $0.type == code }) else { return nil }
                range = box.content
            }
            return range
        }

        /// A big-endian number; nil when it does not lie in the range or does not fit.
        func integer(at offset: Int, _ length: Int, in range: Range<Int>) -> Int? {
            guard offset >= range.lowerBound, offset <= range.upperBound - length else { return nil }
            return Int(exactly: bytes[offset..<offset + length].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }

        static func code(_ name: String) -> UInt32 {
            name.utf8.reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
#endif
