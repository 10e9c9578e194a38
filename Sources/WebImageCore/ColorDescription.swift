/// The colour space of pixels by the code points of ITU-T H.273, as in `cICP` of PNG and `nclx` of AVIF.
public struct ColorDescription: Hashable, Sendable, Codable {
    /// ColourPrimaries: 1 BT.709 and sRGB, 9 BT.2020, 12 Display P3; 2 if unspecified.
    public var primaries: UInt8
    /// TransferCharacteristics: 1 BT.709, 8 linear, 13 sRGB, 16 PQ, 18 HLG; 2 if unspecified.
    public var transfer: UInt8
    /// MatrixCoefficients of the file; decoded pixels are RGB in any case.
    public var matrix: UInt8
    public var isFullRange: Bool

    public init(primaries: UInt8, transfer: UInt8, matrix: UInt8 = 0, isFullRange: Bool = true) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.isFullRange = isFullRange
    }

    public static let sRGB = ColorDescription(primaries: 1, transfer: 13)

    /// Whether the pixels have a high dynamic range: PQ or HLG (ITU-R BT.2100).
    public var isHighDynamicRange: Bool { transfer == 16 || transfer == 18 }
}

/// The colour space of pixels as the `gAMA` and `cHRM` chunks of PNG describe it.
public struct ColorCalibration: Hashable, Sendable, Codable {
    /// The exponent that converts a pixel's value to linear light; nil: sRGB's curve.
    public var decodingExponent: Double?
    /// x and y of white, red, green and blue; nil: sRGB's.
    public var chromaticities: [Double]?

    public init(decodingExponent: Double? = nil, chromaticities: [Double]? = nil) {
        self.decodingExponent = decodingExponent
        self.chromaticities = chromaticities
    }
}

/// The way in which a picture states its colour space.
package enum PixelColors: Hashable, Sendable {
    case profile([UInt8])
    case described(ColorDescription)
    case calibrated(ColorCalibration)
}

extension ImageHeader {
    /// The statement that counts: the profile, else the code points, else the calibration; nil means sRGB.
    package var colors: PixelColors? {
        if let iccProfile, fits(iccProfile) { return .profile(iccProfile) }
        if let colorDescription { return .described(colorDescription) }
        return colorCalibration.map { .calibrated($0) }
    }

    /// Whether the profile is for the colour model of the decoded pixels (its header: ICC.1:2010, 7.2.6). A profile for
    /// inks is not, because the decoder converts inks to sRGB.
    private func fits(_ profile: [UInt8]) -> Bool {
        guard profile.count >= 20 else { return false }
        let space = profile[16..<20]
        switch colorModel {
        case .rgb: return space.elementsEqual("RGB ".utf8)
        case .gray: return space.elementsEqual("RGB ".utf8) || space.elementsEqual("GRAY".utf8)
        case .cmyk: return false
        }
    }
}
