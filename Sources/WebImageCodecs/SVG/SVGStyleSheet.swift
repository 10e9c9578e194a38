#if SVG
    import WebImageCore

    /// The properties that a document's style sheets may assign to an element.
    ///
    /// Only the last part of a selector is used, and only one name of it, so that a rule applies here to at least the
    /// elements that it applies to in librsvg.
    struct SVGStyleSheet {
        typealias Declaration = (name: String, value: String)

        /// The name that an element must have for a rule to apply.
        private enum Subject: Hashable {
            case any
            case type(String)
            case kind(String)
            case id(String)
        }

        /// All properties for elements with that name.
        private var rules: [Subject: SVGTraits] = [:]
        /// The number of parts of selectors. Matching each with each element takes time.
        private(set) var selectorParts = 0

        private let checkpoint: (() throws(WebImageError) -> Void)?

        /// - Parameter checkpoint: called now and then; its error ends the reading.
        /// - Throws: `unsupportedFeature` for style sheets in `data:` URLs, which are not scanned.
        init(
            of document: UnsafeRawBufferPointer, checkpoint: (() throws(WebImageError) -> Void)? = nil
        ) throws(WebImageError) {
            self.checkpoint = checkpoint
            var markup = SVGMarkup(document)
            // The depth within a style element.
            var level = 0
            var sheet = ""
            while let part = markup.next() {
                switch part {
                case .start(let text, let isEmpty):
                    if level == 0, SVGTag(text).name != "style" { continue }
                    if !isEmpty { level += 1 }
                case .end:
                    guard level > 0 else { continue }
                    level -= 1
                    if level == 0 {
                        try read(sheet)
                        sheet = ""
                    }
                case .text(let text): if level > 0 { sheet += SVGTag.decoded(text) }
                case .data(let text): if level > 0 { sheet += String(decoding: text, as: UTF8.self) }
                case .instruction(let text):
                    guard text.starts(with: "xml-stylesheet".utf8) else { continue }
                    try Self.refuseHidden(SVGTag.decoded(text))
                case .declaration: break
                }
            }
        }

        private static let maxClasses = 256
        /// The number of classes from which on an element takes a while.
        private static let manyClasses = 8

        var isEmpty: Bool { rules.isEmpty }

        /// Adds all properties that may apply to an element to its own.
        ///
        /// - Throws: `limitExceeded` for an element of very many classes; what the checkpoint throws.
        func add(
            to traits: inout SVGTraits, name: String, id: String?, classes: String?
        ) throws(WebImageError) {
            if rules.isEmpty { return }
            func add(_ subject: Subject) { if let rule = rules[subject] { traits.add(rule) } }
            add(.any)
            add(.type(name.lowercased()))
            if let id { add(.id(id)) }
            let names = Set(classes?.split(whereSeparator: \.isWhitespace) ?? [])
            guard names.count <= Self.maxClasses else {
                throw WebImageError(
                    .limitExceeded, "an element has more than \(Self.maxClasses) classes", format: .svg)
            }
            if names.count >= Self.manyClasses { try checkpoint?() }
            for one in names { add(.kind(String(one))) }
        }

        private static func refuseHidden(_ text: String) throws(WebImageError) {
            guard !text.lowercased().contains("data:") else {
                throw WebImageError(.unsupportedFeature, "style sheets in data: URLs are not read", format: .svg)
            }
        }

        private mutating func read(_ text: String) throws(WebImageError) {
            var (prelude, traits) = ("", SVGTraits())
            var reader = CSSReader(text)
            var count = 0
            while let (piece, end) = reader.piece() {
                if count % Self.checkInterval == 0 { try checkpoint?() }
                count += 1
                if piece.contains("@import") { try Self.refuseHidden(piece) }
                switch end {
                case "{":
                    try add(prelude, traits)
                    // Rules in a block such as `@media` are treated as if they were outside of it.
                    prelude = piece.first { !$0.isWhitespace } == "@" ? "" : piece
                    traits = SVGTraits()
                case "}":
                    Self.read(piece, into: &traits)
                    try add(prelude, traits)
                    (prelude, traits) = ("", SVGTraits())
                default:
                    // The end of a declaration.
                    Self.read(piece, into: &traits)
                }
            }
            try add(prelude, traits)
        }

        private static func read(_ piece: String, into traits: inout SVGTraits) {
            guard let declaration = CSSReader.declaration(piece) else { return }
            guard SVGTraits.properties.contains(declaration.name) else { return }
            traits.read(declaration.name, declaration.value)
        }

        /// Adds the declarations of a block to all names that its selectors end with.
        private mutating func add(_ prelude: String, _ traits: SVGTraits) throws(WebImageError) {
            if prelude.isEmpty || traits.isPlain { return }
            var subjects: Set<Subject> = []
            for (number, selector) in prelude.split(separator: ",").enumerated() {
                if number % Self.checkInterval == 0 { try checkpoint?() }
                selectorParts += selector.split { " >+~".contains($0) }.count
                subjects.insert(Self.subject(of: selector))
            }
            for (number, subject) in subjects.enumerated() {
                if number % Self.checkInterval == 0 { try checkpoint?() }
                rules[subject, default: SVGTraits()].add(traits)
                guard rules[subject]?.references ?? 0 <= SVGTraits.maxReferences else {
                    throw WebImageError(
                        .limitExceeded, "too many rules of style hold for the same elements", format: .svg)
                }
            }
        }

        /// How many pieces or selectors are read between two calls of the checkpoint.
        private static let checkInterval = 64

        private static func subject(of selector: Substring) -> Subject {
            // Parts after a colon or in brackets only restrict it.
            let last = selector.split { " >+~\n\t\r\u{C}".contains($0) }.last ?? ""
            guard
                !last.unicodeScalars.contains(where: { "()[]".unicodeScalars.contains($0) || $0 == CSSReader.disguised }
                )
            else { return .any }
            let plain = last.prefix { $0 != ":" }
            for (mark, make) in [("#", Subject.id), (".", Subject.kind)] {
                let parts = plain.split(separator: mark, omittingEmptySubsequences: false)
                guard parts.count > 1 else { continue }
                return make(String(parts[1].prefix { $0 != "#" && $0 != "." }))
            }
            // The name may have the prefix of a namespace.
            let name = plain.split(separator: "|").last ?? ""
            return name.isEmpty || name == "*" ? .any : .type(name.lowercased())
        }
    }

    /// Cuts a style sheet, or the text of a `style` attribute, into pieces.
    struct CSSReader {
        /// Replaces an escaped character that would otherwise be misread.
        static let disguised: Unicode.Scalar = "\u{FFFD}"

        private var rest: Substring.UnicodeScalarView

        init(_ text: String) { rest = Substring(text).unicodeScalars }

        /// The text before the next `{`, `}` or `;` outside of quotes and parentheses, without comments and with
        /// escapes resolved; and that character, or a space at the end.
        mutating func piece() -> (text: String, end: Unicode.Scalar)? {
            guard !rest.isEmpty else { return nil }
            var text = String.UnicodeScalarView()
            var quote: Unicode.Scalar?
            var parentheses = 0
            while let scalar = rest.popFirst() {
                if scalar == "\\" {
                    text.append(escaped())
                } else if let open = quote {
                    // A string ends with its line at the latest.
                    if scalar == open || scalar == "\n" { quote = nil }
                    text.append(scalar)
                } else if scalar == "/", rest.first == "*" {
                    skipComment()
                } else {
                    switch scalar {
                    case "\"", "'": quote = scalar
                    case "(": parentheses += 1
                    case ")": parentheses = max(parentheses - 1, 0)
                    case "{", "}": return (String(text), scalar)
                    case ";": if parentheses == 0 { return (String(text), scalar) }
                    default: break
                    }
                    text.append(scalar)
                }
            }
            return (String(text), " ")
        }

        /// Name and value of a declaration, without a mark of importance.
        static func declaration(_ text: String) -> SVGStyleSheet.Declaration? {
            guard let colon = text.firstIndex(of: ":") else { return nil }
            let name = text[..<colon].filter { !$0.isWhitespace }.lowercased()
            return (name, String(text[text.index(after: colon)...]))
        }

        private mutating func skipComment() {
            rest.removeFirst()
            var last: Unicode.Scalar?
            while let scalar = rest.popFirst() {
                if last == "*", scalar == "/" { return }
                last = scalar
            }
        }

        /// CSS Syntax 3, section 4.3.7.
        private mutating func escaped() -> Unicode.Scalar {
            var code = UInt32(0)
            var digits = 0
            while digits < 6, let first = rest.first, let digit = Character(first).hexDigitValue, first.isASCII {
                code = code << 4 | UInt32(digit)
                digits += 1
                rest.removeFirst()
            }
            let scalar = digits == 0 ? rest.popFirst() : Unicode.Scalar(code)
            if digits > 0, let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
            // An escaped delimiter is not a delimiter.
            guard let scalar, scalar.properties.isAlphabetic || "0123456789-_".unicodeScalars.contains(scalar) else {
                return Self.disguised
            }
            return scalar
        }
    }
#endif
