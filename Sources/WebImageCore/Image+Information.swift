extension Image {
    /// Returns the picture with its stored pixels treated as upright, whatever the orientation tag says.
    ///
    /// - Complexity: O(1). The pixels are shared.
    public func treatedAsUpright() -> Image { treated(as: .up) }

    /// Returns the picture with its stored pixels treated as having `orientation`, whatever the orientation tag says.
    ///
    /// - Complexity: O(1). The pixels are shared.
    public func treated(as orientation: Orientation) -> Image { with { $0.orientation = orientation } }

    /// Returns the picture with other metadata: EXIF, XMP, IPTC and density.
    ///
    /// - Complexity: O(1). The pixels are shared.
    public func replacingMetadata(_ metadata: ImageMetadata) -> Image { with { $0.metadata = metadata } }
}
