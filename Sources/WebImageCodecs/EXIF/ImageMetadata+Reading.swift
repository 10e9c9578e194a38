import WebImageCore

extension ImageMetadata {
    /// The valid metadata of a file.
    ///
    /// - Parameters:
    ///   - exif: a TIFF block with or without JPEG's prefix; an invalid one is dropped.
    ///   - density: the value of the format itself, which is often only a default: EXIF's value takes precedence, as in
    ///   libvips and ImageMagick.
    init(readingEXIF exif: [UInt8]?, xmp: [UInt8]?, iptc: [UInt8]? = nil, density: PixelDensity? = nil) {
        let block = exif.flatMap { EXIFBlock($0) }
        self.init(
            exif: block?.bytes, xmp: xmp.flatMap { $0.isEmpty ? nil : $0 }, iptc: iptc,
            density: block?.density ?? density)
    }

    /// The orientation by EXIF; upright without it.
    var orientation: Orientation { exif?.withUnsafeBytes { EXIFOrientation.read($0) } ?? .up }
}
