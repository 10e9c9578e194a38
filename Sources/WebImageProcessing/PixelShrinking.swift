import CPixels

/// Scales pictures down by averaging, for decoders whose library cannot.
package enum PixelShrinking {
    /// Makes one row of means from `rows` rows of `width` straight RGBA pixels with 8 bits, which are `bytesPerRow`
    /// apart. Each block of `factor` columns becomes a pixel; the last block has the remaining columns. Colours are
    /// weighted by their alpha.
    ///
    /// - Parameters:
    ///   - rows: from 1 to 16.
    ///   - factor: from 1 to 16.
    package static func shrink(
        _ source: UnsafeRawPointer, bytesPerRow: Int, rows: Int, width: Int, by factor: Int,
        into target: UnsafeMutableRawPointer
    ) {
        precondition((1...16).contains(rows) && (1...16).contains(factor), "rows and factor must be 1 to 16")
        wi_shrink_row_8(
            target.assumingMemoryBound(to: UInt8.self), source.assumingMemoryBound(to: UInt8.self), bytesPerRow, rows,
            width, factor)
    }
}
