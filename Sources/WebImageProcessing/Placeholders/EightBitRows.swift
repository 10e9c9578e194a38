import WebImageCore

/// The rows of a picture in sRGB with 8 bits a channel, from the top. They are converted a few at a time, so that no
/// second picture is needed.
struct EightBitRows {
    private static let bandHeight = 16

    /// The wanted alpha of the rows.
    enum Alpha {
        case straight
        case over(RGBColor)
    }

    private let image: Image
    private let alpha: Alpha

    /// - Throws: `limitExceeded` when there is no memory for a picture whose colours have to be converted.
    init(_ image: Image, _ alpha: Alpha) throws(WebImageError) {
        self.image = try image.inSRGB(by: Image.makeSafeConverter)
        self.alpha = alpha
    }

    /// Calls `body` with each row and its index.
    ///
    /// - Throws: `limitExceeded` if there is no memory for a few rows.
    func forEach(_ body: (Int, UnsafePointer<UInt8>) -> Void) throws(WebImageError) {
        let (pixels, height) = (image.pixels, image.size.height)
        if isReady {
            for y in 0..<height { body(y, UnsafePointer(pixels.row(y).assumingMemoryBound(to: UInt8.self))) }
            return
        }
        for start in stride(from: 0, to: height, by: Self.bandHeight) {
            let count = min(Self.bandHeight, height - start)
            let band = try changed(rows: start..<start + count)
            for y in 0..<count { body(start + y, UnsafePointer(band.row(y).assumingMemoryBound(to: UInt8.self))) }
        }
    }

    private var isReady: Bool {
        guard image.layout == .rgba8 else { return false }
        switch alpha {
        case .straight: return image.alpha != .premultiplied
        case .over: return image.alpha == .opaque
        }
    }

    private func changed(rows: Range<Int>) throws(WebImageError) -> PixelBuffer {
        let band = try PixelBuffer(
            size: PixelSize(width: image.size.width, height: rows.count), layout: image.layout)
        band.base.copyMemory(from: image.pixels.row(rows.lowerBound), byteCount: band.byteCount.bytes)
        switch alpha {
        case .straight: if image.alpha == .premultiplied { band.unpremultiply() }
        case .over(let color): if image.alpha != .opaque { band.flatten(onto: color, alpha: image.alpha) }
        }
        return try band.narrowed()
    }
}
