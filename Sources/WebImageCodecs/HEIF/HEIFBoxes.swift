#if HEIF
    import WebImageCore

    /// What libheif 1.15 does not tell of a file: how its primary item is to be turned, and whether a box at the top
    /// goes on beyond the end of the data. Any bytes give an answer; each is looked at a few times at most.
    struct HEIFBoxes {
        private(set) var transforms = ItemTransforms()
        private(set) var isCut = false
        /// True without the box that describes the pictures, and without one for their data: an ordinary file that ends
        /// between two boxes.
        private(set) var lacksBoxes = true

        private struct Box {
            let type: UInt32
            let content: Range<Int>
        }

        /// More boxes than these at one level are not looked at.
        private static let mostBoxes = 10_000
        private let bytes: UnsafeRawBufferPointer

        init(_ bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
            let (boxes, isCut) = boxes(in: 0..<bytes.count)
            self.isCut = isCut
            lacksBoxes = !["meta", "mdat"].allSatisfy { name in boxes.contains { $0.type == Self.code(name) } }
            guard let meta = boxes.first(where: { $0.type == Self.code("meta") }) else { return }
            // After the version and flags of a full box (ISO/IEC 14496-12, 4.2).
            let parts = self.boxes(in: self.rest(of: meta.content, after: 4)).boxes
            guard let primary = parts.first(where: { $0.type == Self.code("pitm") }).flatMap({ primaryItem(in: $0) }),
                let properties = parts.first(where: { $0.type == Self.code("iprp") })
            else { return }
            let lists = self.boxes(in: properties.content).boxes
            guard let container = lists.first(where: { $0.type == Self.code("ipco") }) else { return }
            let all = self.boxes(in: container.content).boxes
            for list in lists where list.type == Self.code("ipma") {
                // The properties apply in the order of their association (ISO/IEC 23008-12, 6.5.1).
                for index in associations(of: primary, in: list.content) where index >= 1 && index <= all.count {
                    apply(all[index - 1])
                }
            }
        }

        private mutating func apply(_ property: Box) {
            guard let byte = integer(at: property.content.lowerBound, 1, in: property.content) else { return }
            if property.type == Self.code("irot") { transforms.turn(byte & 3) }
            if property.type == Self.code("imir") { transforms.mirror(axis: byte & 1) }
        }

        private func primaryItem(in box: Box) -> Int? {
            guard let version = integer(at: box.content.lowerBound, 1, in: box.content) else { return nil }
            return integer(at: box.content.lowerBound + 4, version == 0 ? 2 : 4, in: box.content)
        }

        /// The numbers, from 1, of the properties that an `ipma` box (ISO/IEC 23008-12, 9.3) gives an item.
        private func associations(of item: Int, in box: Range<Int>) -> [Int] {
            guard let head = integer(at: box.lowerBound, 4, in: box),
                let count = integer(at: box.lowerBound + 4, 4, in: box)
            else { return [] }
            let (idLength, length) = (head >> 24 == 0 ? 2 : 4, head & 1 == 0 ? 1 : 2)
            var at = box.lowerBound + 8
            for _ in 0..<count {
                guard let id = integer(at: at, idLength, in: box), let number = integer(at: at + idLength, 1, in: box)
                else { return [] }
                at += idLength + 1
                if id == item {
                    // The topmost bit says only whether a reader must know the property.
                    return (0..<number).compactMap { index in
                        integer(at: at + index * length, length, in: box).map { $0 & (length == 1 ? 0x7F : 0x7FFF) }
                    }
                }
                at += number * length
            }
            return []
        }

        /// The boxes that lie in a range one after the other, and whether the last one is longer than the range.
        private func boxes(in range: Range<Int>) -> (boxes: [Box], isCut: Bool) {
            var boxes: [Box] = []
            var at = range.lowerBound
            while at < range.upperBound, boxes.count < Self.mostBoxes {
                guard var length = integer(at: at, 4, in: range), let type = integer(at: at + 4, 4, in: range) else {
                    return (boxes, true)
                }
                var head = 8
                if length == 1 {
                    guard let long = integer(at: at + 8, 8, in: range) else { return (boxes, true) }
                    (length, head) = (long, 16)
                } else if length == 0 {
                    length = range.upperBound - at
                }
                guard length >= head else { return (boxes, false) }
                guard length <= range.upperBound - at else { return (boxes, true) }
                boxes.append(Box(type: UInt32(truncatingIfNeeded: type), content: at + head..<at + length))
                at += length
            }
            return (boxes, false)
        }

        private func rest(of range: Range<Int>, after count: Int) -> Range<Int> {
            min(range.lowerBound + count, range.upperBound)..<range.upperBound
        }

        /// A big-endian number; nil when it does not lie in the range or does not fit.
        private func integer(at offset: Int, _ length: Int, in range: Range<Int>) -> Int? {
            guard offset >= range.lowerBound, offset <= range.upperBound - length else { return nil }
            return Int(exactly: bytes[offset..<offset + length].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }

        private static func code(_ name: String) -> UInt32 {
            name.utf8.reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
#endif
