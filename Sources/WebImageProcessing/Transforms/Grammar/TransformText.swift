import WebImageCore

/// Writes one step of a chain.
struct TransformText {
    private(set) var text: String

    init(_ name: String) { text = name }

    func add(_ argument: String) -> TransformText {
        var copy = self
        copy.text += ":" + argument
        return copy
    }

    func add(_ number: Double) -> TransformText { add(number.shortText) }

    /// Adds a word if it applies.
    func add(_ flag: String, if applies: Bool) -> TransformText { applies ? add(flag) : self }

    /// Adds a value with its name, unless it is the default.
    func add(_ name: String, _ value: Double, unless standard: Double) -> TransformText {
        value == standard ? self : add(name + "=" + value.shortText)
    }

    func add(_ name: String, _ value: Gravity, unless standard: Gravity = .center) -> TransformText {
        value == standard ? self : add(name + "=" + value.text)
    }

    func add(_ name: String, _ value: RGBAColor, unless standard: RGBAColor) -> TransformText {
        value == standard ? self : add(name + "=" + value.description)
    }

    /// Adds a file name.
    func add(fileNamed name: String) -> TransformText {
        // Spaces at the end of a step are ignored.
        let lastSpaces = name.utf8.count - name.utf8.reversed().prefix { $0 == UInt8(ascii: " ") }.count
        return add(
            name.utf8.enumerated().reduce(into: "") { text, place in
                let (index, byte) = place
                let character = Character(UnicodeScalar(byte))
                if byte >= 0x80 || index >= lastSpaces || ":|=%\n\r".contains(character) {
                    text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
                } else {
                    text.append(character)
                }
            })
    }
}

extension Gravity {
    private static let words: [(String, Gravity)] = [
        ("center", .center), ("top", .top), ("bottom", .bottom), ("left", .left), ("right", .right),
        ("top-left", .topLeft), ("top-right", .topRight), ("bottom-left", .bottomLeft),
        ("bottom-right", .bottomRight), ("smart", .smart),
    ]

    /// `top-left`, or `0.3,0.7` for a point.
    var text: String {
        if case .focus(let x, let y) = self { return x.shortText + "," + y.shortText }
        return Self.words.first { $0.1 == self }?.0 ?? "center"
    }

    init?(text: Substring) {
        if let word = Self.words.first(where: { $0.0 == text }) {
            self = word.1
            return
        }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let x = Double(decimal: parts[0]), let y = Double(decimal: parts[1]),
            (0...1).contains(x), (0...1).contains(y)
        else { return nil }
        self = .focus(x: x, y: y)
    }
}
