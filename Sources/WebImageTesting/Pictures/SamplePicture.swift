public import WebImageCodecs
public import WebImageCore

/// A picture of a catalogue: how it is drawn, and how it is encoded.
public struct SamplePicture: Sendable {
    /// Draws the picture upright.
    public typealias Drawing = @Sendable (PixelSize) throws(WebImageError) -> Image

    /// The name, which is unique in its catalogue and valid as a file name: `"sunset"`.
    public let name: String
    /// The picture's content and the peculiarity of its file, in one line.
    public let description: String
    /// The size of the upright picture, after applying ``orientation``.
    public let displaySize: PixelSize
    public let format: ImageFormat
    public let options: EncodeOptions
    /// The orientation tag to store. The pixels are stored turned, so that applying the tag makes them upright.
    public let orientation: Orientation
    private let drawing: Drawing

    public init(
        _ name: String, _ description: String, width: Int, height: Int, as format: ImageFormat,
        _ options: EncodeOptions = EncodeOptions(), orientation: Orientation = .up, drawing: @escaping Drawing
    ) {
        self.name = name
        self.description = description
        displaySize = PixelSize(width: width, height: height)
        self.format = format
        self.options = options
        self.orientation = orientation
        self.drawing = drawing
    }

    /// The name with the format's extension: `"sunset.jpg"`.
    public var fileName: String { "\(name).\(format.fileExtension)" }

    /// Draws the upright picture, as it looks when it is loaded.
    ///
    /// - Complexity: up to a second of CPU for pictures of 12 megapixels. Peak memory is that of the picture.
    public func draw() throws(WebImageError) -> Image { try drawing(displaySize) }

    /// Draws the picture as its file stores it: turned, with the tag that turns it back.
    public func drawStored() throws(WebImageError) -> Image {
        let upright = try draw()
        return orientation == .up ? upright : try upright.stored(for: orientation)
    }

    /// Encodes the picture's file.
    ///
    /// - Throws: `formatNotBuilt` if `coders` has no encoder for ``format``; `cannotEncode`.
    public func encoded(by coders: CoderRegistry = .standard) throws(WebImageError) -> [UInt8] {
        try coders.encoder(for: format).encode(drawStored(), as: format, options)
    }
}

extension Image {
    /// This upright picture, stored so that applying `orientation` makes it upright again.
    func stored(for orientation: Orientation) throws(WebImageError) -> Image {
        let storedSize = orientation.storedSize(of: size)
        let bytesPerPixel = layout.bytesPerPixel
        let turned = try Image(size: storedSize, layout: layout, alpha: alpha) { target in
            withPixels { source in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        let pixel = PixelRect(x: Double(x), y: Double(y), width: 1, height: 1)
                        let place = orientation.storedRect(of: pixel, stored: storedSize)
                        let to = (Int(place.y) * storedSize.width + Int(place.x)) * bytesPerPixel
                        let from = (y * size.width + x) * bytesPerPixel
                        for byte in 0..<bytesPerPixel { target[to + byte] = source[from + byte] }
                    }
                }
            }
        }
        return turned.with { $0.orientation = orientation }
    }
}
