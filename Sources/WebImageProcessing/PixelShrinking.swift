import CPixels

/// Scales pictures down by averaging, for decoders whose library cannot.
package enum PixelShrinking {
    /// One row of means: of `rows` rows of `width` straight RGBA pixels with 8 bits, `bytesPerRow` apart, each square of
    /// `factor` columns becomes a pixel, the last one with what is left. Colours are weighted by their alpha.
    ///
    /// - Parameters:
    ///   - rows: from 1 to 16.
    ///   - factor: from 1 to 16.
    package static func shrink(
        _ source: UnsafeRawPointer, bytesPerRow: Int, rows: Int, width: Int, by factor: Int,
        into target: UnsafeMutableRawPointer
    ) {
        precondition((1...16).contains(rows) && (1...16).contains(factor), "sums of so many do not fit")
        wi_shrink_row_8(
            target.assumingMemoryBound(to: UInt8.self), source.assumingMemoryBound(to: UInt8.self), bytesPerRow, rows,
            width, factor)
    }
}
