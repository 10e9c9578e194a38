/// Writes small ICC profiles (ICC.1:2010): for RGB a matrix and one curve for all channels, for gray one curve.
struct ICCProfileBytes {
    enum Curve {
        /// `x ^ gamma`
        case gamma(Double)
        /// The curve of IEC 61966-2-1.
        case sRGB
    }

    /// The columns of the matrix from RGB to XYZ under D50.
    static let sRGBColorants = [[0.4361, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971], [0.1431, 0.0606, 0.7141]]
    static let displayP3Colorants = [[0.5151, 0.2412, -0.0011], [0.2920, 0.6922, 0.0419], [0.1571, 0.0666, 0.7841]]

    static func rgb(_ colorants: [[Double]], _ curve: Curve, space: String = "RGB ", kind: String = "mntr") -> [UInt8] {
        let curve = Self.curve(curve)
        let names = ["rXYZ", "gXYZ", "bXYZ"]
        let columns = zip(names, colorants).map { ($0, Self.xyz($1)) }
        return profile(space, kind, columns + ["rTRC", "gTRC", "bTRC"].map { ($0, curve) })
    }

    static func gray(_ curve: Curve) -> [UInt8] { profile("GRAY", "mntr", [("kTRC", Self.curve(curve))]) }

    private static let white = [0.9642, 1, 0.8249]

    private static func profile(_ space: String, _ kind: String, _ tags: [(String, [UInt8])]) -> [UInt8] {
        let tags = [("wtpt", xyz(white))] + tags
        var table = number(tags.count)
        var data: [UInt8] = []
        let start = 128 + 4 + 12 * tags.count
        for (name, bytes) in tags {
            table += Array(name.utf8) + number(start + data.count) + number(bytes.count)
            data += bytes
        }
        var header = number(start + data.count) + number(0) + number(0x0420_0000)
        header += Array((kind + space + "XYZ ").utf8) + [UInt8](repeating: 0, count: 12) + Array("acsp".utf8)
        header += [UInt8](repeating: 0, count: 28) + white.flatMap(fixed)
        header += [UInt8](repeating: 0, count: 128 - header.count)
        return header + table + data
    }

    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
    private static func fixed(_ value: Double) -> [UInt8] { number(Int((value * 65_536).rounded())) }
    private static func xyz(_ values: [Double]) -> [UInt8] { Array("XYZ ".utf8) + number(0) + values.flatMap(fixed) }

    private static func curve(_ curve: Curve) -> [UInt8] {
        let (kind, parameters): (UInt8, [Double]) =
            switch curve {
            case .gamma(let gamma): (0, [gamma])
            case .sRGB: (3, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
            }
        return Array("para".utf8) + number(0) + [0, kind, 0, 0] + parameters.flatMap(fixed)
    }
}
