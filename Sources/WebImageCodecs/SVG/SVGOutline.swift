#if SVG
    /// Upper bounds of a path's points, its length and its extent.
    struct SVGOutline {
        private(set) var points = 0
        /// In the path's own units.
        private(set) var length = 0.0
        /// The number of characters, for a text.
        var characters = 0
        /// The share of the canvas that it covers, for a shape with a relative size.
        var canvasPart = 0.0
        /// The longer side of the box around it.
        var side: Double { max(right - left, bottom - top, 0) }

        private var (left, right) = (Double.infinity, -Double.infinity)
        private var (top, bottom) = (Double.infinity, -Double.infinity)
        private var (x, y) = (0.0, 0.0)
        private var (startX, startY) = (0.0, 0.0)

        /// Parses a path's data (SVG 1.1, section 8.3), up to the first error, as renderers do.
        init(path: UnsafeRawBufferPointer) {
            var numbers = SVGNumbers(path)
            var command = UInt8(0)
            while true {
                let next = numbers.peek()
                guard next != 0 else { return }
                if Self.isLetter(next) {
                    command = next
                    numbers.skip()
                    if command | 0x20 == UInt8(ascii: "z") {
                        move(toX: startX, y: startY)
                        command = 0
                    }
                } else if !draw(command, &numbers) {
                    return
                } else if command | 0x20 == UInt8(ascii: "m") {
                    // Points after the first one are lines.
                    (startX, startY) = (x, y)
                    command = command == UInt8(ascii: "m") ? UInt8(ascii: "l") : UInt8(ascii: "L")
                }
            }
        }

        /// The corners of a polygon.
        init(corners: UnsafeRawBufferPointer) {
            var numbers = SVGNumbers(corners)
            while let x = numbers.next(), let y = numbers.next() { move(toX: x, y: y) }
            // A polygon is closed.
            length *= 2
        }

        /// A shape of few points.
        init(points: Int, length: Double, side: Double) {
            self.points = points
            self.length = length
            (left, right, top, bottom) = (0, side, 0, 0)
        }

        private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

        /// - Returns: whether all its numbers are present.
        private mutating func draw(_ command: UInt8, _ numbers: inout SVGNumbers) -> Bool {
            let isRelative = command & 0x20 != 0
            let (baseX, baseY) = isRelative ? (x, y) : (0, 0)
            switch command | 0x20 {
            case UInt8(ascii: "h"):
                guard let to = numbers.next() else { return false }
                move(toX: baseX + to, y: y)
            case UInt8(ascii: "v"):
                guard let to = numbers.next() else { return false }
                move(toX: x, y: baseY + to)
            case UInt8(ascii: "m"), UInt8(ascii: "l"), UInt8(ascii: "t"):
                return drawPairs(1, baseX, baseY, &numbers)
            case UInt8(ascii: "s"), UInt8(ascii: "q"): return drawPairs(2, baseX, baseY, &numbers)
            case UInt8(ascii: "c"): return drawPairs(3, baseX, baseY, &numbers)
            case UInt8(ascii: "a"):
                guard let across = numbers.next(), let down = numbers.next(), numbers.next() != nil, numbers.flag(),
                    numbers.flag(), let toX = numbers.next(), let toY = numbers.next()
                else { return false }
                let radius = max(abs(across), abs(down))
                let (fromX, fromY) = (x, y)
                move(toX: baseX + toX, y: baseY + toY)
                // A radius that is too small is enlarged as needed, keeping the ellipse's ratio.
                let ratio = radius / max(min(abs(across), abs(down)), 1e-3 * radius, .leastNormalMagnitude)
                let reach = max(radius, (abs(x - fromX) + abs(y - fromY)) * ratio)
                points += 16
                length += reach * 2 * .pi
                include(x - reach * 2, y - reach * 2)
                include(x + reach * 2, y + reach * 2)
            default: return false
            }
            return true
        }

        /// Lines between control points, which are at least as long as the curve.
        private mutating func drawPairs(
            _ count: Int, _ baseX: Double, _ baseY: Double, _ numbers: inout SVGNumbers
        ) -> Bool {
            // A curve is drawn as several lines.
            if count > 1 { points += 8 }
            for _ in 0..<count {
                guard let toX = numbers.next(), let toY = numbers.next() else { return false }
                move(toX: baseX + toX, y: baseY + toY)
            }
            return true
        }

        private mutating func move(toX: Double, y toY: Double) {
            points += 1
            length += abs(toX - x) + abs(toY - y)
            (x, y) = (toX, toY)
            include(x, y)
        }

        private mutating func include(_ x: Double, _ y: Double) {
            (left, right) = (min(left, x), max(right, x))
            (top, bottom) = (min(top, y), max(bottom, y))
        }
    }
#endif
