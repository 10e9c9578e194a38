import Foundation

/// Reads drawings as a terminal would. It understands only the sequences that the command sends.
enum DrawingReader {
    struct Picture: Equatable {
        var width = 0
        var height = 0
        /// The red, green and blue of each pixel, by rows, or nil for the terminal's background.
        var pixels: [[UInt8]?] = []
    }

    enum Fault: Error { case strange(String) }

    /// Reads half blocks with 24-bit colours, of which each line has two rows of pixels.
    static func blocks(_ bytes: [UInt8]) throws -> Picture {
        var picture = Picture()
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            var (upper, lower): ([[UInt8]?], [[UInt8]?]) = ([], [])
            var (ink, ground): ([UInt8]?, [UInt8]?) = (nil, nil)
            var rest = Substring(line)
            while let letter = rest.first {
                rest.removeFirst()
                switch letter {
                case "\u{1B}":
                    guard let end = rest.firstIndex(of: "m"), rest.first == "[" else { throw Fault.strange("\(rest)") }
                    try apply(rest[rest.index(after: rest.startIndex)..<end], &ink, &ground)
                    rest = rest[rest.index(after: end)...]
                case "\u{2580}": (upper, lower) = (upper + [ink], lower + [ground])
                case "\u{2584}": (upper, lower) = (upper + [ground], lower + [ink])
                case " ": (upper, lower) = (upper + [ground], lower + [ground])
                default: throw Fault.strange("a letter: \(letter)")
                }
            }
            guard ink == nil, ground == nil else { throw Fault.strange("a line keeps its colours") }
            picture.width = upper.count
            picture.height += 2
            picture.pixels += upper + lower
        }
        return picture
    }

    private static func apply(_ codes: Substring, _ ink: inout [UInt8]?, _ ground: inout [UInt8]?) throws {
        var numbers = codes.split(separator: ";").compactMap { UInt8($0) }[...]
        while let code = numbers.popFirst() {
            switch code {
            case 0: (ink, ground) = (nil, nil)
            case 49: ground = nil
            case 38, 48:
                guard numbers.popFirst() == 2, numbers.count >= 3 else { throw Fault.strange("a colour") }
                let color = Array(numbers.prefix(3))
                numbers = numbers.dropFirst(3)
                if code == 38 { ink = color } else { ground = color }
            default: throw Fault.strange("code \(code)")
            }
        }
    }

    /// Reads a sixel drawing.
    static func sixel(_ bytes: [UInt8]) throws -> Picture {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("\u{1B}P0;1;0q\"1;1;"), let end = text.range(of: "\u{1B}\\") else {
            throw Fault.strange(String(text.prefix(20)))
        }
        var rest = text[..<end.lowerBound].unicodeScalars.dropFirst(13)
        func number() -> Int {
            let digits = rest.prefix { (0x30...0x39).contains($0.value) }
            rest = rest.dropFirst(digits.count)
            return Int(String(String.UnicodeScalarView(digits))) ?? -1
        }
        var picture = Picture()
        picture.width = number()
        rest = rest.dropFirst()
        picture.height = number()
        guard picture.width > 0, picture.height > 0 else { throw Fault.strange("a size") }
        picture.pixels = Array(repeating: nil, count: picture.width * picture.height)
        var (colors, color, x, y) = ([Int: [UInt8]](), 0, 0, 0)
        while let letter = rest.popFirst() {
            switch letter {
            case "#":
                color = number()
                guard rest.first == ";" else { continue }
                rest = rest.dropFirst(3)
                colors[color] = (0..<3).map { channel in
                    if channel > 0 { rest = rest.dropFirst() }
                    return UInt8((Double(number()) * 2.55).rounded())
                }
            case "$": x = 0
            case "-": (x, y) = (0, y + 6)
            case "!", "?"..."~":
                let count = letter == "!" ? number() : 1
                guard let bits = (letter == "!" ? rest.popFirst() : letter).map({ $0.value - 0x3F }) else {
                    throw Fault.strange("a repeat of nothing")
                }
                for column in x..<x + count {
                    for row in 0..<6 where bits >> row & 1 == 1 {
                        guard column < picture.width, y + row < picture.height, let ink = colors[color] else {
                            throw Fault.strange("a dot outside, or without a colour")
                        }
                        picture.pixels[(y + row) * picture.width + column] = ink
                    }
                }
                x += count
            default: throw Fault.strange("sixel \(letter)")
            }
        }
        return picture
    }

    /// Reads the keys and the data of each piece of a drawing in kitty's protocol.
    static func kitty(_ bytes: [UInt8]) throws -> [(keys: String, data: String)] {
        var pieces = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\u{1B}\\")
        guard pieces.popLast() == "\n" else { throw Fault.strange("no end") }
        return try pieces.map { piece in
            let parts = piece.components(separatedBy: ";")
            guard piece.hasPrefix("\u{1B}_G"), parts.count == 2 else { throw Fault.strange(piece) }
            return (String(parts[0].dropFirst(3)), parts[1])
        }
    }
}
