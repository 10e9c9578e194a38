#if SVG
    import WebImageCore

    /// The elements of a document with the traits that determine their cost: the tree that ``SVGCost`` adds up.
    struct SVGSurvey {
        enum Kind: UInt8 {
            /// Draws its children.
            case container
            case shape, text, image, use
            /// Drawn only when it is referenced.
            case clip, definition, filter, marker, mask, pattern, symbol
            case primitive
        }

        struct Element {
            let kind: Kind
            var firstChild: Int32 = -1
            var lastChild: Int32 = -1
            var nextSibling: Int32 = -1
            /// The index of the element's traits; -1 if it has none.
            var traits: Int32 = -1
            /// The index of the element's outline; -1 if it has none.
            var outline: Int32 = -1
        }

        private(set) var elements: [Element] = []
        private(set) var traits: [SVGTraits] = []
        private(set) var outlines: [SVGOutline] = []
        /// The number of the element with an id, or of a group if an invalid document has several such elements.
        private var targets: [String: Int32] = [:]
        /// Elements with the same id. librsvg draws the first one of them. Which one that is depends on how it reads
        /// attributes, so all of them count. Groups are numbered after the elements, so that each is added up once.
        private var groups: [[Int32]] = []
        /// The root element's viewBox, if it has one.
        private(set) var viewBox: [Double] = []
        /// Whether the document contains bitmaps.
        private(set) var hasBitmaps = false
        /// The positions of the names of attributes that must be hidden from librsvg.
        private(set) var hidden: [Int] = []
        private let sheet: SVGStyleSheet
        private let start: UnsafeRawPointer?
        /// Default values of attributes from document types.
        private var defaults: [String: [SVGStyleSheet.Declaration]] = [:]
        /// The length of these values, by the name of the element.
        private var defaultBytes: [String: Int] = [:]
        private var open: [Int32] = []
        private var openTexts = 0
        /// Further elements with the id of an earlier one.
        private var namesakes: [String: [Int32]] = [:]

        private static let longLink = 64
        private let checkpoint: (() throws(WebImageError) -> Void)?

        /// How many pixels further bitmaps may have.
        private var bitmapPixels: UInt64

        /// - Throws: `limitExceeded` for numbers with which librsvg crashes, `unsupportedFeature` for style sheets that
        ///   cannot be scanned.
        /// - Parameters:
        ///   - bitmapPixels: the limit for all bitmaps together; those beyond it are hidden.
        ///   - checkpoint: called now and then; its error ends the survey.
        init(
            of document: UnsafeRawBufferPointer, bitmapPixels: UInt64,
            checkpoint: (() throws(WebImageError) -> Void)? = nil
        ) throws(WebImageError) {
            self.bitmapPixels = bitmapPixels
            self.checkpoint = checkpoint
            sheet = try SVGStyleSheet(of: document, checkpoint: checkpoint)
            start = document.baseAddress
            var markup = SVGMarkup(document)
            while let part = markup.next() {
                switch part {
                case .start(let text, let isEmpty):
                    if elements.count % Self.checkInterval == Self.checkInterval - 1 { try checkpoint?() }
                    try add(text, isEmpty: isEmpty)
                case .end:
                    if let last = open.popLast(), elements[Int(last)].kind == .text { openTexts -= 1 }
                case .text(let text), .data(let text): addText(text.count)
                case .declaration(let text): try readDefault(text)
                case .instruction: break
                }
            }
            formGroups()
        }

        /// How many elements and groups there are.
        var nodeCount: Int { elements.count + groups.count }

        /// The number of the element or group with an id.
        func target(_ name: String) -> Int32? { targets[name] }

        /// The elements of a group; nil if this is the number of an element.
        func group(_ number: Int32) -> [Int32]? {
            Int(number) < elements.count ? nil : groups[Int(number) - elements.count]
        }

        /// The traits of an element; nil for a group.
        func traits(ofNode number: Int32) -> SVGTraits? {
            Int(number) < elements.count ? traits(of: elements[Int(number)]) : nil
        }

        /// Replaces several elements with an id by a group.
        private mutating func formGroups() {
            for (name, others) in namesakes {
                guard let first = targets[name] else { continue }
                targets[name] = Int32(nodeCount)
                groups.append([first] + others)
            }
            namesakes = [:]
        }

        /// The largest absolute font size, in units of the document.
        var largestFont: Double {
            traits.reduce(16) { max($0, $1.fontSize) } * traits.reduce(1) { max($0, $1.fontGrowth) }
        }

        /// Rules times elements: the cost of matching them.
        var styleMatches: Double { Double(sheet.selectorParts) * Double(elements.count) }

        private static let kinds: [String: Kind] = [
            "path": .shape, "rect": .shape, "circle": .shape, "ellipse": .shape, "line": .shape, "polyline": .shape,
            "polygon": .shape, "text": .text, "image": .image, "use": .use, "clipPath": .clip, "defs": .definition,
            "linearGradient": .definition, "radialGradient": .definition, "style": .definition, "title": .definition,
            "desc": .definition, "metadata": .definition, "script": .definition, "filter": .filter, "marker": .marker,
            "mask": .mask, "pattern": .pattern, "symbol": .symbol,
        ]

        private mutating func add(_ text: UnsafeRawBufferPointer, isEmpty: Bool) throws(WebImageError) {
            var tag = SVGTag(text)
            let name = tag.name
            var reader = SVGElementReader(name, isRoot: elements.isEmpty)
            for (attribute, value) in defaults[name] ?? [] { try reader.read(attribute, value) }
            while let attribute = tag.next() {
                if attribute.name == Self.hiddenName { hide(text, attribute.place) }
                if attribute.name == "href", try !mayBeDrawn(attribute.value) { hide(text, attribute.place) }
                try reader.read(attribute.name, attribute.value)
            }
            try reader.finish(sheet, parent: open.last.flatMap { traits(of: elements[Int($0)]) })
            append(reader, kind: Self.kinds[name] ?? (reader.traits.primitive != nil ? .primitive : .container))
            guard !isEmpty else { return }
            open.append(Int32(elements.count - 1))
            if elements[elements.count - 1].kind == .text { openTexts += 1 }
        }

        /// Characters are shapes too, with outlines several times as long as the font size.
        private mutating func addText(_ count: Int) {
            guard openTexts > 0, let last = open.last.map({ Int($0) }) else { return }
            if elements[last].outline < 0 {
                elements[last].outline = Int32(outlines.count)
                outlines.append(SVGOutline(points: 0, length: 0, side: 0))
            }
            outlines[Int(elements[last].outline)].characters += count
        }

        private mutating func append(_ reader: SVGElementReader, kind: Kind) {
            let number = Int32(elements.count)
            var element = Element(kind: kind)
            if reader.hasTraits {
                element.traits = Int32(traits.count)
                traits.append(reader.traits)
            }
            if let outline = reader.outline {
                element.outline = Int32(outlines.count)
                outlines.append(outline)
            }
            if elements.isEmpty { viewBox = reader.viewBox }
            elements.append(element)
            if reader.hasBitmap { hasBitmaps = true }
            if let id = reader.id {
                if targets[id] == nil { targets[id] = number } else { namesakes[id, default: []].append(number) }
            }
            guard let parent = open.last.map({ Int($0) }) else { return }
            if elements[parent].lastChild >= 0 {
                elements[Int(elements[parent].lastChild)].nextSibling = number
            } else {
                elements[parent].firstChild = number
            }
            elements[parent].lastChild = number
        }

        func traits(of element: Element) -> SVGTraits? { element.traits < 0 ? nil : traits[Int(element.traits)] }

        /// librsvg scales the canvas by this attribute, to any size. Browsers ignore it, as the standard allows.
        private static let hiddenName = "kernelUnitLength"

        /// Whether a link is not to a bitmap beyond the limit, nor to an SVG, which is not scanned.
        private mutating func mayBeDrawn(_ link: UnsafeRawBufferPointer) throws(WebImageError) -> Bool {
            // The header of a bitmap takes a while.
            if link.count >= Self.longLink { try checkpoint?() }
            let hasReferences = link.contains(UInt8(ascii: "&"))
            let picture =
                hasReferences
                ? Array(SVGTag.decoded(link).utf8).withUnsafeBytes { SVGBitmap(link: $0) } : SVGBitmap(link: link)
            switch picture {
            case nil: return true
            case .unknown: return false
            case .bitmap(let pixels):
                guard pixels <= bitmapPixels else { return false }
                bitmapPixels -= pixels
                return true
            }
        }

        private mutating func hide(_ text: UnsafeRawBufferPointer, _ place: Int) {
            guard let start, let from = text.baseAddress else { return }
            hidden.append(from - start + place)
        }

        /// The maximum number of default values for an element's name. Each is read for each such element.
        private static let maxDefaults = 256
        /// The maximum length of their values together.
        private static let maxDefaultBytes = 64 << 10

        /// `!ATTLIST element attribute CDATA 'value'>`, as ``SVGDocumentType`` writes it.
        private mutating func readDefault(_ text: UnsafeRawBufferPointer) throws(WebImageError) {
            var cursor = XMLCursor(text)
            guard cursor.skips("!ATTLIST") else { return }
            cursor.skipSpace()
            let element = SVGTag.local(cursor.name())
            cursor.skipSpace()
            let attribute = SVGTag.local(cursor.name())
            let place = cursor.at - attribute.utf8.count
            if attribute == Self.hiddenName { hide(text, place) }
            cursor.skipSpace()
            _ = cursor.name()
            cursor.skipSpace()
            guard let value = cursor.literal() else { return }
            if attribute == "href", try !mayBeDrawn(value) { hide(text, place) }
            defaults[element, default: []].append((attribute, SVGTag.decoded(value)))
            guard defaults[element]?.count ?? 0 <= Self.maxDefaults else {
                throw WebImageError(
                    .limitExceeded, "more than \(Self.maxDefaults) attributes of an element have defaults",
                    format: .svg)
            }
            defaultBytes[element, default: 0] += value.count
            guard defaultBytes[element] ?? 0 <= Self.maxDefaultBytes else {
                throw WebImageError(
                    .limitExceeded, "the defaults of an element have more than \(Self.maxDefaultBytes) bytes",
                    format: .svg)
            }
        }
    }
#endif
