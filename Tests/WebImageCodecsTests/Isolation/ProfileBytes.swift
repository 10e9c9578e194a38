/// Writes ICC profiles (ICC.1:2010), one for each way in which profiles are read.
struct ProfileBytes {
    var space = "RGB "
    var kind = "mntr"
    var connection = "XYZ "
    var version = 0x0420_0000
    var tags: [(name: String, bytes: [UInt8])] = []

    /// The columns of the matrix from RGB to XYZ under D50.
    static let sRGB = [[0.4361, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971], [0.1431, 0.0606, 0.7141]]
    static let displayP3 = [[0.5151, 0.2412, -0.0011], [0.2920, 0.6922, 0.0419], [0.1571, 0.0666, 0.7841]]

    static func rgb(_ columns: [[Double]], _ curve: [UInt8], version: Int = 0x0420_0000) -> ProfileBytes {
        var profile = ProfileBytes(version: version)
        profile.tags = zip(["rXYZ", "gXYZ", "bXYZ"], columns).map { ($0, xyz($1)) }
        profile.tags += ["rTRC", "gTRC", "bTRC"].map { ($0, curve) }
        return profile
    }

    static func gray(_ curve: [UInt8]) -> ProfileBytes { ProfileBytes(space: "GRAY", tags: [("kTRC", curve)]) }

    var bytes: [UInt8] {
        let tags = [("wtpt", Self.xyz([0.9642, 1, 0.8249]))] + tags
        var (table, data) = (Self.number(tags.count), [UInt8]())
        let start = 128 + 4 + 12 * tags.count
        for (name, bytes) in tags {
            table += Array(name.utf8) + Self.number(start + data.count) + Self.number(bytes.count)
            data += bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        }
        var header = Self.number(start + data.count) + Self.number(0) + Self.number(version)
        header += Array((kind + space + connection).utf8) + [UInt8](repeating: 0, count: 12) + Array("acsp".utf8)
        header += [UInt8](repeating: 0, count: 28) + [0.9642, 1, 0.8249].flatMap(Self.fixed)
        return header + [UInt8](repeating: 0, count: 128 - header.count) + table + data
    }

    /// The same profile with an unknown tag, so that it is left to lcms2.
    static func withUnknownTag(_ profile: [UInt8]) -> [UInt8] {
        func read(_ place: Int) -> Int { profile[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        let count = read(128)
        var bytes = number(read(0) + 12) + profile[4..<128] + number(count + 1)
        for entry in 0..<count {
            let place = 132 + 12 * entry
            bytes += profile[place..<place + 4] + number(read(place + 4) + 12) + profile[place + 8..<place + 12]
        }
        return bytes + Array("D2B9".utf8) + number(128) + number(4) + profile[(132 + 12 * count)...]
    }

    // MARK: tags

    static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    static func short(_ value: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }
    static func fixed(_ value: Double) -> [UInt8] { number(Int((value * 65_536).rounded())) }
    static func xyz(_ values: [Double]) -> [UInt8] { Array("XYZ ".utf8) + number(0) + values.flatMap(fixed) }

    static func formula(_ type: Int, _ parameters: [Double]) -> [UInt8] {
        Array("para".utf8) + number(0) + short(type) + short(0) + parameters.flatMap(fixed)
    }

    static let sRGBCurve = formula(3, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])

    static func curve(_ values: [Int]) -> [UInt8] {
        Array("curv".utf8) + number(0) + number(values.count) + values.flatMap(short)
    }

    /// `lut16Type` (10.8) with a grid of two points along each channel.
    ///
    /// - Parameters:
    ///   - channels: The number of channels of the profile.
    ///   - input: The input curve, which is the same for each channel.
    ///   - corner: Returns the value of a corner of the grid in the connection space, in 16 bits.
    static func table(_ channels: Int, input: [Int], _ corner: ([Int]) -> [Int]) -> [UInt8] {
        var bytes = Array("mft2".utf8) + number(0) + [UInt8(channels), 3, 2, 0]
        bytes += [1, 0, 0, 0, 1, 0, 0, 0, 1].flatMap(fixed) + short(input.count) + short(2)
        for _ in 0..<channels { bytes += input.flatMap(short) }
        for index in 0..<1 << channels {
            bytes += corner((0..<channels).map { index >> (channels - 1 - $0) & 1 }).flatMap(short)
        }
        for _ in 0..<3 { bytes += short(0) + short(65_535) }
        return bytes
    }

    /// Display P3 as a profile with a table.
    static let tableOfDisplayP3: ProfileBytes = {
        let input = (0..<1024).map { index -> Int in
            let value = Double(index) / 1023
            let light = value <= 0.04045 ? value / 12.92 : power((value + 0.055) / 1.055)
            return Int((light * 65_535).rounded())
        }
        var profile = ProfileBytes(kind: "scnr")
        profile.tags = [
            (
                "A2B0",
                table(3, input: input) { corner in
                    (0..<3).map { row in
                        let sum = (0..<3).reduce(0.0) { $0 + displayP3[$1][row] * Double(corner[$1]) }
                        return min(max(Int((sum * 32_768).rounded()), 0), 65_535)
                    }
                }
            )
        ]
        return profile
    }()

    /// A CMYK profile whose four inks each absorb a part of the light.
    static let inks: ProfileBytes = {
        var profile = ProfileBytes(space: "CMYK", kind: "prtr", connection: "Lab ", version: 0x0240_0000)
        profile.tags = [
            (
                "A2B0",
                table(4, input: [0, 65_535]) { ink in
                    let lightness = max(
                        0, 60_000 - 15_000 * ink[0] - 18_000 * ink[1] - 5_000 * ink[2] - 50_000 * ink[3])
                    let strength = ink[3] == 1 ? 0 : 12_000
                    return [
                        lightness, 32_768 + strength * (ink[1] - ink[0]), 32_768 + strength * (ink[2] - ink[0] / 2),
                    ]
                }
            )
        ]
        return profile
    }()

    /// `x ^ 2.4` without a mathematical library.
    private static func power(_ value: Double) -> Double {
        // 2.4 = 12 / 5: the fifth root, by Newton's method, to the twelfth power.
        var root = value > 0 ? 1.0 : 0
        for _ in 0..<60 where root > 0 {
            root -= (root * root * root * root * root - value) / (5 * root * root * root * root)
        }
        return (0..<12).reduce(1) { product, _ in product * root }
    }
}
