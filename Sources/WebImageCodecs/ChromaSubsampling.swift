import WebImageCore

/// The resolution at which a lossy format stores colour; brightness always has the full resolution.
public enum ChromaSubsampling: String, Hashable, Sendable, CaseIterable {
    /// Chosen by format and quality: 4:4:4 for JPEG and AVIF from quality 90 on, otherwise 4:2:0.
    case automatic
    /// Full resolution.
    case yuv444
    /// Colour has half as many columns.
    case yuv422
    /// Colour has half as many columns and rows.
    case yuv420
}

extension EncodeOptions {
    /// - Throws: `cannotEncode` if the format does not support the requested resolution.
    func checkChroma(_ possible: Set<ChromaSubsampling>, _ format: ImageFormat) throws(WebImageError) {
        guard chroma != .automatic, !possible.contains(chroma) else { return }
        let kind = isLossless ? "lossless" : "lossy"
        let ratio = chroma.rawValue.dropFirst(3).map { String($0) }.joined(separator: ":")
        throw WebImageError(.cannotEncode, "a \(kind) \(format.rawValue) cannot have \(ratio) colour", format: format)
    }
}
