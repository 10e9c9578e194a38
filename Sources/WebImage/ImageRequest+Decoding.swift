public import WebImageCodecs
public import WebImageCore

extension ImageRequest {
    /// How a picture's bytes are decoded, apart from size and transformers. All properties are part of the picture's
    /// cache key, except ``limits``, ``preloadsFrames`` and ``allowsPartial``.
    public struct Decoding: Hashable, Sendable {
        /// Whether the orientation tag is applied to the pixels (the default) or left in `image.info.orientation`.
        public var appliesOrientation = true
        /// Whether the stored pixels are treated as upright, whatever the orientation tag says. Sizes and transformers
        /// then apply to the stored pixels, and the tag is moved to `image.info.header.ignoredOrientation`. AVIF, HEIC
        /// and JPEG XL have no such tag: they are turned upright in any case. Default false. If it is true,
        /// ``appliesOrientation`` has no effect.
        public var ignoresOrientation = false
        /// Whether 16 bits a channel are kept if the picture has them. Default false: 8 bits. This applies to
        /// the frames of AVIF, HEIC and JPEG XL animations as well; those of an APNG are decoded with 8 bits.
        public var keepsBitDepth = false
        /// Whether pixels with an ICC profile are converted to sRGB. Default true.
        public var convertsToSRGB = true
        /// Whether a picture is scaled in linear light rather than by its stored values. Fine detail then keeps its
        /// brightness, but scaling takes longer, since the codec cannot help. Default false, as in browsers and other
        /// loaders. It applies to scaling that is a part of decoding: the request's size, and a resize at the beginning of
        /// the transformers. A resize after other steps uses the stored values.
        public var scalesInLinearLight = false
        /// The most memory that the decoded bitmap may take; a larger picture is decoded to a smaller size. It replaces
        /// ``ImageRequest/Options/size``. Default nil: no limit.
        public var bitmapLimit: ByteCount?
        /// Whether only the first frame of an animation is decoded, as a still: `image.animation` is then nil. Default
        /// false.
        public var firstFrameOnly = false
        /// How many frames of an animation are used, at least 1. Further frames are left out; their number is then not
        /// limited by ``limits``. Default nil: all.
        public var frameLimit: Int?
        /// Whether an animation's frames are decoded before the load ends, as many as fit into
        /// ``/WebImageCore/ImageAnimation/bufferLimit``, rather than when they are shown. Default false. For a picture
        /// that is already in memory, call ``/WebImageCore/ImageAnimation/preload()``.
        public var preloadsFrames = false
        /// Whether transformers also apply to animations, frame by frame. Default true. If false, an animation stays as
        /// it is, and geometry at the beginning of the transformers is applied to still pictures only after decoding.
        public var transformsAnimations = true
        /// Whether transformers also apply to vector pictures, after they are drawn. Default true.
        public var transformsVectors = true
        /// Whether the picture must be an animation. If true, the load of a still picture fails with `badImageData`,
        /// whose cause is `unsupportedFeature`. Default false.
        public var requiresAnimation = false
        /// Which page of a file with several pages (TIFF) is decoded, 0 for the first; `image.info.header.frameCount`
        /// is the number of pages. Default 0. If there is no such page, the load fails with `unsupportedFeature`.
        public var page = 0
        /// Whether the embedded thumbnail of a file is decoded in place of the picture itself (HEIC, AVIF). It is less
        /// sharp, but quickly decoded. If a file has none, the picture is decoded. Default false.
        public var usesEmbeddedThumbnail = false
        /// The format of bytes whose content does not identify it, for files without a signature; a registered coder
        /// must know the format. If the content identifies the format, the hint is ignored. Default nil: such bytes
        /// fail with `unknownFormat`.
        public var formatHint: ImageFormat?
        /// Whether the decoded part of a truncated picture is returned as the result (with `info.isPartial`). Default
        /// false: the load fails, and the part that was decoded comes as the last preview of the events.
        public var allowsPartial = false
        /// The limits that the program has set for this request; nil: the manager's apply.
        var ownLimits: DecodeLimits?
        private var ownCoder: KeyedCoder?

        public init() {}

        /// The limits for decoding. Default: the manager's (``ImageManager/Configuration/limits``). Until it is set,
        /// this property reads as ``/WebImageCore/DecodeLimits/default``; changing one of its limits sets them all.
        public var limits: DecodeLimits {
            get { ownLimits ?? .default }
            set { ownLimits = newValue }
        }

        /// Decodes this picture in place of the registered coders. Default nil.
        public var coder: (any ImageCoder)? {
            get { ownCoder?.coder }
            set { ownCoder = newValue.map(KeyedCoder.init) }
        }

        /// The options for all of the original as it is: only those that say how to decode it, and its limits.
        var ofWholeOriginal: Self {
            var whole = Self()
            (whole.ownLimits, whole.formatHint, whole.ownCoder) = (ownLimits, formatHint, ownCoder)
            return whole
        }
    }
}

extension ImageRequest.Decoding: HasDefault {
    @usableFromInline package static let standard = MostlyDefaultBox(Self())
}

/// Two coders with the same key make the same pixels.
private struct KeyedCoder: Hashable, Sendable {
    let coder: any ImageCoder

    static func == (one: Self, other: Self) -> Bool { one.coder.key == other.coder.key }

    func hash(into hasher: inout Hasher) { hasher.combine(coder.key) }
}
