#if JXL
    import WebImageCore

    /// Scans the boxes of a JPEG XL file (ISO/IEC 18181-2) as its bytes arrive and keeps those with EXIF and XMP.
    ///
    /// libjxl can return them too, but then the decode of the picture would wait for them.
    struct JXLBoxReader {
        private enum State {
            case signature
            case header
            case keeping(name: String, length: Int)
            case skipping(rest: Int)
            /// A bare codestream, a box without an end, or an invalid box.
            case ended
        }

        private(set) var exif: [UInt8]?
        private(set) var xmp: [UInt8]?
        /// The kinds of which a compressed box was read.
        private var decompressed: Set<String> = []
        private var state = State.signature
        private var collected = ByteCollector()
        private let limit: Int
        private static let signature: [UInt8] = [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]

        init(limit: Int) { self.limit = limit }

        /// Whether further boxes may come.
        var isOpen: Bool { if case .ended = state { false } else { true } }

        mutating func push(_ bytes: UnsafeBufferPointer<UInt8>) {
            var input = bytes
            while isOpen, !input.isEmpty {
                switch state {
                case .ended: return
                case .signature:
                    guard collected.collect(Self.signature.count, &input) else { return }
                    state = collected.bytes == Self.signature ? .header : .ended
                    collected.removeAll()
                case .header: readHeader(&input)
                case .keeping(let name, let length):
                    if collected.collect(length, &input) { endBox(name) }
                case .skipping(let rest):
                    let count = min(rest, input.count)
                    input = UnsafeBufferPointer(rebasing: input.dropFirst(count))
                    state = count == rest ? .header : .skipping(rest: rest - count)
                }
            }
        }

        /// The length and name of a box, of 8 or 16 bytes.
        private mutating func readHeader(_ input: inout UnsafeBufferPointer<UInt8>) {
            guard collected.collect(8, &input) else { return }
            var length = UInt64(number(0, 4))
            if length == 1 {
                guard collected.collect(16, &input) else { return }
                length = number(8, 8)
            }
            let (name, header) = (String(decoding: collected.bytes[4..<8], as: UTF8.self), UInt64(collected.count))
            collected.removeAll()
            guard length >= header, let rest = Int(exactly: length - header) else {
                state = .ended
                return
            }
            let isWanted = ["Exif", "xml ", "brob"].contains(name) && rest <= limit
            state = isWanted ? .keeping(name: name, length: rest) : .skipping(rest: rest)
            if rest == 0 { state = .header }
        }

        private mutating func endBox(_ name: String) {
            let contents = collected.take()
            state = .header
            var (name, plain) = (name, contents)
            if name == "brob" {
                name = String(decoding: contents.prefix(4), as: UTF8.self)
                let isKnown = name == "xml " ? xmp != nil : exif != nil
                // Each could take as long as the limit for metadata allows.
                guard ["Exif", "xml "].contains(name), !isKnown, decompressed.insert(name).inserted else { return }
                plain = JXLCompressedBox.contents(of: contents, limit: limit) ?? []
            }
            if name == "xml " { if xmp == nil { xmp = plain } } else { takeEXIF(plain) }
        }

        /// The first four bytes are the offset of the block from their end.
        private mutating func takeEXIF(_ bytes: [UInt8]) {
            guard exif == nil, bytes.count > 4 else { return }
            let offset = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
            if offset < bytes.count - 4 { exif = Array(bytes[(4 + offset)...]) }
        }

        private func number(_ start: Int, _ count: Int) -> UInt64 {
            collected.bytes[start..<start + count].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
#endif
