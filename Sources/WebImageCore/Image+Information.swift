extension Image {
    /// Returns the picture with the stored pixels taken for upright, whatever the orientation tag says.
    ///
    /// - Complexity: O(1). The pixels are shared.
    public func takenAsUpright() -> Image { taken(as: .up) }

    /// Returns the picture with another orientation of the stored pixels, whatever the orientation tag says.
    ///
    /// - Complexity: O(1). The pixels are shared.
    public func taken(as orientation: Orientation) -> Image { with { $0.orientation = orientation } }

    /// Returns the picture with other EXIF, XMP and density.
    ///
    /// - Complexity: O(1). The pixels are shared.
    public func replacingMetadata(_ metadata: ImageMetadata) -> Image { with { $0.metadata = metadata } }
}
