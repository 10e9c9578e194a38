import WebImageCore

/// The colour chunks of a PNG besides a profile. libpng does not get them, because for contradictory ones it sometimes
/// chooses the wrong one.
struct PNGColors {
    /// The chunks and how long their contents are (PNG, third edition, 11.3.2).
    static let lengths = ["cICP": 4, "sRGB": 1, "gAMA": 4, "cHRM": 32]

    /// A valid `cICP`, which takes precedence over a profile.
    private(set) var description: ColorDescription?
    private var isStandard = false
    private var gamma: Int?
    private var chromaticities: [Double]?

    mutating func read(_ name: String, _ contents: ArraySlice<UInt8>) {
        let bytes = Array(contents)
        func number(_ index: Int) -> Int { bytes[index * 4..<index * 4 + 4].reduce(0) { $0 << 8 | Int($1) } }
        switch name {
        // PNG holds RGB, so there is no matrix; 2 means unspecified.
        case "cICP" where bytes[2] == 0 && bytes[0] != 2 && bytes[1] != 2:
            description = ColorDescription(primaries: bytes[0], transfer: bytes[1], isFullRange: bytes[3] == 1)
        case "sRGB": isStandard = true
        case "gAMA": gamma = number(0)
        case "cHRM": chromaticities = (0..<8).map { Double(number($0)) / 100_000 }
        default: break
        }
    }

    /// Used if there is neither `cICP` nor a profile nor `sRGB`.
    var calibration: ColorCalibration? {
        guard !isStandard, gamma != nil || chromaticities != nil else { return nil }
        let exponent = gamma.flatMap { $0 > 0 ? 100_000 / Double($0) : nil }
        return ColorCalibration(decodingExponent: exponent, chromaticities: chromaticities)
    }
}
