#if SVG
    import WebImageCore

    /// Reads the attributes of one element.
    struct SVGElementReader {
        private(set) var traits = SVGTraits()
        private(set) var id: String?
        private(set) var classes: String?
        private(set) var outline: SVGOutline?
        private(set) var viewBox: [Double] = []
        private(set) var hasBitmap = false
        /// Whether it has any traits beyond the defaults.
        var hasTraits: Bool {
            !traits.isPlain || traits.primitive != nil || traits.tile != nil || !traits.links.isEmpty
                || traits.scale != 1
                || traits.hasRelativePrimitives
        }
        private let name: String
        /// Attributes that are lengths or numbers.
        private var numbers: [String: Double] = [:]
        /// Attributes that are relative lengths, at most as large as the canvas.
        private var parts: [String: Double] = [:]
        private let isRoot: Bool
        private var isRelative = true

        init(_ name: String, isRoot: Bool) {
            self.name = name
            self.isRoot = isRoot
            traits.primitive = Self.primitives[name]
        }

        /// The fixed cost of a primitive.
        private static let primitives: [String: SVGTraits.Primitive] = [
            "feBlend": .init(time: 150, canvases: 4), "feColorMatrix": .init(time: 80, canvases: 3),
            "feComponentTransfer": .init(time: 100, canvases: 3), "feComposite": .init(time: 90, canvases: 4),
            "feConvolveMatrix": .init(time: 60, canvases: 3), "feDiffuseLighting": .init(time: 140, canvases: 3),
            "feDisplacementMap": .init(time: 1300, canvases: 4), "feDropShadow": .init(time: 500, canvases: 6),
            "feFlood": .init(time: 10, canvases: 2), "feGaussianBlur": .init(time: 230, canvases: 5),
            "feImage": .init(time: 40, canvases: 3), "feMerge": .init(time: 10, canvases: 4),
            // A child of `feMerge`, which does not occur alone.
            "feMergeNode": .init(time: 90, canvases: 0), "feMorphology": .init(time: 10, canvases: 2),
            "feOffset": .init(time: 20, canvases: 3), "feSpecularLighting": .init(time: 140, canvases: 3),
            "feTile": .init(time: 20, canvases: 3), "feTurbulence": .init(time: 100, canvases: 3),
        ]
        private static let octaveTime = 150.0
        private static let kernelTime = 9.0

        /// Relevant attributes that are not properties.
        private enum Attribute: String {
            case id, `class`, style, d, points, href, viewBox, result, order, numOctaves, radius, stdDeviation
            case width, height, x1, y1, x2, y2, r, rx, ry, markerWidth, markerHeight
            case patternUnits, primitiveUnits, patternTransform, gradientTransform
        }

        mutating func read(_ attribute: String, _ value: UnsafeRawBufferPointer) throws(WebImageError) {
            switch attribute {
            // Long values, which are read in place.
            case "d": outline = SVGOutline(path: value)
            case "points": outline = SVGOutline(corners: value)
            case "href":
                if value.starts(with: "data:".utf8) {
                    hasBitmap = true
                } else {
                    try read(attribute, SVGTag.decoded(value))
                }
            default: try read(attribute, SVGTag.decoded(value))
            }
        }

        mutating func read(_ attribute: String, _ value: String) throws(WebImageError) {
            if SVGTraits.properties.contains(attribute) { return traits.read(attribute, value) }
            guard let known = Attribute(rawValue: attribute) else { return }
            switch known {
            case .id: id = value
            case .class: classes = value
            case .style: read(style: value)
            case .d, .points: break
            case .href:
                if value.contains("data:") { hasBitmap = true }
                // More are refused at the end.
                guard traits.references <= SVGTraits.maxReferences, let name = SVGTraits.fragment(of: value),
                    !traits.links.contains(name)
                else { return }
                traits.links.append(name)
            case .viewBox: viewBox = SVGNumbers.all(in: value)
            case .result: traits.primitive?.result = value
            case .order: try readKernel(SVGNumbers.all(in: value))
            case .numOctaves:
                if name == "feTurbulence" {
                    traits.primitive?.time += Self.octaveTime * max(SVGNumbers.all(in: value).first ?? 1, 0)
                }
            case .radius: readWindow(SVGNumbers.all(in: value))
            case .patternUnits: isRelative = value != "userSpaceOnUse"
            case .primitiveUnits: traits.hasRelativePrimitives = value != "userSpaceOnUse"
            case .patternTransform, .gradientTransform: traits.read("transform", value)
            default:
                guard let length = SVGLength(value) else { return }
                if length.isRelative {
                    parts[attribute] = abs(length.value)
                } else {
                    numbers[attribute] = abs(length.value)
                }
            }
        }

        private mutating func read(style: String) {
            var reader = CSSReader(style)
            while let (piece, _) = reader.piece() {
                guard let (property, value) = CSSReader.declaration(piece) else { continue }
                if SVGTraits.properties.contains(property) { traits.read(property, value) }
            }
        }

        /// librsvg 2.54 reads 400 numbers of a kernel, and crashes if its size demands more.
        private static let maxKernelValues = 400.0

        private mutating func readKernel(_ sides: [Double]) throws(WebImageError) {
            guard let columns = sides.first else { return }
            let count = abs(columns * (sides.count > 1 ? sides[1] : columns))
            guard count <= Self.maxKernelValues else {
                throw WebImageError(
                    .limitExceeded, "a convolution has \(count) numbers, more than \(Int(Self.maxKernelValues))",
                    format: .svg)
            }
            traits.primitive?.time += Self.kernelTime * count
        }

        private mutating func readWindow(_ radii: [Double]) {
            guard let x = radii.first, name == "feMorphology" else { return }
            traits.primitive?.window = (abs(x), abs(radii.count > 1 ? radii[1] : x))
        }

        /// Combines the attributes.
        ///
        /// - Throws: `limitExceeded` for an element with too many references.
        mutating func finish(_ sheet: SVGStyleSheet, parent: SVGTraits?) throws(WebImageError) {
            try sheet.add(to: &traits, name: name, id: id, classes: classes)
            if let parent { traits.inherit(parent) }
            guard traits.references <= SVGTraits.maxReferences else {
                throw WebImageError(
                    .limitExceeded, "an element has more than \(SVGTraits.maxReferences) references", format: .svg)
            }
            switch name {
            case "rect", "image", "foreignObject":
                let (width, height) = (numbers["width"] ?? 0, numbers["height"] ?? 0)
                outline = SVGOutline(points: 20, length: 2 * (width + height), side: max(width, height))
            case "circle", "ellipse":
                let radius = max(numbers["r"] ?? 0, numbers["rx"] ?? 0, numbers["ry"] ?? 0)
                outline = SVGOutline(points: 40, length: 2 * .pi * radius, side: 2 * radius)
            case "line":
                let length = ["x1", "y1", "x2", "y2"].reduce(0) { $0 + (numbers[$1] ?? 0) }
                outline = SVGOutline(points: 2, length: length, side: length)
            case "pattern": setTile()
            case "use": traits.scale *= max(1, (numbers["width"] ?? 0) / 100, (numbers["height"] ?? 0) / 100)
            default: break
            }
            outline?.canvasPart = parts.values.max() ?? 0
            stretch()
        }

        private mutating func setTile() {
            func side(_ name: String) -> Double { numbers[name] ?? parts[name] ?? 0 }
            let isOfCanvas = !isRelative && !parts.isEmpty
            traits.tile = .init(
                width: side("width"), height: side("height"), isRelative: isRelative, isOfCanvas: isOfCanvas)
        }

        /// A viewBox is stretched to the given size; if none is given, the size is unknown here.
        private mutating func stretch() {
            guard ["svg", "symbol", "marker", "pattern"].contains(name), !isRoot, viewBox.count >= 4 else { return }
            let width = numbers["width"] ?? numbers["markerWidth"] ?? 100
            let height = numbers["height"] ?? numbers["markerHeight"] ?? 100
            traits.scale *= SVGScale.most(viewBox: viewBox, width: width, height: height)
        }
    }
#endif
