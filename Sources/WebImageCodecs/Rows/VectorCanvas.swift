#if SVG || PDF
    import WebImageCore

    /// How a vector picture's own units are mapped onto the canvas that is drawn.
    struct VectorCanvas {
        /// cairo counts pixels in 16.16 fixed point.
        static let longestSide = 32_767

        let size: PixelSize
        let xScale: Double
        let yScale: Double
        let xOffset: Double
        let yOffset: Double

        /// - Parameters:
        ///   - raster: nil: the natural size.
        ///   - width: the natural width in the picture's own units, of which the header's is the nearest whole number.
        /// - Throws: `limitExceeded`.
        init(
            _ raster: VectorRaster?, header: ImageHeader, width: Double, height: Double, _ limits: DecodeLimits
        ) throws(WebImageError) {
            let raster = raster ?? VectorRaster(part: PixelRect(header.size), size: header.size)
            try limits.check(raster.size, of: header.format)
            guard max(raster.size.width, raster.size.height) <= Self.longestSide else {
                let most = "vector pictures are drawn with sides of at most \(Self.longestSide) pixels"
                throw WebImageError(.limitExceeded, "\(most), not \(raster.size)", format: header.format)
            }
            size = raster.size
            let x = Double(raster.size.width) / raster.part.width
            let y = Double(raster.size.height) / raster.part.height
            xScale = x * Double(header.size.width) / width
            yScale = y * Double(header.size.height) / height
            xOffset = -raster.part.x * x
            yOffset = -raster.part.y * y
        }
    }
#endif
