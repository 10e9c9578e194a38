#if GTK
    public import WebImageCore

    /// The allocated size of a widget.
    public struct BoxSize: Hashable, Sendable {
        /// The width in logical pixels.
        public var width: Int
        /// The height in logical pixels.
        public var height: Int
        /// The number of device pixels along each side of a logical pixel.
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
