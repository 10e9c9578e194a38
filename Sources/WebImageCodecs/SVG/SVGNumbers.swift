#if SVG
    import WebImageCore

    /// Reads numbers as SVG writes them: `1-2.5.5e3` are three.
    struct SVGNumbers {
        private let text: UnsafeRawBufferPointer
        private(set) var at = 0

        init(_ text: UnsafeRawBufferPointer) { self.text = text }

        /// The byte that comes next, behind spaces and commas; 0 at the end.
        mutating func peek() -> UInt8 {
            while at < text.count, text[at] <= 0x20 || text[at] == UInt8(ascii: ",") { at += 1 }
            return at < text.count ? text[at] : 0
        }

        mutating func skip() { at += 1 }

        /// One digit, for the flags of arcs, which need no space after them.
        mutating func flag() -> Bool {
            guard Self.isDigit(peek()) else { return false }
            at += 1
            return true
        }

        /// Larger numbers are clamped, so that products of a few of them are still finite.
        private static let largest = 1e60

        /// The next number, always finite; nil if something else follows.
        mutating func next() -> Double? {
            guard peek() != 0 else { return nil }
            let start = at
            let isNegative = text[at] == UInt8(ascii: "-")
            if isNegative || text[at] == UInt8(ascii: "+") { at += 1 }
            var value = 0.0
            var power = 0.0
            var digits = 0
            while at < text.count, Self.isDigit(text[at]) {
                value = value * 10 + Double(text[at] - 48)
                digits += 1
                at += 1
            }
            if at < text.count, text[at] == UInt8(ascii: ".") {
                at += 1
                while at < text.count, Self.isDigit(text[at]) {
                    value = value * 10 + Double(text[at] - 48)
                    power -= 1
                    digits += 1
                    at += 1
                }
            }
            guard digits > 0 else {
                at = start
                return nil
            }
            power += exponent()
            // Zero stays zero, whatever its exponent is.
            if power != 0, value != 0 { value *= Self.powerOfTen(power) }
            value = min(Self.largest, value)
            return isNegative ? -value : value
        }

        /// The exponent after an `e`; 0 if there is none, because the `e` may also begin the unit `em` or `ex`.
        private mutating func exponent() -> Double {
            guard at + 1 < text.count, text[at] | 0x20 == UInt8(ascii: "e") else { return 0 }
            var place = at + 1
            let isNegative = text[place] == UInt8(ascii: "-")
            if isNegative || text[place] == UInt8(ascii: "+") { place += 1 }
            guard place < text.count, Self.isDigit(text[place]) else { return 0 }
            var value = 0.0
            while place < text.count, Self.isDigit(text[place]) {
                value = min(value * 10 + Double(text[place] - 48), 10_000)
                place += 1
            }
            at = place
            return isNegative ? -value : value
        }

        /// 10 to the power of a whole number; infinite or 0 where that is out of range.
        private static func powerOfTen(_ power: Double) -> Double {
            var (result, base, left) = (1.0, power < 0 ? 0.1 : 10.0, Int(min(abs(power), 10_000)))
            while left > 0 {
                if left & 1 == 1 { result *= base }
                base *= base
                left >>= 1
            }
            return result
        }

        /// All numbers; anything between them is ignored.
        static func all(in text: String) -> [Double] {
            var text = text
            return text.withUTF8 { bytes in
                var reader = SVGNumbers(UnsafeRawBufferPointer(bytes))
                var found: [Double] = []
                while reader.peek() != 0 {
                    if let number = reader.next() { found.append(number) } else { reader.skip() }
                }
                return found
            }
        }

        private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    }

    /// A length and its unit.
    struct SVGLength {
        var value: Double
        /// Whether it is a percentage or in `em`, and so relative to something else.
        var isRelative: Bool

        /// - Returns: nil if the text is not a length.
        init?(_ text: String) {
            var text = text
            let parsed = text.withUTF8 { bytes -> (Double, String)? in
                var reader = SVGNumbers(UnsafeRawBufferPointer(bytes))
                guard let number = reader.next() else { return nil }
                let unit = bytes[reader.at...].prefix { $0 > 0x20 }
                return (number, String(decoding: unit, as: UTF8.self).lowercased())
            }
            guard let (number, unit) = parsed else { return nil }
            isRelative = ["%", "em", "ex", "ch", "rem"].contains(unit)
            value = number * (Self.units[unit] ?? 1)
        }

        private static let units = [
            "%": 0.01, "in": 96, "cm": 37.8, "mm": 3.78, "pt": 1.34, "pc": 16.0,
        ]
    }

    /// How much a transform stretches at most.
    enum SVGScale {
        /// The scale of a list such as `translate(3) scale(2)`; 1 for invalid ones, which librsvg does not apply
        /// either.
        static func most(of transform: String) -> Double {
            var scale = 1.0
            for part in transform.split(separator: ")") {
                guard let parenthesis = part.firstIndex(of: "(") else { continue }
                let name = part[..<parenthesis].filter { $0.isLetter }.lowercased()
                let numbers = SVGNumbers.all(in: String(part[parenthesis...].dropFirst()))
                scale *= most(name, numbers)
            }
            return scale.isFinite ? scale : .greatestFiniteMagnitude
        }

        private static func most(_ name: String, _ numbers: [Double]) -> Double {
            switch name {
            case "matrix":
                guard numbers.count >= 4 else { return 1 }
                return numbers.prefix(4).reduce(0) { $0 + $1 * $1 }.squareRoot()
            case "scale", "scalex", "scaley": return numbers.prefix(2).map(abs).max() ?? 1
            case "skewx", "skewy", "skew":
                // A line at 89.9 degrees is 573 times as long.
                let angle = abs(numbers.first ?? 0).truncatingRemainder(dividingBy: 180)
                return 1 + 58 / max(abs(angle - 90), 0.001)
            default: return 1
            }
        }

        /// The scale of a viewBox that fills a viewport.
        static func most(viewBox: [Double], width: Double, height: Double) -> Double {
            guard viewBox.count >= 4, viewBox[2] > 0, viewBox[3] > 0 else { return 1 }
            return max(width / viewBox[2], height / viewBox[3])
        }
    }
#endif
