#if HEIF
    import WebImageCore

    /// How tiles form a picture.
    struct HEIFTiling {
        /// The size of the stored picture.
        let size: PixelSize
        let tileSize: PixelSize
        /// The shown part of the picture.
        let frame: ItemFrame
        let isPremultiplied: Bool
    }

    /// Converts rows of tiles and passes their pixels to a sink.
    struct HEIFRows {
        private let tiling: HEIFTiling
        private let format: RowFormat
        private let sink: any RowSink
        private let options: DecodeOptions
        private var row = 0

        init(_ tiling: HEIFTiling, _ header: ImageHeader, _ sink: any RowSink, _ options: DecodeOptions) {
            self.tiling = tiling
            self.sink = sink
            self.options = options
            format = RowFormat(
                size: tiling.frame.size, layout: options.layout(ofBits: header.bitDepth),
                alpha: header.hasAlpha ? .straight : .opaque)
        }

        var wanted: HEIFPixels.Kind { format.layout == .rgba16 ? .rgba16 : .rgba8 }
        var isComplete: Bool { row == format.size.height }

        /// Passes on the shown part of a row of tiles.
        ///
        /// - Parameter top: the first row of the tiles in the stored picture.
        mutating func emit(_ tiles: [HEIFPixels], top: Int, _ alpha: HEIFAlpha?) throws(WebImageError) {
            if row == 0 { try sink.begin(format) }
            let end = min(top + tiling.tileSize.height, tiling.frame.rows.upperBound)
            var stored = tiling.frame.rows.lowerBound + row
            while stored < end {
                try options.checkpoint?()
                let count = min(RowBand.rows, end - stored)
                let band = try sink.band(at: row, count: count)
                for index in 0..<count {
                    let target = band + index * format.bytesPerRow
                    copy(tiles, row: stored + index - top, to: target)
                    switch format.layout {
                    case .rgba8: finish(target.assumingMemoryBound(to: UInt8.self), stored + index, alpha)
                    case .rgba16:
                        widen(target.assumingMemoryBound(to: UInt16.self), depth: tiles[0].depth)
                        finish(target.assumingMemoryBound(to: UInt16.self), stored + index, alpha)
                    }
                }
                try sink.commit(at: row, count: count)
                row += count
                stored += count
            }
        }

        private func copy(_ tiles: [HEIFPixels], row: Int, to target: UnsafeMutableRawPointer) {
            let (width, shown) = (tiling.tileSize.width, tiling.frame.columns)
            let bytesPerPixel = format.layout.bytesPerPixel
            for (column, tile) in tiles.enumerated() {
                let part = shown.clamped(to: column * width..<(column + 1) * width)
                guard !part.isEmpty else { continue }
                let source = tile.row(row) + (part.lowerBound - column * width) * bytesPerPixel
                (target + (part.lowerBound - shown.lowerBound) * bytesPerPixel).copyMemory(
                    from: source, byteCount: part.count * bytesPerPixel)
            }
        }

        /// Expands a row's samples to 16 bits by repeating their topmost bits, so that the maximum stays the maximum.
        private func widen(_ samples: UnsafeMutablePointer<UInt16>, depth: Int) {
            let (up, down) = (UInt16(16 - depth), UInt16(2 * depth - 16))
            for index in 0..<format.size.width * 4 {
                let sample = UInt16(littleEndian: samples[index])
                samples[index] = sample << up | sample >> down
            }
        }

        /// Adds the alpha, and divides premultiplied colours by it.
        private func finish<Sample: FixedWidthInteger & UnsignedInteger>(
            _ samples: UnsafeMutablePointer<Sample>, _ stored: Int, _ alpha: HEIFAlpha?
        ) {
            guard let alpha else { return }
            let most = UInt32(Sample.max)
            for pixel in 0..<format.size.width {
                let value = alpha.value(
                    x: tiling.frame.columns.lowerBound + pixel, y: stored, of: tiling.size, most: most)
                samples[pixel * 4 + 3] = Sample(value)
                guard tiling.isPremultiplied, value > 0, value < most else { continue }
                for index in pixel * 4..<pixel * 4 + 3 {
                    samples[index] = Sample(min((UInt32(samples[index]) * most + value / 2) / value, most))
                }
            }
        }
    }

    /// The alpha of a whole picture.
    final class HEIFAlpha {
        private let size: PixelSize
        private let tileSize: PixelSize
        private let columns: Int
        private let tiles: [HEIFPixels]

        init(_ plane: HEIFPlane, _ source: HEIFTiles) throws(WebImageError) {
            (size, tileSize, columns) = (plane.size, plane.tileSize, plane.columns)
            tiles = try source.decode(plane.tiles, as: .alpha)
        }

        /// The alpha of a picture that is not divided into tiles.
        init(_ pixels: HEIFPixels) {
            (size, tileSize, columns) = (pixels.size, pixels.size, 1)
            tiles = [pixels]
        }

        /// The alpha of a pixel in a picture with that size, from 0 to `most`; the nearest one if the sizes differ.
        func value(x: Int, y: Int, of whole: PixelSize, most: UInt32) -> UInt32 {
            let x = size.width == whole.width ? x : x * size.width / whole.width
            let y = size.height == whole.height ? y : y * size.height / whole.height
            let (column, row) = (x / tileSize.width, y / tileSize.height)
            let tile = tiles[row * columns + column]
            let line = tile.row(y - row * tileSize.height)
            let at = x - column * tileSize.width
            let sample = tile.depth > 8 ? UInt32(line[2 * at]) | UInt32(line[2 * at + 1]) << 8 : UInt32(line[at])
            let range = UInt32(1) << UInt32(tile.depth) - 1
            return range == most ? min(sample, most) : (min(sample, range) * most + range / 2) / range
        }
    }
#endif
