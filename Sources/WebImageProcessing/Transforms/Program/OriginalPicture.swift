package import WebImageCore

/// The properties of a picture's file, independent of later processing.
package struct OriginalPicture: Hashable, Sendable {
    /// The size in display orientation.
    package var size: PixelSize
    /// Whether the picture can be drawn in any size.
    package var isVector: Bool
    /// How imgproxy's decoder scales the picture down.
    package var shrinking: ImgproxyShrinking?

    package init(_ header: ImageHeader) {
        (size, isVector, shrinking) = (header.displaySize, header.isVector, ImgproxyShrinking(header))
    }
}

extension Image.Info {
    /// The picture's file; nil for a picture that did not come from a file.
    package var original: OriginalPicture? { header.map(OriginalPicture.init) }
}
