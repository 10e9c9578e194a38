public import WebImageCodecs
public import WebImageCore

extension ImageRequest {
    /// What a picture's bytes are made into, beside size and transformers. All of it is part of the picture's identity, but
    /// for ``limits``, ``preloadsFrames`` and ``allowsPartial``.
    public struct Decoding: Hashable, Sendable {
        /// Whether the orientation tag is applied to the pixels (the default) or left in `image.info.orientation`.
        public var appliesOrientation = true
        /// Takes the pixels as they are stored for upright, whatever the orientation tag says: sizes and transformers see them so, and
        /// the tag is lost. Default false. Where it is true, ``appliesOrientation`` does not matter.
        public var ignoresOrientation = false
        /// Keeps 16 bits a channel where the picture has them. Default false: 8 bits.
        public var keepsBitDepth = false
        /// Whether pixels with an ICC profile are converted to sRGB. Default true.
        public var convertsToSRGB = true
        /// Whether a picture is scaled by the light of its pixels rather than by their stored values. Fine detail then keeps
        /// its brightness; it takes longer, since no codec can help. Default false, as in browsers and other loaders.
        public var scalesInLinearLight = false
        /// The most that the decoded bitmap may take; a larger picture is decoded smaller. It takes the place of
        /// ``ImageRequest/Options/size``. Default nil: no limit.
        public var bitmapLimit: ByteCount?
        /// Makes a still of an animation's first frame: `image.animation` is then nil. Default false.
        public var firstFrameOnly = false
        /// How many frames of an animation are used, at least 1. Those behind them are left out, and may be more than ``limits``
        /// allow. Default nil: all.
        public var frameLimit: Int?
        /// Decodes an animation's frames before the load ends, as many as
        /// ``/WebImageCore/ImageAnimation/bufferLimit`` has room for, in place of when they are shown. Default false. For a
        /// picture that is in memory already there is ``/WebImageCore/ImageAnimation/preload()``.
        public var preloadsFrames = false
        /// Whether transformers are done to animations, too, frame by frame. Default true. With false an animation comes as it
        /// is, and geometry at the beginning of the transformers is done to the decoded picture.
        public var transformsAnimations = true
        /// Whether transformers are done to vector pictures, too, once they are drawn. Default true.
        public var transformsVectors = true
        /// Whether only an animation will do: the load of a still fails with `badImageData`, its cause `unsupportedFeature`.
        /// Default false.
        public var requiresAnimation = false
        /// Which page of a file of several pages is wanted, 0 for the first (TIFF); `image.info.header.frameCount` tells how
        /// many there are. Default 0. A load fails with `unsupportedFeature` where there is no such page.
        public var page = 0
        /// Whether the small copy that a file may hold is taken in place of the picture itself (HEIC, AVIF): less sharp, and there at once.
        /// Files without one give the picture. Default false.
        public var usesEmbeddedThumbnail = false
        /// The format of bytes whose content does not tell one: that of a registered coder, for files without a signature.
        /// Content that does tell counts more. Default nil: such bytes are `unknownFormat`.
        public var formatHint: ImageFormat?
        /// Whether a picture that is cut short counts as a result (with `info.isPartial`). Default false: the load fails,
        /// and the part that there is comes as the events' last preview.
        public var allowsPartial = false
        /// What the manager says where this is nil.
        var ownLimits: DecodeLimits?
        private var ownCoder: KeyedCoder?

        public init() {}

        /// What the decode may cost. Default: the manager's (``ImageManager/Configuration/limits``); until one is set it
        /// reads as ``/WebImageCore/DecodeLimits/default``, and changing one limit of it sets all.
        public var limits: DecodeLimits {
            get { ownLimits ?? .default }
            set { ownLimits = newValue }
        }

        /// Decodes this picture in place of the registered coders. Default nil.
        public var coder: (any ImageCoder)? {
            get { ownCoder?.coder }
            set { ownCoder = newValue.map(KeyedCoder.init) }
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
