public import ArgumentParser
public import WebImageCore

extension ByteCount: ExpressibleByArgument {
    /// Parses a size such as `1000`, `64k`, `64KiB`, `1.5M` or `2G`. Units are binary, as in the output; `kB`, `MB` and
    /// `GB` are decimal.
    public init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = argument.dropFirst(digits.count).lowercased()
        guard let number = Double(digits), let factor = Self.factors[unit] else { return nil }
        let bytes = (number * factor).rounded(.down)
        guard bytes < 0x1p62 else { return nil }
        self.init(Int(bytes))
    }

    private static let factors: [String: Double] = {
        var factors = ["": 1.0, "b": 1]
        for (power, letter) in ["k", "m", "g", "t"].enumerated() {
            let binary = Double(sign: .plus, exponent: 10 * (power + 1), significand: 1)
            factors[letter] = binary
            factors["\(letter)ib"] = binary
            factors["\(letter)b"] = (0...power).reduce(1.0) { product, _ in product * 1000 }
        }
        return factors
    }()
}
