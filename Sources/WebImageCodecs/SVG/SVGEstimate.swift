#if SVG
    import WebImageCore

    /// Adds up the cost of a document on a canvas, from the drawn elements and all their references.
    struct SVGEstimate {
        /// Bytes that are held at once besides the canvas itself.
        private(set) var memory = 0.0
        private(set) var nanoseconds = 0.0
        /// Of the largest font, in units of the document.
        private(set) var fontSize = 0.0

        /// The cost of matching one selector part with one element.
        private static let styleMatch = 50.0
        /// A document with circular references is drawn in more ways than are added up here.
        private static let cycleFactor = 1000.0

        /// - Parameters:
        ///   - size: of the canvas.
        ///   - scale: pixels to one of the document's outermost units.
        init(_ survey: SVGSurvey, size: PixelSize, scale: Double) {
            let order = SVGDrawingOrder(survey)
            let stretch = order.mostStretch(survey)
            let canvas = SVGCost.Canvas(
                side: Double(max(size.width, size.height)), scale: min(max(scale * stretch, 1e-12), 1e12),
                font: survey.largestFont)
            var costs: [Int32: SVGCost] = [:]
            costs.reserveCapacity(order.elements.count)
            for number in order.elements {
                costs[number] = SVGCost(
                    survey.elements[Int(number)], survey, on: canvas, { costs[$0] ?? SVGCost() },
                    { survey.targets[$0] ?? [] })
            }
            guard let cost = costs[0] else { return }
            let pixels = Double(size.pixelCount ?? .max)
            // No path through a cycle visits an element twice: its layers are at most all there are.
            let canvases = order.hasCycles ? survey.allCanvases : cost.canvases
            memory = canvases * pixels * 4 + cost.bytes
            nanoseconds = cost.pixelTime * pixels + cost.time + survey.styleMatches * Self.styleMatch
            if order.hasCycles { nanoseconds *= Self.cycleFactor }
            fontSize = max(cost.fontSize, 16 * cost.fontGrowth)
        }
    }

    /// The drawn elements, each after its parts and references.
    struct SVGDrawingOrder {
        private(set) var elements: [Int32] = []
        /// Whether there are circular references, which librsvg detects and ignores.
        private(set) var hasCycles = false

        init(_ survey: SVGSurvey) {
            guard !survey.elements.isEmpty else { return }
            enum State: UInt8 { case unseen, open, done }
            var states = Array(repeating: State.unseen, count: survey.elements.count)
            var work: [(element: Int32, isDone: Bool)] = [(0, false)]
            while let (number, isDone) = work.popLast() {
                if isDone {
                    states[Int(number)] = .done
                    elements.append(number)
                } else if states[Int(number)] == .unseen {
                    states[Int(number)] = .open
                    work.append((number, true))
                    survey.forEachPart(of: number) { part in
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
        func mostStretch(_ survey: SVGSurvey) -> Double {
            var reach: [Int32: Double] = [:]
            reach.reserveCapacity(elements.count)
            for number in elements {
                var most = 1.0
                survey.forEachPart(of: number) { most = max(most, reach[$0] ?? 1) }
                reach[number] = most * (survey.traits(of: survey.elements[Int(number)])?.scale ?? 1)
            }
            return reach[0] ?? 1
        }
    }

    extension SVGSurvey {
        /// What is drawn with an element: its children and references.
        func forEachPart(of number: Int32, _ body: (Int32) -> Void) {
            let element = elements[Int(number)]
            var child = element.firstChild
            while child >= 0 {
                let next = elements[Int(child)]
                if next.kind.isDrawnInPlace || element.kind == .filter { body(child) }
                child = next.nextSibling
            }
            guard let traits = traits(of: element) else { return }
            for names in [traits.links, traits.filters, traits.masks, traits.clips, traits.paints, traits.markers] {
                for name in names { targets[name]?.forEach(body) }
            }
        }

        /// The canvases of all elements together.
        fileprivate var allCanvases: Double {
            traits.reduce(0) { $0 + ($1.isLayer ? 6 : 0) + ($1.primitive?.canvases ?? 0) + ($1.tile == nil ? 0 : 1) }
        }
    }
#endif
