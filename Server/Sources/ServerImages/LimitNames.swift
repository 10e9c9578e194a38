public import ServerGrammar
public import WebImage

/// The names of the options and settings with which clients and operators of the server can raise the library's limits.
public struct LimitNames {
    private let security: ProcessingOptions.Security

    /// - Parameter security: the limits that a URL sets for itself.
    public init(security: ProcessingOptions.Security = ProcessingOptions.Security()) { self.security = security }

    /// Replaces the library's advice in an error's message by the server's option or setting to raise.
    public func renamed(_ error: WebImageError) -> WebImageError {
        let cause = error.cause.map { cause in (cause as? WebImageError).map { renamed($0) } ?? cause }
        let message = error.messageWithoutAdvice + (error.limit.flatMap { advice(for: $0) } ?? "")
        return WebImageError(
            error.code, message, cause: cause, location: error.location, format: error.format, status: error.status)
    }

    /// - Returns: nil for limits that the server does not let anybody raise.
    private func advice(for limit: WebImageError.Limit) -> String? {
        switch limit {
        case .pixels: Self.advice(security.sourceResolution, "max_src_resolution", "IMGPROXY_MAX_SRC_RESOLUTION")
        case .resultPixels:
            "; raise WEBIMAGE_MAX_RESULT_RESOLUTION and IMGPROXY_MAX_SRC_RESOLUTION, which both limit results, to allow it"
        case .animationPixels:
            Self.advice(security.sourceResolution, "max_src_resolution", "IMGPROXY_MAX_SRC_RESOLUTION")
        case .frames: Self.advice(security.animationFrames, "max_animation_frames", "IMGPROXY_MAX_ANIMATION_FRAMES")
        case .bytes, .body: Self.advice(security.sourceFileSize, "max_src_file_size", "IMGPROXY_MAX_SRC_FILE_SIZE")
        case .timeout: "; raise IMGPROXY_TIMEOUT to allow it"
        default: nil
        }
    }

    /// The advice on what to raise: the option of the URL if it sets the limit, else the environment variable.
    static func advice(_ own: (some Any)?, _ option: String, _ variable: String) -> String {
        own == nil ? "; raise \(variable) to allow it" : "; raise \(option) in the URL to allow it"
    }
}
