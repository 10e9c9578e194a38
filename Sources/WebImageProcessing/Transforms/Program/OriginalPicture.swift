package import WebImageCore

/// What the file of a picture says of it, whatever was made of it since.
package struct OriginalPicture: Hashable, Sendable {
    /// As it is shown.
    package var size: PixelSize
    /// Whether it can be drawn in any size.
    package var isVector: Bool

    package init(_ header: ImageHeader) { (size, isVector) = (header.displaySize, header.isVector) }
}

extension Image.Info {
    /// nil for a picture that was drawn.
    package var original: OriginalPicture? { header.map(OriginalPicture.init) }
}
