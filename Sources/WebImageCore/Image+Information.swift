extension Image {
    /// The same pixels with the side up that is stored first, whatever the orientation tag says.
    ///
    /// - Complexity: O(1). The pixels are shared.
    public func takenAsUpright() -> Image { with { $0.orientation = .up } }

    /// The same picture with other EXIF, XMP and density.
    ///
    /// - Complexity: O(1). The pixels are shared.
    public func replacingMetadata(_ metadata: ImageMetadata) -> Image { with { $0.metadata = metadata } }
}
