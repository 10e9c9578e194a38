#if GTK
    public import WebImageCore

    /// The allocated size of a widget.
    public struct BoxSize: Hashable, Sendable {
        /// In logical pixels.
        public var width: Int
        /// In logical pixels.
        public var height: Int
        /// How many device pixels each side of a logical pixel has.
        public var scale: Int

        public init(width: Int, height: Int, scale: Int) {
            self.width = width
            self.height = height
            self.scale = scale
        }

        var hasNoArea: Bool { width <= 0 || height <= 0 }

        /// The size in device pixels, in which a picture should be loaded.
        public var pixels: PixelSize { PixelSize(width: width * scale, height: height * scale) }
    }
#endif
