import WebImageCore

extension DecodeLimits {
    /// Refuses an encoded picture that is longer than allowed.
    ///
    /// - Throws: `limitExceeded`.
    func check(byteCount: Int, of format: ImageFormat) throws(WebImageError) {
        guard byteCount <= bytes.bytes else {
            throw WebImageError(
                over: .bytes, "the \(format.rawValue) picture is longer than \(bytes)", format: format)
        }
    }
}
