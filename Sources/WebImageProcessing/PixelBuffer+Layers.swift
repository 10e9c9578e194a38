import CPixels
package import WebImageCore

extension PixelBuffer {
    /// Composites straight 8-bit pixels over those of a row, from column `x` on, to the nearest value.
    ///
    /// - Parameter count: pixels in `above`, not beyond the row's end.
    package func layOver(row: Int, x: Int, _ above: UnsafeRawPointer, count: Int) {
        precondition(layout == .rgba8 && x >= 0 && x + count <= size.width, "a layer goes beyond its canvas")
        wi_lay_over_8(
            self.row(row).assumingMemoryBound(to: UInt8.self) + x * 4, above.assumingMemoryBound(to: UInt8.self), count)
    }
}
