public import ServerConfiguration
public import ServerGrammar
public import WebImage

/// Chooses the format of a result.
public struct FormatChoice: Hashable, Sendable {
    /// The facts about a picture that are known before its result is encoded.
    public struct Picture: Hashable, Sendable {
        public var format: ImageFormat?
        public var size: PixelSize
        /// Whether the source and the options suggest transparency, whether or not the finished picture has any.
        public var expectsAlpha: Bool
        /// Whether the finished picture has an alpha channel.
        public var hasAlpha: Bool
        public var isAnimated: Bool

        public init(format: ImageFormat?, size: PixelSize, expectsAlpha: Bool, hasAlpha: Bool, isAnimated: Bool) {
            self.format = format
            self.size = size
            self.expectsAlpha = expectsAlpha
            self.hasAlpha = hasAlpha
            self.isAnimated = isAnimated
        }
    }

    private let asked: ResultFormat?
    private let enforced: [ResultFormat]
    private let automatic: [ResultFormat]
    private let preferred: [ResultFormat]
    private let writable: Set<ResultFormat>

    public init(
        _ options: ProcessingOptions, _ output: ServerSettings.Output, _ accepted: AcceptedFormats,
        writable: Set<ResultFormat>
    ) {
        asked = options.format
        enforced = accepted.best(of: output.enforced).filter(writable.contains)
        // A format in the URL wins, whatever else the client accepts.
        automatic =
            asked == nil ? accepted.best(of: output.automatic.union(output.enforced)).filter(writable.contains) : []
        preferred = output.preferredFormats.filter(writable.contains)
        self.writable = writable
    }

    /// The part of the choice that the result depends on.
    var key: String {
        "e=\(enforced.map(\.rawValue).joined(separator: ","));a=\(automatic.map(\.rawValue).joined(separator: ","))"
    }

    /// Whether the result is a still picture, whatever the source is.
    var isStill: Bool { enforced.isEmpty && asked.map { !$0.holdsAnimation } ?? false }

    /// The format of the result, if it does not depend on the picture.
    var certain: ResultFormat? { enforced.isEmpty ? asked : nil }

    /// - Throws: 422 if the format cannot be encoded.
    public func format(for picture: Picture) throws(RequestRefusal) -> ResultFormat {
        func fits(_ format: ResultFormat) -> Bool {
            !picture.isAnimated || format.holdsAnimation
        }
        // What nobody asked for must not take so long that there is no answer.
        func isQuick(_ format: ResultFormat) -> Bool {
            fits(format) && picture.size.pixelCount ?? .max <= format.mostNegotiatedPixels
        }
        if let asked {
            if let format = enforced.first(where: isQuick), asked != .svg { return small(format, picture) }
            guard writable.contains(asked) else {
                throw RequestRefusal(
                    status: 422, text: "Invalid URL", kind: .processing, detail: "\(asked.rawValue) cannot be written")
            }
            return small(asked, picture)
        }
        if let format = automatic.first(where: isQuick) { return small(format, picture) }
        let source = picture.format.flatMap { ResultFormat(ofSource: $0) }
        if let source, preferred.contains(source) { return small(source, picture) }
        let good = preferred.first { fits($0) && (!picture.expectsAlpha || $0.holdsAlpha) }
        return small(good ?? preferred.first ?? .jpeg, picture)
    }

    /// Replaces AVIF for pictures with a side under 16 pixels, which it cannot hold.
    private func small(_ format: ResultFormat, _ picture: Picture) -> ResultFormat {
        guard format == .avif, min(picture.size.width, picture.size.height) < 16 else { return format }
        return picture.hasAlpha ? .png : .jpeg
    }
}

extension ResultFormat {
    /// The format of a source. As in imgproxy, an APNG is a PNG, a sequence of AVIF or HEIC its still, and a BigTIFF a TIFF.
    init?(ofSource format: ImageFormat) {
        switch format {
        case .apng: self = .png
        case .avifSequence: self = .avif
        case .bigTIFF: self = .tiff
        case .heif, .heicSequence: self = .heic
        default: self.init(name: format.rawValue)
        }
    }

    /// The most pixels of a result in this format if the URL does not ask for it. Encoders of these formats take many times
    /// as long as others.
    fileprivate var mostNegotiatedPixels: Int {
        switch self {
        case .avif: 8_000_000
        case .jxl: 16_000_000
        case .webp: 40_000_000
        default: .max
        }
    }

    /// The longest side that the format can hold.
    var longestSide: Int? {
        switch self {
        case .webp: 16_383
        case .avif, .heic: 16_384
        case .jpeg: 65_500
        case .gif: 65_535
        case .ico: 256
        default: nil
        }
    }
}
