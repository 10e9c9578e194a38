#if SVG || PDF
    import WebImageCore

    extension PixelSize {
        /// A vector picture's own size, rounded to whole pixels, at least 1x1.
        ///
        /// - Throws: `corruptData` when a side is not positive, `limitExceeded` when it is larger than any canvas.
        init(naturalWidth width: Double, height: Double, of format: ImageFormat) throws(WebImageError) {
            guard width > 0, height > 0 else {
                throw WebImageError(.corruptData, "the picture's size is \(width)x\(height)", format: format)
            }
            guard width <= 0x1p31, height <= 0x1p31 else {
                throw WebImageError(.limitExceeded, "the picture's size is \(width)x\(height)", format: format)
            }
            self.init(width: max(Int(width.rounded()), 1), height: max(Int(height.rounded()), 1))
        }
    }
#endif
