import CPixels
package import WebImageCore

extension PixelBuffer {
    /// The pixels turned upright; this buffer if they are upright already.
    ///
    /// - Throws: `limitExceeded` if there is no memory.
    package func oriented(by orientation: Orientation) throws(WebImageError) -> PixelBuffer {
        guard orientation != .up else { return self }
        let result = try PixelBuffer(size: orientation.displaySize(of: size), layout: layout)
        let (width, height) = (size.width, size.height)
        // The position of the upright picture's first pixel in this buffer, and the steps to its right and lower
        // neighbours.
        let (first, right, below): (Int, Int, Int) =
            switch orientation {
            case .up: (0, 1, width)
            case .upMirrored: (width - 1, -1, width)
            case .down: (width * height - 1, -1, -width)
            case .downMirrored: (width * (height - 1), 1, -width)
            case .leftMirrored: (0, width, 1)
            case .right: (width * (height - 1), -width, 1)
            case .rightMirrored: (width * height - 1, -width, -1)
            case .left: (width - 1, width, -1)
            }
        let (columns, rows) = (result.size.width, result.size.height)
        switch layout {
        case .rgba8:
            wi_reorder_32(
                result.base.assumingMemoryBound(to: UInt32.self), columns, rows,
                base.assumingMemoryBound(to: UInt32.self) + first, right, below)
        case .rgba16:
            wi_reorder_64(
                result.base.assumingMemoryBound(to: UInt64.self), columns, rows,
                base.assumingMemoryBound(to: UInt64.self) + first, right, below)
        }
        return result
    }

    /// The pixels mirrored left to right, top to bottom, or both.
    package func flipped(horizontally: Bool, vertically: Bool) throws(WebImageError) -> PixelBuffer {
        switch (horizontally, vertically) {
        case (false, false): self
        case (true, false): try oriented(by: .upMirrored)
        case (false, true): try oriented(by: .downMirrored)
        case (true, true): try oriented(by: .down)
        }
    }

    /// The part of size `size` that begins at column `x` and row `y`, limited to the buffer.
    ///
    /// - Throws: `transformFailed` if nothing remains.
    package func cropped(x: Int, y: Int, to size: PixelSize) throws(WebImageError) -> PixelBuffer {
        let columns = Self.overlap(x, size.width, self.size.width)
        let rows = Self.overlap(y, size.height, self.size.height)
        guard !columns.isEmpty, !rows.isEmpty else {
            throw WebImageError(.transformFailed, "the part to keep lies outside of the picture of \(self.size)")
        }
        let result = try PixelBuffer(size: PixelSize(width: columns.count, height: rows.count), layout: layout)
        for index in 0..<rows.count {
            let start = row(rows.lowerBound + index) + columns.lowerBound * layout.bytesPerPixel
            result.row(index).copyMemory(from: start, byteCount: result.bytesPerRow)
        }
        return result
    }

    private static func overlap(_ start: Int, _ length: Int, _ limit: Int) -> Range<Int> {
        let (end, overflow) = start.addingReportingOverflow(max(length, 0))
        let low = min(max(start, 0), limit)
        return low..<max(low, min(overflow ? limit : end, limit))
    }

    /// A copy of the pixels that may be changed.
    package func copied() throws(WebImageError) -> PixelBuffer {
        let result = try PixelBuffer(size: size, layout: layout)
        result.base.copyMemory(from: base, byteCount: byteCount.bytes)
        return result
    }
}
