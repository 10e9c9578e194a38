#if AVIF || HEIF
    import WebImageCore

    /// The contents of a file's `meta` box: its items, their properties, the positions of their data, and their
    /// references (ISO/IEC 14496-12, 8.11, and 23008-12, 9.3). Values are only looked up by number; references are not
    /// followed here.
    struct HEIFItems {
        struct Item {
            var type = ""
            /// The content type of a `mime` item.
            var contentType: String?
            var isHidden = false
            /// The indices of its properties, from 0, in order.
            var properties: [Int] = []
            var location: Location?
        }

        struct Location {
            /// 0: offsets in the file; 1: in the `idat` box.
            let method: Int
            let extents: [(offset: Int, length: Int)]
        }

        struct Reference {
            let type: String
            let from: Int
            let to: [Int]
            /// The position of its type in the file.
            let typeField: Range<Int>
        }

        static let maxItems = 10_000
        /// A grid refers to each of its tiles.
        static let maxReferences = 65_536
        /// libheif's own limit.
        static let maxExtents = 32

        /// The boxes in the bytes so far; must be set again when more bytes have arrived.
        var boxes: BoxReader
        /// The picture to decode.
        private(set) var primary: Int?
        /// The position in the file of the primary picture's number.
        private(set) var primaryField: Range<Int>?
        /// The picture of which the primary one is a thumbnail; nil: it is not a thumbnail.
        private(set) var whole: Int?
        private(set) var items: [Int: Item] = [:]
        private(set) var properties: [BoxReader.Box] = []
        private(set) var references: [Reference] = []
        private(set) var itemData: Range<Int>?

        private let maxExtents: Int

        /// - Parameter maxExtents: the most parts of an item's data.
        /// - Throws: `limitExceeded` if there are too many items, references or parts.
        init(_ boxes: BoxReader, meta: Range<Int>, maxExtents: Int = Self.maxExtents) throws(WebImageError) {
            self.boxes = boxes
            self.maxExtents = maxExtents
            guard let content = boxes.full(meta)?.rest else { return }
            for box in boxes.boxes(in: content) {
                switch box.type {
                case "pitm": readPrimary(box.content)
                case "iinf": try readItems(box.content)
                case "iloc": try readLocations(box.content)
                case "iprp": try readProperties(box.content)
                case "iref": try readReferences(box.content)
                case "idat": itemData = box.content
                default: break
                }
            }
        }

        /// Replaces the primary picture by its largest thumbnail, if there is one.
        ///
        /// - Parameter types: the item types that can be decoded.
        mutating func chooseThumbnail(of types: Set<String>) {
            guard let picture = primary, whole == nil else { return }
            let copies = references.filter { $0.type == "thmb" && $0.to.contains(picture) }.map(\.from)
            let known = copies.filter { copy in items[copy].map { types.contains($0.type) } ?? false }
            guard let best = known.max(by: { area(of: $0) < area(of: $1) }) else { return }
            (whole, primary) = (picture, best)
        }

        /// The number of pixels by an item's `ispe` property; 0 if it has none.
        private func area(of id: Int) -> Int {
            guard let size = properties(of: id).first(where: { $0.type == "ispe" }),
                let rest = boxes.full(size.content)?.rest, let width = boxes.integer(at: rest.lowerBound, 4, in: rest),
                let height = boxes.integer(at: rest.lowerBound + 4, 4, in: rest)
            else { return 0 }
            let (area, overflow) = width.multipliedReportingOverflow(by: height)
            return overflow ? 0 : area
        }

        private mutating func readPrimary(_ content: Range<Int>) {
            guard let (version, _, rest) = boxes.full(content) else { return }
            let length = version == 0 ? 2 : 4
            primary = boxes.integer(at: rest.lowerBound, length, in: rest)
            if primary != nil { primaryField = rest.lowerBound..<rest.lowerBound + length }
        }

        private mutating func readItems(_ content: Range<Int>) throws(WebImageError) {
            guard let (version, _, rest) = boxes.full(content) else { return }
            let list = min(rest.lowerBound + (version == 0 ? 2 : 4), rest.upperBound)..<rest.upperBound
            for box in boxes.boxes(in: list) where box.type == "infe" {
                guard let (version, flags, rest) = boxes.full(box.content), version >= 2 else { continue }
                let length = version == 2 ? 2 : 4
                guard let id = boxes.integer(at: rest.lowerBound, length, in: rest),
                    let type = boxes.name(at: rest.lowerBound + length + 2, in: rest)
                else { continue }
                let contentType = type == "mime" ? boxes.texts(in: rest.dropFirst(length + 6)).dropFirst().first : nil
                try change(id) {
                    $0.type = type
                    $0.contentType = contentType
                    $0.isHidden = flags & 1 == 1
                }
            }
        }

        private mutating func readLocations(_ content: Range<Int>) throws(WebImageError) {
            guard let (version, _, rest) = boxes.full(content), version <= 2 else { return }
            var fields = BoxFields(boxes, rest)
            guard let sizes = fields.next(2), let count = fields.next(version < 2 ? 2 : 4) else { return }
            let widths = (offset: sizes >> 12, length: sizes >> 8 & 15, base: sizes >> 4 & 15)
            let indexWidth = version == 0 ? 0 : sizes & 15
            let extentWidth = indexWidth + widths.offset + widths.length
            for _ in 0..<count {
                guard let id = fields.next(version < 2 ? 2 : 4), let method = fields.next(version == 0 ? 0 : 2),
                    let source = fields.next(2), let base = fields.next(widths.base), let extents = fields.next(2)
                else { return }
                // Parts that take no bytes of the box could otherwise be claimed in any number.
                let limit = extentWidth == 0 ? Self.maxExtents : maxExtents
                guard extents <= limit else {
                    throw WebImageError(
                        .limitExceeded, "an item's data lies in \(extents) places, more than \(limit)",
                        format: .heif)
                }
                var list: [(offset: Int, length: Int)] = []
                for _ in 0..<extents {
                    guard fields.next(indexWidth) != nil, let offset = fields.next(widths.offset),
                        let length = fields.next(widths.length)
                    else { return }
                    let (start, overflow) = base.addingReportingOverflow(offset)
                    let (_, isTooFar) = start.addingReportingOverflow(length)
                    guard !overflow, !isTooFar else { return }
                    list.append((start, length))
                }
                // Data in another file counts as missing.
                let location = source == 0 ? Location(method: method & 15, extents: list) : nil
                try change(id) { $0.location = location }
            }
        }

        private mutating func readProperties(_ content: Range<Int>) throws(WebImageError) {
            let lists = boxes.boxes(in: content)
            if let container = lists.first(where: { $0.type == "ipco" }) {
                properties = boxes.boxes(in: container.content)
            }
            for list in lists where list.type == "ipma" {
                guard let (version, flags, rest) = boxes.full(list.content) else { continue }
                let length = flags & 1 == 0 ? 1 : 2
                var fields = BoxFields(boxes, rest)
                guard let count = fields.next(4) else { continue }
                for _ in 0..<count {
                    guard let id = fields.next(version == 0 ? 2 : 4), let number = fields.next(1) else { break }
                    var indices: [Int] = []
                    for _ in 0..<number {
                        guard let index = fields.next(length) else { break }
                        // The topmost bit only says whether a reader must support the property; 0 means none.
                        let plain = index & (length == 1 ? 0x7F : 0x7FFF)
                        if plain > 0, plain <= properties.count { indices.append(plain - 1) }
                    }
                    try change(id) { $0.properties = indices }
                }
            }
        }

        private mutating func readReferences(_ content: Range<Int>) throws(WebImageError) {
            guard let (version, _, rest) = boxes.full(content) else { return }
            let length = version == 0 ? 2 : 4
            var total = 0
            for box in boxes.boxes(in: rest) {
                var fields = BoxFields(boxes, box.content)
                guard let from = fields.next(length), let count = fields.next(2) else { continue }
                total += count
                guard total <= Self.maxReferences else {
                    throw WebImageError(
                        .limitExceeded, "the items refer to others more than \(Self.maxReferences) times", format: .heif
                    )
                }
                var to: [Int] = []
                for _ in 0..<count {
                    guard let id = fields.next(length) else { break }
                    to.append(id)
                }
                references.append(Reference(type: box.type, from: from, to: to, typeField: box.typeField))
            }
        }

        private mutating func change(_ id: Int, _ change: (inout Item) -> Void) throws(WebImageError) {
            guard items.count < Self.maxItems || items[id] != nil else {
                throw WebImageError(
                    .limitExceeded, "the file has more than \(Self.maxItems) items", format: .heif)
            }
            change(&items[id, default: Item()])
        }

        /// The number of selectable pictures: without thumbnails, alpha and other auxiliary ones, and parts.
        var pictureCount: Int {
            let parts = references.reduce(into: Set<Int>()) { parts, reference in
                switch reference.type {
                case "thmb", "auxl": parts.insert(reference.from)
                case "dimg": parts.formUnion(reference.to)
                default: break
                }
            }
            let kinds: Set = ["hvc1", "av01", "grid", "iden", "iovl", "jpeg", "avc1"]
            return max(items.count { kinds.contains($1.type) && !$1.isHidden && !parts.contains($0) }, 1)
        }

        /// The properties of an item, in their order.
        func properties(of id: Int) -> [BoxReader.Box] {
            // The list of properties may have been replaced since an item's were read.
            (items[id]?.properties ?? []).compactMap { properties.indices.contains($0) ? properties[$0] : nil }
        }

        func property(_ type: String, of id: Int) -> Range<Int>? {
            properties(of: id).first { $0.type == type }?.content
        }

        /// The size in an item's `ispe` property.
        func size(of id: Int) -> PixelSize? {
            guard let content = property("ispe", of: id), let rest = boxes.full(content)?.rest,
                let width = boxes.integer(at: rest.lowerBound, 4, in: rest),
                let height = boxes.integer(at: rest.lowerBound + 4, 4, in: rest)
            else { return nil }
            return PixelSize(width: width, height: height)
        }

        /// The length of the data of all items together. It is no longer than the file, unless items share data.
        var dataLength: Int {
            items.values.reduce(0) { sum, item in
                (item.location?.extents ?? []).reduce(sum) { sum, extent in
                    let (next, isOver) = sum.addingReportingOverflow(extent.length)
                    return isOver ? .max : next
                }
            }
        }

        /// The position of an item's data in the file.
        ///
        /// - Throws: `unsupportedFeature` for data within other items, `corruptData` if there is none or it is longer
        ///   than a file may be.
        func data(of id: Int, limit: Int) throws(WebImageError) -> [Range<Int>] {
            guard let location = items[id]?.location else {
                throw WebImageError(.corruptData, "item \(id) has no data", format: .heif)
            }
            guard location.method <= 1 else {
                throw WebImageError(
                    .unsupportedFeature, "the data of item \(id) lies in other items", format: .heif)
            }
            var ranges: [Range<Int>] = []
            var total = 0
            for extent in location.extents {
                guard extent.length > 0, extent.length <= limit - total else {
                    throw WebImageError(.corruptData, "the data of item \(id) is of no possible length", format: .heif)
                }
                total += extent.length
                let range = extent.offset..<extent.offset + extent.length
                guard location.method == 1 else {
                    ranges.append(range)
                    continue
                }
                guard let itemData, range.upperBound <= itemData.count else {
                    throw WebImageError(.corruptData, "the data of item \(id) lies outside its box", format: .heif)
                }
                ranges.append(itemData.lowerBound + range.lowerBound..<itemData.lowerBound + range.upperBound)
            }
            guard total > 0 else { throw WebImageError(.corruptData, "item \(id) has no data", format: .heif) }
            // Otherwise few bytes could be the data of a very long item.
            let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
            guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0.upperBound <= $1.lowerBound }) else {
                throw WebImageError(.corruptData, "the parts of item \(id) overlap", format: .heif)
            }
            return ranges
        }
    }
#endif
