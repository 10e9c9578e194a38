import WebImageCore

extension ImageMetadata {
    /// What a file holds, as far as it is what it claims to be.
    ///
    /// - Parameters:
    ///   - exif: a TIFF block with or without JPEG's name before it; dropped when it is none.
    ///   - density: what the format itself says, often no more than its writer's default: EXIF's counts more, as it
    ///     does with libvips and ImageMagick.
    init(readingEXIF exif: [UInt8]?, xmp: [UInt8]?, iptc: [UInt8]? = nil, density: PixelDensity? = nil) {
        let block = exif.flatMap { EXIFBlock($0) }
        self.init(
            exif: block?.bytes, xmp: xmp.flatMap { $0.isEmpty ? nil : $0 }, iptc: iptc,
            density: block?.density ?? density)
    }

    /// What EXIF says of the orientation; upright without it.
    var orientation: Orientation { exif?.withUnsafeBytes { EXIFOrientation.read($0) } ?? .up }
}
