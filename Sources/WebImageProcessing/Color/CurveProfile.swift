import CSysLCMS2

/// A profile that consists of three curves and a matrix, or of one gray curve, as nearly all profiles do.
///
/// Its bytes are parsed here, so that lcms2 gets no untrusted bytes but a profile that is built from the parsed
/// numbers. The colours are exactly those that lcms2 computes from the bytes.
struct CurveProfile: Hashable {
    enum Curve: Hashable {
        /// `parametricCurveType` (ICC.1:2010, 10.16). The number is lcms2's, which is one more than that of the
        /// standard.
        case formula(Int32, [Double])
        case table([UInt16])
    }

    let version: UInt32
    let deviceClass: cmsProfileClassSignature.RawValue
    /// X, Y and Z of red, green and blue; empty for gray.
    let colorants: [[Double]]
    /// The curves of red, green and blue, or the curve of gray.
    let curves: [Curve]

    var isGray: Bool { colorants.isEmpty }

    /// - Returns: nil for bytes that are not such a profile, or that lcms2 might read differently.
    init?(_ profile: [UInt8]) {
        let classes = ["scnr": cmsSigInputClass, "mntr": cmsSigDisplayClass, "prtr": cmsSigOutputClass]
        guard let tags = ICCTags(profile), !tags.hasDoubles, let deviceClass = classes[tags.deviceClass],
            tags.connectionSpace == "XYZ ", 0x0200_0000...0x04FF_FFFF ~= tags.version,
            // Tables have precedence over curves.
            !tags.names.contains(where: { $0.hasPrefix("A2B") || $0.hasPrefix("D2B") })
        else { return nil }
        version = tags.version
        self.deviceClass = deviceClass.rawValue
        switch tags.colorSpace {
        case "RGB ":
            let columns = ["rXYZ", "gXYZ", "bXYZ"].compactMap { tags.tag($0).flatMap(Self.point) }
            let curves = ["rTRC", "gTRC", "bTRC"].compactMap { tags.tag($0).flatMap(Self.curve) }
            guard columns.count == 3, curves.count == 3 else { return nil }
            (colorants, self.curves) = (columns, curves)
        case "GRAY":
            guard let curve = tags.tag("kTRC").flatMap(Self.curve) else { return nil }
            (colorants, curves) = ([], [curve])
        default: return nil
        }
    }

    private static func point(_ tag: ArraySlice<UInt8>) -> [Double]? {
        let values = [8, 12, 16].compactMap { tag.fixed(at: $0) }
        return tag.kind == "XYZ " && values.count == 3 ? values : nil
    }

    private static func curve(_ tag: ArraySlice<UInt8>) -> Curve? {
        switch tag.kind {
        case "curv":
            guard let count = tag.number(at: 8, 4), count <= 0x7FFF else { return nil }
            let values = (0..<count).compactMap { tag.number(at: 12 + 2 * $0, 2) }
            guard values.count == count else { return nil }
            switch count {
            case 0: return .formula(1, [1])
            case 1: return .formula(1, [Double(values[0]) / 256])
            default: return .table(values.map { UInt16(truncatingIfNeeded: $0) })
            }
        case "para":
            let counts = [1, 3, 4, 5, 7]
            guard let type = tag.number(at: 8, 2), type < counts.count else { return nil }
            let parameters = (0..<counts[type]).compactMap { tag.fixed(at: 12 + 4 * $0) }
            return parameters.count == counts[type] ? .formula(Int32(type + 1), parameters) : nil
        default: return nil
        }
    }

    /// Builds an equal profile from the parsed numbers; nil without memory, and for curves that lcms2 cannot represent.
    func open(_ context: cmsContext) -> cmsHPROFILE? {
        guard let profile = cmsCreateProfilePlaceholder(context) else { return nil }
        cmsSetEncodedICCversion(profile, version)
        cmsSetDeviceClass(profile, cmsProfileClassSignature(deviceClass))
        cmsSetColorSpace(profile, isGray ? cmsSigGrayData : cmsSigRgbData)
        cmsSetPCS(profile, cmsSigXYZData)
        var isWhole = true
        let columns = [cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag]
        for (name, column) in zip(columns, colorants) {
            var point = cmsCIEXYZ(X: column[0], Y: column[1], Z: column[2])
            isWhole = isWhole && cmsWriteTag(profile, name, &point) != 0
        }
        let names = isGray ? [cmsSigGrayTRCTag] : [cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag]
        for (name, curve) in zip(names, curves) {
            guard let built = Self.build(curve, context) else {
                isWhole = false
                break
            }
            isWhole = isWhole && cmsWriteTag(profile, name, UnsafeRawPointer(built)) != 0
            cmsFreeToneCurve(built)
        }
        if isWhole { return profile }
        cmsCloseProfile(profile)
        return nil
    }

    /// Builds an RGB profile with the gray curve for each channel and sRGB's primaries; nil without memory.
    func openAsRGB(_ context: cmsContext) -> cmsHPROFILE? {
        guard isGray, let curve = Self.build(curves[0], context) else { return nil }
        defer { cmsFreeToneCurve(curve) }
        let primaries = RGBPrimaries.sRGB
        func point(_ index: Int) -> cmsCIExyY {
            cmsCIExyY(x: primaries.points[index].x, y: primaries.points[index].y, Y: 1)
        }
        var white = point(0)
        var colorants = cmsCIExyYTRIPLE(Red: point(1), Green: point(2), Blue: point(3))
        var curves: [OpaquePointer?] = [curve, curve, curve]
        return cmsCreateRGBProfileTHR(context, &white, &colorants, &curves)
    }

    private static func build(_ curve: Curve, _ context: cmsContext) -> OpaquePointer? {
        switch curve {
        case .formula(let type, let parameters): cmsBuildParametricToneCurve(context, type, parameters)
        case .table(let values): cmsBuildTabulatedToneCurve16(context, UInt32(values.count), values)
        }
    }
}
