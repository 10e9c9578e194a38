extension WebImageError {
    /// A limit that a picture or a load exceeded: the setting to raise. Its raw value is the name of that setting.
    public struct Limit: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// ``DecodeLimits/pixels``.
        public static let pixels = Self(rawValue: "DecodeLimits.pixels")
        /// ``DecodeLimits/pixels``, exceeded by a picture that would be made from another one.
        public static let resultPixels = Self(rawValue: "DecodeLimits.pixels of the result")
        /// ``DecodeLimits/animationPixels``.
        public static let animationPixels = Self(rawValue: "DecodeLimits.animationPixels")
        /// ``DecodeLimits/frames``.
        public static let frames = Self(rawValue: "DecodeLimits.frames")
        /// ``DecodeLimits/bytes``.
        public static let bytes = Self(rawValue: "DecodeLimits.bytes")
        /// ``DecodeLimits/time``.
        public static let time = Self(rawValue: "DecodeLimits.time")
        /// ``DecodeLimits/drawingTime``.
        public static let drawingTime = Self(rawValue: "DecodeLimits.drawingTime")
        /// The limit for the body of a transfer, or for another source's bytes.
        public static let body = Self(rawValue: "bodyLimit")
        /// The timeout of a request.
        public static let timeout = Self(rawValue: "the request's timeout")

        /// Every limit of this version.
        package static let all = [
            pixels, animationPixels, frames, bytes, time, drawingTime, body, timeout, resultPixels,
        ]

        /// The command's option that sets this limit, if there is one.
        private var option: String? {
            switch self {
            case .pixels, .resultPixels: "--max-pixels"
            case .bytes, .body: "--max-bytes"
            case .timeout: "--timeout"
            default: nil
            }
        }

        /// What a program sets to raise this limit.
        private var setting: String { self == .resultPixels ? Self.pixels.rawValue : rawValue }

        fileprivate var advice: String { "; raise \(setting)\(option.map { " (\($0))" } ?? "") to allow it" }
    }

    /// An error about a limit that can be raised. The message ends with the advice to raise it.
    ///
    /// - Parameters:
    ///   - limit: the limit that was exceeded.
    ///   - code: a code for exceeded limits. Default `limitExceeded`.
    ///   - what: what happened.
    package init(
        over limit: Limit, code: Code = .limitExceeded, _ what: String, location: String? = nil,
        format: ImageFormat? = nil
    ) {
        self.init(code, what + limit.advice, location: location, format: format)
        self.limit = limit
    }

    /// ``message`` without the advice to raise ``limit``, which names settings of the library and options of its
    /// command. Programs with other settings append their own advice.
    public var messageWithoutAdvice: String {
        guard let limit, message.hasSuffix(limit.advice) else { return message }
        return String(message.dropLast(limit.advice.count))
    }
}
