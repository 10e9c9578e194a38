#if SVG
    import WebImageCore

    /// Adds up the cost of a document on a canvas, from the drawn elements and all their references.
    struct SVGEstimate {
        /// Bytes that are held at once besides the canvas itself.
        private(set) var memory = 0.0
        private(set) var nanoseconds = 0.0
        /// The size of the largest font, in units of the document.
        private(set) var fontSize = 0.0

        /// The cost of matching one selector part with one element.
        private static let styleMatch = 50.0
        /// A document with circular references is drawn in more ways than are added up here.
        private static let cycleFactor = 1000.0

        /// - Parameters:
        ///   - size: of the canvas.
        ///   - scale: pixels to one of the document's outermost units.
        ///   - checkpoint: called now and then.
        /// - Throws: what the checkpoint throws.
        init(
            _ survey: SVGSurvey, size: PixelSize, scale: Double,
            checkpoint: (() throws(WebImageError) -> Void)? = nil
        ) throws(WebImageError) {
            let order = try SVGDrawingOrder(survey, checkpoint: checkpoint)
            let stretch = try order.maxStretch(survey, checkpoint: checkpoint)
            let canvas = SVGCost.Canvas(
                side: Double(max(size.width, size.height)), scale: min(max(scale * stretch, 1e-12), 1e12),
                font: survey.largestFont)
            var costs: [Int32: SVGCost] = [:]
            var tiles: [Int32: SVGTraits.Tile] = [:]
            // With circular references a pattern may be added up before what it inherits from.
            let largestTile = order.hasCycles ? survey.largestTile : nil
            costs.reserveCapacity(order.elements.count)
            for (index, number) in order.elements.enumerated() {
                if index % SVGSurvey.checkInterval == 0 { try checkpoint?() }
                tiles[number] = survey.tile(of: number, known: { tiles[$0] })
                costs[number] = SVGCost(
                    number, survey, on: canvas, { costs[$0] ?? SVGCost() },
                    tile: { largestTile ?? tiles[$0] })
            }
            guard let cost = costs[0] else { return }
            let pixels = Double(size.pixelCount ?? .max)
            // No path through a cycle visits an element twice, so there are at most the layers of all elements.
            let canvases = order.hasCycles ? survey.allCanvases : cost.canvases
            memory = canvases * pixels * 4 + cost.bytes
            nanoseconds = cost.pixelTime * pixels + cost.time + survey.styleMatches * Self.styleMatch
            if order.hasCycles { nanoseconds *= Self.cycleFactor }
            fontSize = max(cost.fontSize, 16 * cost.fontGrowth)
        }
    }

    /// The drawn elements and groups of elements, each after its parts and references.
    struct SVGDrawingOrder {
        private(set) var elements: [Int32] = []
        /// How many parts and references were followed.
        private(set) var steps = 0
        /// Whether there are circular references, which librsvg detects and ignores.
        private(set) var hasCycles = false

        init(_ survey: SVGSurvey, checkpoint: (() throws(WebImageError) -> Void)? = nil) throws(WebImageError) {
            guard !survey.elements.isEmpty else { return }
            enum State: UInt8 { case unseen, open, done }
            var states = Array(repeating: State.unseen, count: survey.nodeCount)
            var work: [(element: Int32, isDone: Bool)] = [(0, false)]
            var count = 0
            while let (number, isDone) = work.popLast() {
                if count % SVGSurvey.checkInterval == 0 { try checkpoint?() }
                count += 1
                if isDone {
                    states[Int(number)] = .done
                    elements.append(number)
                } else if states[Int(number)] == .unseen {
                    states[Int(number)] = .open
                    work.append((number, true))
                    survey.forEachPart(of: number) { part in
                        steps += 1
                        switch states[Int(part)] {
                        case .unseen: work.append((part, false))
                        case .open: hasCycles = true
                        case .done: break
                        }
                    }
                }
            }
        }

        /// The maximum total scale of nested transforms.
        func maxStretch(
            _ survey: SVGSurvey, checkpoint: (() throws(WebImageError) -> Void)? = nil
        ) throws(WebImageError) -> Double {
            var reach: [Int32: Double] = [:]
            reach.reserveCapacity(elements.count)
            for (index, number) in elements.enumerated() {
                if index % SVGSurvey.checkInterval == 0 { try checkpoint?() }
                var most = 1.0
                survey.forEachPart(of: number) { most = max(most, reach[$0] ?? 1) }
                reach[number] = most * (survey.traits(ofNode: number)?.scale ?? 1)
            }
            return reach[0] ?? 1
        }
    }

    extension SVGSurvey {
        /// After how many elements the checkpoint is called: each may have some hundred references.
        static let checkInterval = 256

        /// Calls `body` for everything that is drawn with an element: its children and references, or all elements of a
        /// group.
        func forEachPart(of number: Int32, _ body: (Int32) -> Void) {
            if let group = group(number) { return group.forEach(body) }
            let element = elements[Int(number)]
            var child = element.firstChild
            while child >= 0 {
                let next = elements[Int(child)]
                if next.kind.isDrawnInPlace || element.kind == .filter { body(child) }
                child = next.nextSibling
            }
            guard let traits = traits(of: element) else { return }
            for names in [traits.links, traits.filters, traits.masks, traits.clips, traits.paints, traits.markers] {
                for name in names { if let target = target(name) { body(target) } }
            }
        }

        /// The tile of a pattern, which inherits missing properties from others, or the maximum of a group's.
        ///
        /// - Parameter known: the tiles of the parts.
        fileprivate func tile(of number: Int32, known: (Int32) -> SVGTraits.Tile?) -> SVGTraits.Tile? {
            var found = traits(ofNode: number)?.tile
            func add(_ other: Int32?) {
                guard let tile = other.flatMap(known) else { return }
                found = found?.larger(tile) ?? tile
            }
            if let group = group(number) {
                group.forEach(add)
            } else if found != nil {
                for name in traits(ofNode: number)?.links ?? [] { add(target(name)) }
            }
            return found
        }

        /// The maximum of all tiles.
        fileprivate var largestTile: SVGTraits.Tile? {
            traits.reduce(nil) { most, traits in traits.tile.map { most?.larger($0) ?? $0 } ?? most }
        }

        /// The canvases of all elements together.
        fileprivate var allCanvases: Double {
            traits.reduce(0) { $0 + ($1.isLayer ? 6 : 0) + ($1.primitive?.canvases ?? 0) + ($1.tile == nil ? 0 : 1) }
        }
    }
#endif
