#if PDF
    /// The operators of a page's content (ISO 32000-1, 7.8), as far as they determine memory.
    struct PDFOperators {
        /// How many states are saved at once, at most.
        private(set) var saved = 0
        /// The number of points of the path with the most points.
        private(set) var points = 0
        /// The length of the longest path, in its own units.
        private(set) var length = 0.0
        /// The shortest dash or gap, in the units of the path; infinite when there are no dashes.
        private(set) var dash = Double.infinity

        private var tokens: PDFTokens
        /// The last numbers before an operator, and their count.
        private var numbers = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        private var array = (sum: 0.0, count: 0, isOpen: false)
        private var open = 0
        private var path = (points: 0, length: 0.0, x: 0.0, y: 0.0)

        init(_ content: UnsafeRawBufferPointer) {
            tokens = PDFTokens(content)
            while let token = tokens.next() {
                switch token {
                case .number(let value): add(value)
                case .arrayBegins: array = (0, 0, true)
                case .arrayEnds: array.isOpen = false
                case .word(let word): carryOut(word)
                }
            }
        }

        private mutating func add(_ number: Double) {
            if array.isOpen {
                array.sum += abs(number)
                array.count += 1
            } else {
                numbers = (numbers.1, numbers.2, numbers.3, numbers.4, numbers.5, number)
            }
        }

        private mutating func carryOut(_ word: UInt32) {
            switch word {
            case PDFTokens.word("q"):
                open += 1
                saved = max(saved, open)
            case PDFTokens.word("Q"): open = max(open - 1, 0)
            case PDFTokens.word("m"):
                path.points += 1
                (path.x, path.y) = (numbers.4, numbers.5)
            case PDFTokens.word("l"): goTo(numbers.4, numbers.5)
            // A curve is drawn as several lines, and is no longer than its control polygon.
            case PDFTokens.word("c"):
                path.points += 5
                for corner in [(numbers.0, numbers.1), (numbers.2, numbers.3), (numbers.4, numbers.5)] {
                    goTo(corner.0, corner.1)
                }
            case PDFTokens.word("v"), PDFTokens.word("y"):
                path.points += 6
                for corner in [(numbers.2, numbers.3), (numbers.4, numbers.5)] { goTo(corner.0, corner.1) }
            case PDFTokens.word("re"):
                path.points += 4
                path.length += 2 * (abs(numbers.4) + abs(numbers.5))
                note()
            case PDFTokens.word("d"): if array.sum > 0 { dash = min(dash, array.sum / Double(array.count)) }
            case PDFTokens.word("S"), PDFTokens.word("s"), PDFTokens.word("f"), PDFTokens.word("F"),
                PDFTokens.word("B"), PDFTokens.word("b"), PDFTokens.word("n"), PDFTokens.word("f*"),
                PDFTokens.word("B*"), PDFTokens.word("b*"):
                path = (0, 0, path.x, path.y)
            case PDFTokens.word("ID"): tokens.skipInlineBitmap()
            default: break
            }
        }

        private mutating func goTo(_ x: Double, _ y: Double) {
            path.points += 1
            path.length += abs(x - path.x) + abs(y - path.y)
            (path.x, path.y) = (x, y)
            note()
        }

        private mutating func note() {
            points = max(points, path.points)
            length = max(length, path.length)
        }
    }

    /// The tokens of a page's content (ISO 32000-1, 7.2); strings, names and comments are left out.
    struct PDFTokens {
        enum Token {
            case number(Double)
            case arrayBegins
            case arrayEnds
            /// An operator of up to four characters, encoded by ``PDFTokens/word(_:)``; 0 for a longer one.
            case word(UInt32)
        }

        private let text: UnsafeRawBufferPointer
        private var at = 0

        init(_ text: UnsafeRawBufferPointer) { self.text = text }

        /// The characters of an operator as one number.
        static func word(_ text: StaticString) -> UInt32 {
            var word: UInt32 = 0
            for index in 0..<text.utf8CodeUnitCount { word = word << 8 | UInt32(text.utf8Start[index]) }
            return word
        }

        mutating func next() -> Token? {
            while at < text.count {
                let byte = text[at]
                switch byte {
                case 0...0x20: at += 1
                case UInt8(ascii: "%"): skip { $0 != 0x0A && $0 != 0x0D }
                case UInt8(ascii: "("): skipString()
                case UInt8(ascii: "<"): skipHexadecimal()
                case UInt8(ascii: "/"):
                    at += 1
                    skip(Self.isRegular)
                case UInt8(ascii: "["):
                    at += 1
                    return .arrayBegins
                case UInt8(ascii: "]"):
                    at += 1
                    return .arrayEnds
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
                    return .number(number())
                case _ where Self.isRegular(byte): return .word(word())
                default: at += 1
                }
            }
            return nil
        }

        /// Skips the bytes of a bitmap within the content, up to its `EI`.
        mutating func skipInlineBitmap() {
            while at + 2 < text.count {
                let ends = text[at] <= 0x20 && text[at + 1] == UInt8(ascii: "E") && text[at + 2] == UInt8(ascii: "I")
                if ends, at + 3 == text.count || !Self.isRegular(text[at + 3]) { return }
                at += 1
            }
        }

        private mutating func skip(_ isPart: (UInt8) -> Bool) {
            while at < text.count, isPart(text[at]) { at += 1 }
        }

        private mutating func skipString() {
            var depth = 0
            repeat {
                switch text[at] {
                case UInt8(ascii: "\\"): at += 1
                case UInt8(ascii: "("): depth += 1
                case UInt8(ascii: ")"): depth -= 1
                default: break
                }
                at += 1
            } while at < text.count && depth > 0
        }

        /// Skips a string of hexadecimal digits, or the beginning of a dictionary.
        private mutating func skipHexadecimal() {
            at += 1
            if at < text.count, text[at] == UInt8(ascii: "<") {
                at += 1
            } else {
                skip { $0 != UInt8(ascii: ">") }
            }
        }

        private mutating func number() -> Double {
            let isNegative = text[at] == UInt8(ascii: "-")
            if isNegative || text[at] == UInt8(ascii: "+") { at += 1 }
            var (value, unit) = (0.0, 0.0)
            while at < text.count {
                let byte = text[at]
                if byte == UInt8(ascii: "."), unit == 0 {
                    unit = 1
                } else if UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
                    value = value * 10 + Double(byte - 48)
                    unit *= 10
                } else {
                    break
                }
                at += 1
            }
            // Adjacent characters belong to the number: `1-2` and `1e9` are not two numbers.
            skip(Self.isRegular)
            return (isNegative ? -1 : 1) * (unit > 1 ? value / unit : value)
        }

        private mutating func word() -> UInt32 {
            let start = at
            var word: UInt32 = 0
            while at < text.count, Self.isRegular(text[at]) {
                word = word << 8 | UInt32(text[at])
                at += 1
            }
            return at - start <= 4 ? word : 0
        }

        private static func isRegular(_ byte: UInt8) -> Bool {
            switch byte {
            case 0...0x20: false
            case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "["),
                UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "/"), UInt8(ascii: "%"):
                false
            default: true
            }
        }
    }
#endif
