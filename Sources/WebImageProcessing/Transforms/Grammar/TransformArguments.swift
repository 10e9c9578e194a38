import WebImageCore

/// The arguments of a step: `320x200:cover:filter=box` has a size, a flag and a named value.
struct TransformArguments {
    /// An argument, and its position.
    struct Argument {
        let value: Substring
        let text: String

        /// The range of the argument in UTF-8 bytes of the whole text.
        var range: Range<Int> {
            let start = text.utf8.distance(from: text.startIndex, to: value.startIndex)
            return start..<start + value.utf8.count
        }
    }

    let text: String
    let resources: TransformResources
    private let name: Substring
    private let usage: String
    private var plain: [Argument] = []
    private var named: [(name: Substring, argument: Argument)] = []
    /// The names of the arguments that were read.
    private var taken: Set<Substring> = []

    /// - Parameters:
    ///   - step: a part of `text`.
    ///   - usage: the syntax of the step.
    init(_ step: Substring, in text: String, usage: String, resources: TransformResources) {
        self.text = text
        self.usage = usage
        self.resources = resources
        let parts = step.split(separator: ":", omittingEmptySubsequences: false)
        name = parts.first ?? step
        for part in parts.dropFirst() {
            if let sign = part.firstIndex(of: "=") {
                named.append((part[..<sign], Argument(value: part[part.index(after: sign)...], text: text)))
            } else {
                plain.append(Argument(value: part, text: text))
            }
        }
    }

    /// The next argument without a name.
    mutating func next(_ what: String) throws(TransformSyntaxError) -> Argument {
        if let argument = nextIfAny() { return argument }
        let end = text.utf8.distance(from: text.startIndex, to: name.endIndex)
        throw TransformSyntaxError("\(name) needs \(what): \(usage)", in: text, at: end..<end)
    }

    mutating func nextIfAny() -> Argument? { plain.isEmpty ? nil : plain.removeFirst() }

    mutating func named(_ name: String) -> Argument? {
        guard let index = named.firstIndex(where: { $0.name == name }) else { return nil }
        taken.insert(named[index].name)
        return named.remove(at: index).argument
    }

    /// Whether a word is among the unnamed arguments.
    mutating func flag(_ name: String) -> Bool {
        guard let index = plain.firstIndex(where: { $0.value == name }) else { return false }
        plain.remove(at: index)
        return true
    }

    /// The first unnamed argument that `read` accepts.
    mutating func first<Value>(_ read: (Substring) -> Value?) -> Value? {
        for (index, argument) in plain.enumerated() {
            guard let value = read(argument.value) else { continue }
            plain.remove(at: index)
            return value
        }
        return nil
    }

    /// - Throws: for an argument that was not read.
    func checkEnd() throws(TransformSyntaxError) {
        if let rest = plain.first {
            let what = rest.value.isEmpty ? "an empty argument" : "\"\(rest.value)\""
            throw TransformSyntaxError("\(name) does not know \(what): \(usage)", in: text, at: rest.range)
        }
        if let rest = named.first {
            let start = text.utf8.distance(from: text.startIndex, to: rest.name.startIndex)
            let fault = taken.contains(rest.name) ? "takes only one" : "has no"
            throw TransformSyntaxError(
                "\(name) \(fault) \"\(rest.name)\": \(usage)", in: text, at: start..<start + rest.name.utf8.count)
        }
    }
}

extension TransformArguments.Argument {
    func fails(_ message: String) -> TransformSyntaxError { TransformSyntaxError(message, in: text, at: range) }

    func number(in bounds: ClosedRange<Double>, _ what: String) throws(TransformSyntaxError) -> Double {
        guard let number = Double(decimal: value), number.isFinite, bounds.contains(number) else {
            throw fails(
                "\(what) must be a number from \(bounds.lowerBound.shortText) to \(bounds.upperBound.shortText)")
        }
        return number
    }

    func whole(in bounds: ClosedRange<Int>, _ what: String) throws(TransformSyntaxError) -> Int {
        guard let number = Int(value), bounds.contains(number) else {
            throw fails("\(what) must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        return number
    }

    /// Numbers with commas between them.
    func numbers(
        _ counts: Set<Int>, in bounds: ClosedRange<Double>, _ what: String
    ) throws(TransformSyntaxError) -> [Double] {
        let parts = value.split(separator: ",", omittingEmptySubsequences: false)
        guard counts.contains(parts.count) else {
            let wanted = counts.sorted().map(String.init).joined(separator: " or ")
            throw fails("\(what) takes \(wanted) numbers, separated by commas")
        }
        var numbers: [Double] = []
        for part in parts {
            numbers.append(
                try TransformArguments.Argument(value: part, text: text).number(in: bounds, what))
        }
        return numbers
    }

    func color() throws(TransformSyntaxError) -> RGBAColor {
        guard let color = RGBAColor(hex: value) else { throw fails("a colour must be written as #rrggbb or #rrggbbaa") }
        return color
    }

    /// `320x200`, or, if a side may be missing, `320x` and `x200`.
    func size(needsBoth: Bool) throws(TransformSyntaxError) -> (width: Int?, height: Int?) {
        let sides = value.split(separator: "x", maxSplits: 1, omittingEmptySubsequences: false)
        let example = needsBoth ? "320x200" : "320x200, 320x or x200"
        guard sides.count == 2 else { throw fails("a size must be written as \(example)") }
        let read = sides.map { Int($0) }
        let isSound = zip(sides, read).allSatisfy { text, side in
            text.isEmpty ? !needsBoth : side.map { (1...TransformArguments.longestSide).contains($0) } ?? false
        }
        let (width, height) = (read[0], read[1])
        guard isSound, width != nil || height != nil else {
            throw fails("a size must be written as \(example), each side from 1 to \(TransformArguments.longestSide)")
        }
        return (width, height)
    }

    func gravity() throws(TransformSyntaxError) -> Gravity {
        guard let gravity = Gravity(text: value) else {
            throw fails(
                "a place must be center, top, bottom, left, right, top-left, top-right, bottom-left, bottom-right, smart, "
                    + "or a point such as 0.3,0.7")
        }
        return gravity
    }

    /// A file name; `%` and two digits stand for a character with a meaning in the grammar.
    var decodedName: String {
        var bytes: [UInt8] = []
        var rest = value.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(\.hexDigitValue)
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                bytes.append(digits[0] * 16 + digits[1])
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension TransformArguments {
    static let longestSide = 1 << 20
}

extension Double {
    /// A number in decimal notation; nil for the hexadecimal numbers, infinities and the like that C reads, too.
    init?(decimal text: some StringProtocol) {
        guard text.utf8.allSatisfy({ "0123456789.-+eE".utf8.contains($0) }), text.utf8.first != UInt8(ascii: "+")
        else { return nil }
        self.init(String(text))
    }
}
