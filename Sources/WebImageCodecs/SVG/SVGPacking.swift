import WebImageCore

/// What an SVGZ may unpack to.
enum SVGPacking {
    /// Deflate packs 1000 to 1 at most, drawings 3 to 30 to 1.
    private static let mostRatio = 100
    /// Up to here the ratio does not matter.
    private static let always = 1 << 20

    static func mostUnpacked(of packed: Int, _ limits: DecodeLimits) -> Int {
        let byRatio = packed.multipliedReportingOverflow(by: mostRatio)
        return min(max(byRatio.overflow ? .max : byRatio.partialValue, always), max(limits.bytes.bytes, 0))
    }
}
