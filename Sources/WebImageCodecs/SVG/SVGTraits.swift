#if SVG
    import WebImageCore

    /// The properties that make an element cost more than its shape, from its attributes and the style sheets.
    struct SVGTraits {
        /// The cost of a filter primitive.
        struct Primitive {
            /// Nanoseconds for each pixel of the canvas, as measured with librsvg 2.54.
            var time = 0.0
            /// For `feMorphology`: its radius in both directions, in its own units.
            var window: (x: Double, y: Double)?
            /// Canvases that it holds while it works.
            var canvases = 2.0
            /// The name under which its result is kept until the filter ends.
            var result: String?
        }

        /// The size of a pattern's tile.
        struct Tile {
            var width = 0.0
            var height = 0.0
            /// Whether it is relative to the painted shape.
            var isRelative = true
            /// Whether it is a part of the canvas.
            var isOfCanvas = false
        }

        /// Whether nothing was specified.
        var isPlain = true
        /// The properties with the value `inherit`.
        private var inherited: Set<String> = []
        var hasOpacity = false
        var filters: [String] = []
        /// The time of functions such as `blur(2px)`.
        var filterTime = 0.0
        var masks: [String] = []
        var clips: [String] = []
        var paints: [String] = []
        var markers: [String] = []
        /// The links of `use`, `feImage`, and of patterns that take their contents from others.
        var links: [String] = []
        /// The shortest period of dashes.
        var dashes: Double?
        var strokeWidth = 0.0
        var hasRoundCorners = false
        /// How much its contents are stretched at most.
        var scale = 1.0
        /// The part of ``scale`` by which a transform has made it smaller; nil: there is no transform.
        private var shrunk: Double?
        /// The factor to the surrounding font size, and an absolute size.
        var fontGrowth = 1.0
        var fontSize = 0.0
        var primitive: Primitive?
        /// Whether lengths in a filter's primitives are relative to the filtered element.
        var hasRelativePrimitives = false
        var tile: Tile?

        /// Whether it is drawn on a separate canvas.
        var isLayer: Bool {
            hasOpacity || !filters.isEmpty || filterTime > 0 || !masks.isEmpty || !clips.isEmpty
        }

        /// The properties that are read from attributes, `style` attributes and style sheets.
        static let properties: Set<String> = [
            "opacity", "filter", "mask", "clip-path", "mix-blend-mode", "isolation", "fill", "stroke", "marker",
            "marker-start", "marker-mid", "marker-end", "stroke-dasharray", "stroke-width", "stroke-linejoin",
            "stroke-linecap", "font-size", "font", "transform",
        ]

        /// Reads a property. Repeated ones all count, because it does not matter here which one applies.
        mutating func read(_ name: String, _ value: String) {
            isPlain = false
            if value.contains("inherit") { inherited.insert(name) }
            switch name {
            case "opacity": if (SVGLength(value)?.value ?? 0) < 1 { hasOpacity = true }
            case "mix-blend-mode", "isolation":
                if !["normal", "auto"].contains(value.filter { !$0.isWhitespace }) { hasOpacity = true }
            case "filter":
                Self.add(value, to: &filters)
                readFilterFunctions(value)
            case "mask": Self.add(value, to: &masks)
            case "clip-path": Self.add(value, to: &clips)
            case "fill", "stroke": Self.add(value, to: &paints)
            case "marker", "marker-start", "marker-mid", "marker-end": Self.add(value, to: &markers)
            case "stroke-dasharray":
                let numbers = SVGNumbers.all(in: value)
                if !numbers.isEmpty { dashes = min(dashes ?? .infinity, numbers.reduce(0) { $0 + abs($1) }) }
            case "stroke-width": strokeWidth = max(strokeWidth, abs(SVGLength(value)?.value ?? 0))
            case "stroke-linejoin", "stroke-linecap": if value.contains("round") { hasRoundCorners = true }
            case "font-size": readFontSize(value[...])
            case "font": for word in value.split(whereSeparator: { " /".contains($0) }) { readFontSize(word) }
            case "transform":
                let most = max(SVGScale.most(of: value), 1e-9)
                if let shrunk {
                    // Only one of them applies, perhaps not the one that makes smaller.
                    scale = scale / shrunk * max(most, 1)
                    self.shrunk = 1
                } else {
                    scale *= most
                    shrunk = min(most, 1)
                }
            default: break
            }
        }

        /// The maximum number of references of an element, and of the rules of a style sheet for one name. Each of
        /// these counts for each element with the name.
        static let maxReferences = 256

        /// How many other elements it refers to.
        var references: Int {
            filters.count + masks.count + clips.count + paints.count + markers.count + links.count
        }

        /// Adds properties of the same element from elsewhere.
        mutating func add(_ other: SVGTraits) {
            isPlain = isPlain && other.isPlain
            inherited.formUnion(other.inherited)
            hasOpacity = hasOpacity || other.hasOpacity
            for (path, names) in [
                (\SVGTraits.filters, other.filters), (\.masks, other.masks), (\.clips, other.clips),
                (\.paints, other.paints), (\.markers, other.markers),
            ] {
                // More are refused.
                for name in names where references <= Self.maxReferences && !self[keyPath: path].contains(name) {
                    self[keyPath: path].append(name)
                }
            }
            filterTime = max(filterTime, other.filterTime)
            if let period = other.dashes { dashes = min(dashes ?? .infinity, period) }
            strokeWidth = max(strokeWidth, other.strokeWidth)
            hasRoundCorners = hasRoundCorners || other.hasRoundCorners
            if other.scale > 1, let shrunk {
                // The other transform may apply instead of the one that makes smaller.
                scale /= shrunk
                self.shrunk = 1
            }
            scale *= max(other.scale, 1)
            fontGrowth = max(fontGrowth, other.fontGrowth)
            fontSize = max(fontSize, other.fontSize)
        }

        /// Takes properties with the value `inherit` from the parent; all others are inherited anyway, or do not matter
        /// here.
        mutating func inherit(_ parent: SVGTraits) {
            if inherited.contains("filter") {
                filters += parent.filters
                filterTime = max(filterTime, parent.filterTime)
            }
            if inherited.contains("mask") { masks += parent.masks }
            if inherited.contains("clip-path") { clips += parent.clips }
        }

        private mutating func readFontSize(_ text: Substring) {
            guard let size = SVGLength(String(text)) else { return }
            if size.isRelative {
                fontGrowth = max(fontGrowth, abs(size.value))
            } else {
                fontSize = max(fontSize, abs(size.value))
            }
        }

        private mutating func readFilterFunctions(_ value: String) {
            for part in value.split(separator: ")") {
                let name = part.prefix { $0 != "(" }.filter { $0.isLetter || $0 == "-" }.lowercased()
                if part.contains("("), name != "url" { filterTime += Self.functionTimes[name] ?? 100 }
            }
        }

        private static let functionTimes = ["blur": 250.0, "drop-shadow": 500]

        /// Adds references within the document, at most one more than an element may have.
        static func add(_ value: String, to names: inout [String]) {
            // Most values are colours.
            guard value.utf8.contains(UInt8(ascii: "#")), value.contains("url") else { return }
            for part in value.split(separator: "(").dropFirst() {
                guard names.count <= maxReferences else { return }
                let url = part.prefix { $0 != ")" }.filter { !"\"'".contains($0) }
                if let name = fragment(of: url), !names.contains(name) { names.append(name) }
            }
        }

        /// The fragment of a URL; nil for external ones, which are never loaded.
        static func fragment(of url: some StringProtocol) -> String? {
            guard let hash = url.firstIndex(of: "#"), url[..<hash].allSatisfy(\.isWhitespace) else { return nil }
            let name = url[url.index(after: hash)...]
            return String(name.reversed().drop { $0.isWhitespace }.reversed())
        }
    }
#endif
