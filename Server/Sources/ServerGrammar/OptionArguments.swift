import WebImage

/// The arguments of one option, parsed as imgproxy does.
struct OptionArguments {
    let name: String
    let all: [Substring]

    /// The argument; nil if it is absent or empty.
    func filled(_ index: Int) -> Substring? {
        index < all.count && !all[index].isEmpty ? all[index] : nil
    }

    func from(_ index: Int) -> OptionArguments { OptionArguments(name: name, all: Array(all.dropFirst(index))) }

    func check(atMost count: Int) throws(RequestRefusal) {
        guard all.count <= count else { throw .invalidURL("\(name): there are more than \(count) arguments") }
    }

    func fails(_ argument: Substring) -> RequestRefusal {
        .invalidURL("\(name): \(String(argument.prefix(80))) is not a valid value")
    }

    /// A whole number, as large as imgproxy takes them; those above `most` count as `most`, so that sums of them do not
    /// overflow.
    func whole(
        _ argument: Substring, from least: Int = 0, most: Int = 1 << 40
    ) throws(RequestRefusal) -> Int {
        guard let value = Int(argument), value >= least else { throw fails(argument) }
        return min(value, most)
    }

    /// A length in pixels.
    func side(_ argument: Substring) throws(RequestRefusal) -> Int {
        try whole(argument, most: ImgproxyGeometry.longestSide)
    }

    /// A number for which 0 or less means none.
    func wholeOrNone(_ argument: Substring) throws(RequestRefusal) -> Int {
        max(0, try whole(argument, from: .min))
    }

    func number(_ argument: Substring, in range: ClosedRange<Double> = 0...1e12) throws(RequestRefusal) -> Double {
        guard argument.utf8.count <= 64, let value = Double(argument), value.isFinite, range.contains(value) else {
            throw fails(argument)
        }
        return value
    }

    func positive(_ argument: Substring) throws(RequestRefusal) -> Double {
        let value = try number(argument)
        // The range that the library's geometry accepts.
        guard value >= 0.0001, value <= 1e4 else { throw fails(argument) }
        return value
    }

    /// - Throws: if there is not exactly one argument.
    func only() throws(RequestRefusal) -> Substring {
        guard all.count == 1 else { throw .invalidURL("\(name): it takes one argument, not \(all.count)") }
        return all[0]
    }

    /// Anything that is neither true nor false is false, with a warning.
    func flag(_ argument: Substring, _ warnings: inout [String]) -> Bool {
        switch argument {
        case "1", "t", "T", "TRUE", "true", "True": return true
        case "0", "f", "F", "FALSE", "false", "False": return false
        default:
            warnings.append("\(name): \(String(argument.prefix(80))) is neither true nor false; it is treated as false")
            return false
        }
    }

    /// Reads a gravity. Offsets that are left out stay unchanged; one that is there must not be empty, as in imgproxy.
    ///
    /// - Parameter canvas: whether the gravity places a picture on a canvas; `sm` is not allowed then.
    func read(_ place: inout ImgproxyGeometry.Place, canvas: Bool = false) throws(RequestRefusal) {
        try check(atMost: 3)
        guard let first = all.first, let kind = ImgproxyGeometry.Place.Kind(rawValue: String(first)),
            !(canvas && kind == .smart)
        else { throw fails(all.first ?? "") }
        place.kind = kind
        switch kind {
        case .smart:
            try check(atMost: 1)
            (place.x, place.y) = (0, 0)
        case .focusPoint:
            guard all.count == 3 else { throw .invalidURL("\(name): fp takes two numbers") }
            place.x = try number(all[1], in: 0...1)
            place.y = try number(all[2], in: 0...1)
        default:
            if all.count > 1 { place.x = try number(all[1], in: -1e9...1e9) }
            if all.count > 2 { place.y = try number(all[2], in: -1e9...1e9) }
        }
    }

    func color(_ argument: Substring) throws(RequestRefusal) -> RGBColor {
        let digits = argument.utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
        guard digits.count == argument.utf8.count, digits.count == 3 || digits.count == 6 else { throw fails(argument) }
        func byte(_ index: Int) -> UInt8 {
            digits.count == 3 ? digits[index] * 17 : digits[index * 2] * 16 + digits[index * 2 + 1]
        }
        return RGBColor(red: byte(0), green: byte(1), blue: byte(2))
    }

    func format(_ argument: Substring) throws(RequestRefusal) -> ResultFormat {
        guard let format = ResultFormat(name: argument) else { throw fails(argument) }
        return format
    }
}
