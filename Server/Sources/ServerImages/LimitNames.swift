public import ServerGrammar
public import WebImage

/// The names under which those who request pictures or run the server can raise the library's limits.
public struct LimitNames {
    private let security: ProcessingOptions.Security

    /// - Parameter security: the limits that a URL sets for itself.
    public init(security: ProcessingOptions.Security = ProcessingOptions.Security()) { self.security = security }

    /// The error with the server's settings to raise in place of the library's, for people.
    public func renamed(_ error: WebImageError) -> WebImageError {
        let cause = error.cause.map { cause in (cause as? WebImageError).map { renamed($0) } ?? cause }
        let message = error.messageWithoutAdvice + (error.limit.flatMap { advice(for: $0) } ?? "")
        return WebImageError(
            error.code, message, cause: cause, location: error.location, format: error.format, status: error.status)
    }

    /// - Returns: nil for limits that are fixed here.
    private func advice(for limit: WebImageError.Limit) -> String? {
        switch limit {
        case .pixels: Self.advice(security.sourceResolution, "max_src_resolution", "IMGPROXY_MAX_SRC_RESOLUTION")
        case .animationPixels:
            Self.advice(security.sourceResolution, "max_src_resolution", "IMGPROXY_MAX_SRC_RESOLUTION")
        case .frames: Self.advice(security.animationFrames, "max_animation_frames", "IMGPROXY_MAX_ANIMATION_FRAMES")
        case .bytes, .body: Self.advice(security.sourceFileSize, "max_src_file_size", "IMGPROXY_MAX_SRC_FILE_SIZE")
        case .timeout: "; raise IMGPROXY_TIMEOUT to allow it"
        default: nil
        }
    }

    /// What to raise: the URL's own option if it has one, else the variable.
    static func advice(_ own: (some Any)?, _ option: String, _ variable: String) -> String {
        own == nil ? "; raise \(variable) to allow it" : "; raise \(option) in the URL to allow it"
    }
}
