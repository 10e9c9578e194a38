#if SVG
    import WebImageCore

    /// The maximum cost of drawing a document, added up from the leaves of its tree to the root, each element once,
    /// however often it is referenced.
    ///
    /// librsvg holds a canvas for each open layer (an opacity, a filter, a mask, a clip), and several for each filter;
    /// it processes all of their pixels, whatever is drawn on them.
    struct SVGCost {
        /// How many canvases are held at once in addition to the result's own.
        var canvases = 0.0
        /// Nanoseconds for each pixel of the canvas.
        var pixelTime = 0.0
        /// Nanoseconds that do not depend on the canvas.
        var time = 0.0
        /// Bytes that do not depend on the canvas: outlines, tiles of patterns.
        var bytes = 0.0

        /// How many shapes are drawn, and how many corners they have, each of which may get a marker.
        private(set) var shapes = 0.0
        private var corners = 0.0
        /// The most points of one shape, and the length of one, in its own units.
        private var points = 0.0
        private var length = 0.0
        private var lengths = 0.0
        /// The longest side of a shape, in pixels.
        private var side = 0.0
        /// The largest font in pixels, and the growth of fonts by relative sizes.
        private(set) var fontSize = 0.0
        private(set) var fontGrowth = 1.0

        static func += (total: inout SVGCost, other: SVGCost) {
            total.canvases = max(total.canvases, other.canvases)
            total.pixelTime += other.pixelTime
            total.time += other.time
            total.bytes = max(total.bytes, other.bytes)
            total.shapes += other.shapes
            total.corners += other.corners
            total.points = max(total.points, other.points)
            total.length = max(total.length, other.length)
            total.lengths += other.lengths
            total.side = max(total.side, other.side)
            total.fontSize = max(total.fontSize, other.fontSize)
            total.fontGrowth = max(total.fontGrowth, other.fontGrowth)
        }

        /// The cost of drawing one of these for each of `count` shapes.
        private func times(_ count: Double) -> SVGCost {
            var cost = self
            cost.pixelTime *= count
            cost.time *= count
            cost.shapes *= count
            cost.corners *= count
            cost.lengths *= count
            return cost
        }

        /// Measured with librsvg 2.54 and cairo 1.16.
        private enum Weight {
            static let shape = 2_000.0
            static let text = 50_000.0
            static let point = 200.0
            static let dash = 600.0
            static let pointsOfCharacter = 10.0
            /// The length of a character's outline, as a multiple of the font size.
            static let lengthOfCharacter = 6.0
            static let layer = 8.0
            static let mask = 40.0
            /// For each place in the window of `feMorphology`.
            static let window = 20.0
            /// The memory for a point of a shape: 64 bytes for each edge. A filled shape has one edge for each point, a
            /// stroked one several.
            static let bytesOfPoint = 640.0
            static let bytesOfDash = 100.0
        }

        /// The properties of the canvas.
        struct Canvas {
            /// The longer side, in pixels.
            let side: Double
            /// Pixels to one unit of the document, where its transforms stretch it most.
            let scale: Double
            /// The size of the largest font, in units of the document.
            let font: Double
        }

        /// The cost of an element with its children and references, or of all elements of a group.
        ///
        /// - Parameter tile: the tile of a pattern.
        init(
            _ number: Int32, _ survey: SVGSurvey, on canvas: Canvas, _ known: (Int32) -> SVGCost,
            tile: (Int32) -> SVGTraits.Tile?
        ) {
            if let group = survey.group(number) {
                for target in group { self += known(target) }
                return
            }
            let element = survey.elements[Int(number)]
            var child = element.firstChild
            while child >= 0 {
                let next = survey.elements[Int(child)]
                if next.kind.isDrawnInPlace || element.kind == .filter { self += known(child) }
                child = next.nextSibling
            }
            addShape(element, survey, canvas)
            // A filter costs its primitives, even without traits of its own.
            guard let traits = survey.traits(of: element) ?? (element.kind == .filter ? SVGTraits() : nil) else {
                return
            }
            func total(_ names: [String]) -> SVGCost {
                var sum = SVGCost()
                for name in names { if let target = survey.target(name) { sum += known(target) } }
                return sum
            }
            addLinks(total(traits.links), element.kind)
            addFonts(traits)
            addStroke(traits, canvas)
            for name in traits.markers { addMarkers(total([name])) }
            for name in traits.paints { addPaint(total([name]), tile: survey.target(name).flatMap(tile), canvas) }
            if element.kind == .filter { finishFilter(element, survey, traits, canvas) }
            if let primitive = traits.primitive { pixelTime += primitive.time }
            if traits.isLayer, element.kind != .filter { addLayer(traits, total) }
            if element.kind == .mask { canvases += 2 }
        }

        init() {}

        private mutating func addShape(_ element: SVGSurvey.Element, _ survey: SVGSurvey, _ canvas: Canvas) {
            switch element.kind {
            case .shape, .image:
                shapes += 1
                time += Weight.shape
            case .text:
                shapes += 1
                time += Weight.text
            default: break
            }
            guard element.outline >= 0 else { return }
            let outline = survey.outlines[Int(element.outline)]
            let characters = Double(outline.characters)
            let count = Double(outline.points) + characters * Weight.pointsOfCharacter
            corners += count
            points = max(points, count)
            time += count * Weight.point
            let own =
                max(outline.length, outline.canvasPart * 4 * canvas.side / canvas.scale)
                + characters * canvas.font * Weight.lengthOfCharacter
            length = max(length, own)
            lengths += own
            side = max(side, outline.side * canvas.scale, outline.canvasPart * canvas.side)
            bytes = max(bytes, points * Weight.bytesOfPoint)
        }

        private mutating func addLinks(_ links: SVGCost, _ kind: SVGSurvey.Kind) {
            self += links
            // `feImage` draws on a canvas of its own.
            if kind == .primitive { canvases += 1 }
        }

        private mutating func addFonts(_ traits: SVGTraits) {
            fontGrowth = max(fontGrowth, 1) * max(traits.fontGrowth, 1)
            fontSize = max(fontSize, traits.fontSize * fontGrowth)
        }

        /// Adds the cost of dashes, and of round corners, which have more points the larger they are (cairo's tolerance
        /// is 0.1 pixels).
        private mutating func addStroke(_ traits: SVGTraits, _ canvas: Canvas) {
            if traits.hasRoundCorners || traits.strokeWidth > 0 {
                let radius = max(traits.strokeWidth, 1) * canvas.scale / 2
                bytes = max(bytes, points * (Weight.bytesOfPoint + 40 * .pi * (5 * radius).squareRoot()))
            }
            guard let period = traits.dashes, length > 0 else { return }
            // Dashes that are shorter than the tolerance are drawn as a mixed colour.
            let shortest = max(period, 0.1 / canvas.scale)
            time += lengths / shortest * Weight.dash
            bytes = max(bytes, length / shortest * Weight.bytesOfDash)
        }

        private mutating func addMarkers(_ marker: SVGCost) {
            self += marker.times(max(corners, 1))
        }

        private mutating func addPaint(_ paint: SVGCost, tile: SVGTraits.Tile?, _ canvas: Canvas) {
            var paint = paint.times(max(shapes, 1))
            if let tile {
                paint.bytes += tile.pixels(side: side, canvas) * 4
                paint.time += tile.pixels(side: side, canvas) * max(shapes, 1)
            }
            let (openCanvases, openBytes) = (canvases, bytes)
            self += paint
            canvases = openCanvases + paint.canvases
            bytes = openBytes + paint.bytes
        }

        /// Adds up the primitives of a filter: named results are kept until it ends.
        private mutating func finishFilter(
            _ element: SVGSurvey.Element, _ survey: SVGSurvey, _ traits: SVGTraits, _ canvas: Canvas
        ) {
            var names: Set<String> = []
            var most = 0.0
            var child = element.firstChild
            while child >= 0 {
                let primitive = survey.elements[Int(child)]
                child = primitive.nextSibling
                guard let own = survey.traits(of: primitive)?.primitive else { continue }
                if let name = own.result { names.insert(name) }
                most = max(most, own.canvases)
                if let window = own.window {
                    func places(_ radius: Double) -> Double {
                        min(2 * radius * (traits.hasRelativePrimitives ? canvas.side : canvas.scale) + 1, canvas.side)
                    }
                    pixelTime += places(window.x) * places(window.y) * Weight.window
                }
            }
            canvases += most + Double(names.count)
        }

        private mutating func addLayer(_ traits: SVGTraits, _ total: ([String]) -> SVGCost) {
            let inner = canvases
            pixelTime += Weight.layer + traits.filterTime
            var most = max(inner, traits.filterTime > 0 ? 6 : 0)
            // The filters run one after the other, each on the result of the one before.
            for name in traits.filters {
                let filter = total([name])
                self += filter
                most = max(most, filter.canvases)
            }
            for name in traits.masks {
                let mask = total([name])
                self += mask
                pixelTime += Weight.mask
                most = max(most, mask.canvases)
            }
            for name in traits.clips {
                let clip = total([name])
                self += clip
                pixelTime += Weight.layer
                most = max(most, clip.canvases)
            }
            canvases = 1 + most
        }
    }

    extension SVGSurvey.Kind {
        /// Whether it is drawn in place, and not only where it is referenced.
        var isDrawnInPlace: Bool {
            switch self {
            case .container, .shape, .text, .image, .use, .primitive: true
            case .clip, .definition, .filter, .marker, .mask, .pattern, .symbol: false
            }
        }
    }

    extension SVGTraits.Tile {
        /// The maximum of both.
        func larger(_ other: Self) -> Self {
            .init(
                width: max(width, other.width), height: max(height, other.height),
                isRelative: isRelative && other.isRelative, isOfCanvas: isOfCanvas || other.isOfCanvas)
        }

        /// The number of pixels of a tile that paints a shape whose longest side is `side`. cairo limits a tile's sides
        /// to 32 767.
        func pixels(side: Double, _ canvas: SVGCost.Canvas) -> Double {
            let scale = isRelative ? side : isOfCanvas ? canvas.side : canvas.scale
            return min(width * scale, 32_767) * min(height * scale, 32_767)
        }
    }
#endif
