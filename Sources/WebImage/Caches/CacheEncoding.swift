public import WebImageCodecs
public import WebImageCore

/// Chooses the format for storing a picture without encoded bytes on disk.
public struct CacheEncoding: Sendable {
    /// A format and its encoding options.
    public struct Choice: Hashable, Sendable {
        public var format: ImageFormat
        public var options: EncodeOptions

        public init(_ format: ImageFormat, _ options: EncodeOptions = EncodeOptions()) {
            self.format = format
            self.options = options
        }
    }

    private let choose: @Sendable (Image, Set<ImageFormat>) -> Choice

    /// - Parameter choose: gets the picture and the formats that this build can write. Called on a decode thread.
    public init(_ choose: @escaping @Sendable (_ image: Image, _ writable: Set<ImageFormat>) -> Choice) {
        self.choose = choose
    }

    /// Encodes every picture in the same format.
    public static func always(_ format: ImageFormat, _ options: EncodeOptions = EncodeOptions()) -> CacheEncoding {
        CacheEncoding { _, _ in Choice(format, options) }
    }

    /// The picture's original format, if it can be written, can hold the picture as it is now, and is not a HEIC
    /// sequence.
    /// Otherwise WebP or GIF for an animation, AVIF or JPEG XL for one of more than 8 bits a channel, PNG for a picture
    /// with alpha or more than 8 bits a channel, and JPEG for the rest. Lossy formats are written with a quality of 90.
    /// Colours and orientation are kept.
    public static let automatic = CacheEncoding { image, writable in
        Choice(format(for: image, writable), EncodeOptions(quality: 90))
    }

    func choice(for image: Image, _ coders: CoderRegistry) -> Choice {
        choose(image, Set(coders.encodableFormats))
    }

    /// The formats for animations. HEIC is left out: frames of a HEIC sequence take several times as long as those of a
    /// WebP.
    private static let animated: [ImageFormat] = [.webp, .gif, .apng, .avif, .jxl]
    /// The formats in which stills of these formats are stored. Others are large, have few colours, or serve a special
    /// purpose.
    private static let ofStills: Set<ImageFormat> = [.jpeg, .png, .webp, .avif, .heic, .jxl, .qoi, .tiff]

    /// Whether a GIF can hold the picture: the picture must have the size of its file, and no partial transparency.
    /// Scaling adds colours, and rounded corners have soft edges.
    private static func isAsInGIF(_ image: Image) -> Bool {
        guard let header = image.info.header, image.displaySize == header.displaySize else { return false }
        return image.alpha == .opaque || !image.pixels.hasPartialAlpha
    }

    private static func format(for image: Image, _ writable: Set<ImageFormat>) -> ImageFormat {
        let own = image.info.format.flatMap { writable.contains($0) ? $0 : nil }
        let (isOpaque, hasManyBits) = (image.alpha == .opaque, image.layout.bitDepth > 8)
        if let animation = image.animation, animation.frameCount > 1 {
            let isDeep = hasManyBits && image.info.format?.has(.deepFrames) == true
            let suitable = animated.filter { writable.contains($0) && (!isDeep || $0.has(.deepFrames)) }
            if let own, suitable.contains(own), own != .gif || isAsInGIF(image) { return own }
            return suitable.first ?? animated.first { writable.contains($0) } ?? .png
        }
        // A HEIC keeps only 10 bits.
        if let own, ofStills.contains(own), isOpaque || !own.isOpaque,
            !hasManyBits || own.has(.manyBits) && own != .heic
        {
            return own
        }
        return isOpaque && !hasManyBits && writable.contains(.jpeg) ? .jpeg : .png
    }
}

extension PixelBuffer {
    /// Whether any pixel is neither opaque nor invisible.
    fileprivate var hasPartialAlpha: Bool {
        (0..<size.height).contains { row in
            let row = base + row * bytesPerRow
            return (0..<size.width).contains { column in
                if layout == .rgba8 {
                    let alpha = row.load(fromByteOffset: column * 4 + 3, as: UInt8.self)
                    return alpha != 0 && alpha != .max
                }
                let alpha = row.load(fromByteOffset: column * 8 + 6, as: UInt16.self)
                return alpha != 0 && alpha != .max
            }
        }
    }
}

/// Decides which bytes of a picture are stored on disk. Two serializers are equal only if one is a copy of the other.
public struct CacheSerializer: Hashable, Sendable {
    /// Makes the bytes from the picture, its encoded bytes if there are any, and the request that names it. If it
    /// returns nil, the picture is not stored on disk. Called on a decode thread.
    public let bytes:
        @Sendable (_ image: Image, _ data: [UInt8]?, _ request: ImageRequest) throws(WebImageError) -> [UInt8]?
    private let identity = Identity()

    private final class Identity: Sendable {}

    public init(
        _ bytes: @escaping @Sendable (Image, [UInt8]?, ImageRequest) throws(WebImageError) -> [UInt8]?
    ) {
        self.bytes = bytes
    }

    public static func == (one: Self, other: Self) -> Bool { one.identity === other.identity }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}
