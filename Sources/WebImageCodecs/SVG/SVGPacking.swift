import WebImageCore

/// Limits the length to which an SVGZ may unpack.
enum SVGPacking {
    /// Deflate compresses at most 1000 to 1. Drawings are compressed 3 to 1 up to 30 to 1.
    private static let maxRatio = 100
    /// Up to this length in bytes, the ratio does not matter.
    private static let always = 1 << 20

    static func maxUnpacked(of packed: Int, _ limits: DecodeLimits) -> Int {
        let byRatio = packed.multipliedReportingOverflow(by: maxRatio)
        return min(max(byRatio.overflow ? .max : byRatio.partialValue, always), max(limits.bytes.bytes, 0))
    }
}
