#if GTK
    public import WebImageCore

    /// The size that a widget was given.
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

        /// In device pixels: what a picture should be loaded for.
        public var pixels: PixelSize { PixelSize(width: width * scale, height: height * scale) }
    }
#endif
