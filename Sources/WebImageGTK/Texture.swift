#if GTK
    internal import CShimGTK
    internal import CSysGTK
    public import WebImageCore
    internal import WebImageProcessing

    /// A picture as GTK draws it: a `GdkTexture` over the picture's own pixels, which are not copied.
    ///
    /// The texture retains the pixels until GTK no longer needs them. That may be later than the last reference from
    /// Swift, because a renderer keeps the textures of the last frame.
    ///
    /// GDK supports all layouts and all three alpha modes. Pictures with colours other than sRGB are converted first,
    /// which copies them, because GTK 4.8 treats all pixels as sRGB. Loaded pictures are already in sRGB, unless the
    /// request kept their own colours.
    @MainActor public final class Texture {
        /// The `GdkTexture *`, which is also a `GdkPaintable *`. The orientation is not applied to its pixels.
        public let pointer: OpaquePointer
        /// The size of the pixels in memory.
        public let size: PixelSize
        /// How the pixels must be turned to be upright.
        public let orientation: Orientation
        /// The size for display.
        public var displaySize: PixelSize { orientation.displaySize(of: size) }

        /// Makes a texture of a picture; for an animated picture, of its first frame.
        ///
        /// A profile with tables is ignored, because its bytes may be a stranger's: let the load convert the colours, as it
        /// does by default.
        ///
        /// - Complexity: a few microseconds, whatever the size. For colours other than sRGB, a pass over all pixels and
        ///   memory for a copy; without that memory the pixels are not converted.
        public init(_ image: Image) {
            let image = (try? image.inSRGB(by: Image.makeSafeConverter)) ?? image
            size = image.size
            orientation = image.info.orientation
            let pixels = image.pixels
            let bytes = g_bytes_new_with_free_func(
                pixels.base, gsize(pixels.byteCount.bytes),
                // The function is called with the argument below, which is not nil.
                { Unmanaged<PixelBuffer>.fromOpaque($0!).release() }, Unmanaged.passRetained(pixels).toOpaque())
            defer { g_bytes_unref(bytes) }
            pointer = gdk_memory_texture_new(
                Int32(pixels.size.width), Int32(pixels.size.height), Self.format(pixels.layout, image.alpha), bytes,
                gsize(pixels.bytesPerRow))
        }

        isolated deinit { wi_unreference(UnsafeMutableRawPointer(pointer)) }

        /// Opaque pixels are passed as premultiplied ones, which need no conversion for a graphics card.
        private static func format(_ layout: PixelLayout, _ alpha: AlphaMode) -> GdkMemoryFormat {
            switch (layout, alpha) {
            case (.rgba8, .straight): GDK_MEMORY_R8G8B8A8
            case (.rgba8, _): GDK_MEMORY_R8G8B8A8_PREMULTIPLIED
            case (.rgba16, .straight): GDK_MEMORY_R16G16B16A16
            case (.rgba16, _): GDK_MEMORY_R16G16B16A16_PREMULTIPLIED
            }
        }
    }
#endif
