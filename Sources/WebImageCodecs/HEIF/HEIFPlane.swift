#if HEIF
    import WebImageCore

    /// The colours of a picture, or its alpha: one HEVC picture, or a grid of equally large ones.
    struct HEIFPlane {
        let size: PixelSize
        let tileSize: PixelSize
        let columns: Int
        /// The items of the tiles, row by row.
        let tiles: [Int]
        let parameters: HEVCParameters

        /// A grid of many small tiles is slow, because each needs a decoder of its own.
        private static let maxTiles = 4096
        /// How much larger than its box says a picture may be: one coding block, to which sizes are rounded up.
        private static let largestBlock = 64
        /// Apple's encoder makes no picture under 160 pixels, and crops it instead, so small pictures may be larger.
        private static let smallestCoded = 256

        var rows: Int { tiles.count / columns }

        /// - Throws: `truncatedData` if more bytes are needed, `unsupportedFeature` for an item other than HEVC or a
        ///   grid of HEVC, `corruptData`, `limitExceeded`.
        init(_ items: HEIFItems, item id: Int, limits: DecodeLimits) throws(WebImageError) {
            guard items.items[id]?.type == "grid" else {
                parameters = try Self.configuration(of: id, items, limits).parameters
                let size = items.size(of: id) ?? parameters.size
                try limits.check(size, of: .heif)
                guard parameters.size.covers(size),
                    Self.mayBeCoded(as: parameters.codedSize.width, size.width),
                    Self.mayBeCoded(as: parameters.codedSize.height, size.height)
                else { throw Self.mismatch }
                (self.size, tileSize, columns, tiles) = (size, size, 1, [id])
                return
            }
            let grid = try Self.grid(id, items, limits)
            let tiles = items.references.filter { $0.type == "dimg" && $0.from == id }.flatMap(\.to)
            try limits.check(grid.size, of: .heif)
            guard let first = tiles.first, tiles.count == grid.rows * grid.columns else {
                throw WebImageError(
                    .corruptData, "a grid of \(grid.columns) by \(grid.rows) has \(tiles.count) tiles", format: .heif)
            }
            guard tiles.count <= Self.maxTiles else {
                throw WebImageError(
                    .limitExceeded, "the picture has \(tiles.count) tiles, more than \(Self.maxTiles)", format: .heif)
            }
            parameters = try Self.configuration(of: first, items, limits).parameters
            tileSize = parameters.size
            (size, columns, self.tiles) = (grid.size, grid.columns, tiles)
            // Tiles usually share their configurations.
            var known: Set<Range<Int>> = []
            for tile in Set(tiles) {
                guard items.size(of: tile) ?? tileSize == tileSize else { throw Self.mismatch }
                let place = items.property("hvcC", of: tile)
                if let place, known.contains(place), items.items[tile]?.type == "hvc1" { continue }
                let other = try Self.configuration(of: tile, items, limits).parameters
                guard other.size == tileSize, other.chroma == parameters.chroma,
                    other.lumaDepth == parameters.lumaDepth
                else { throw Self.mismatch }
                if let place { known.insert(place) }
            }
            // Tiles begin within the picture and cover it (ISO/IEC 23008-12, 6.6.2.3.1); each is within the limits, so
            // nothing overflows here.
            guard tileSize.width * columns >= size.width, tileSize.width * (columns - 1) < size.width,
                tileSize.height * rows >= size.height, tileSize.height * (rows - 1) < size.height
            else { throw Self.mismatch }
        }

        private static func mayBeCoded(as coded: Int, _ side: Int) -> Bool {
            coded - side < largestBlock || coded <= smallestCoded
        }

        static func configuration(
            of id: Int, _ items: HEIFItems, _ limits: DecodeLimits
        ) throws(WebImageError) -> HEVCConfiguration {
            let type = items.items[id]?.type ?? "none"
            guard type == "hvc1" else {
                throw WebImageError(
                    .unsupportedFeature, "the picture has an item of kind '\(type)', which is not read within HEIF",
                    format: .heif)
            }
            guard let content = items.property("hvcC", of: id) else {
                throw WebImageError(.corruptData, "an HEVC item has no configuration", format: .heif)
            }
            guard content.count <= HEVCConfiguration.longest else {
                throw WebImageError(
                    .limitExceeded, "an HEVC configuration has \(content.count) bytes", format: .heif)
            }
            return try HEVCConfiguration([UInt8](items.boxes.bytes[content])[...], limits: limits)
        }

        private static func grid(
            _ id: Int, _ items: HEIFItems, _ limits: DecodeLimits
        ) throws(WebImageError) -> (size: PixelSize, rows: Int, columns: Int) {
            let description = try items.description(of: id, longest: 12, limits)
            let grid = description.withUnsafeBytes { bytes -> (size: PixelSize, rows: Int, columns: Int)? in
                var fields = BoxFields(BoxReader(bytes: bytes), 0..<bytes.count)
                guard fields.next(1) == 0, let flags = fields.next(1), let rows = fields.next(1),
                    let columns = fields.next(1), let width = fields.next(flags & 1 == 0 ? 2 : 4),
                    let height = fields.next(flags & 1 == 0 ? 2 : 4)
                else { return nil }
                return (PixelSize(width: width, height: height), rows + 1, columns + 1)
            }
            guard let grid else {
                throw WebImageError(.corruptData, "the picture's grid is damaged", format: .heif)
            }
            return grid
        }

        func tiles(inRow row: Int) -> [Int] { Array(tiles[row * columns..<(row + 1) * columns]) }

        /// The greatest of 1, 2, 4 and 8 by which the tiles can be divided one by one.
        var divisor: Int {
            if tiles.count == 1 { return 8 }
            return 1 << min((tileSize.width | tileSize.height).trailingZeroBitCount, 3)
        }

        /// How the tiles of a row are divided; none for a denominator of 1.
        func reductions(ofRow row: Int, by denominator: Int) -> [HEIFReduction] {
            guard denominator > 1 else { return [] }
            let height = min(tileSize.height, size.height - row * tileSize.height)
            return (0..<columns).map { column in
                let width = min(tileSize.width, size.width - column * tileSize.width)
                return HEIFReduction(denominator: denominator, used: PixelSize(width: width, height: height))
            }
        }

        private static var mismatch: WebImageError {
            WebImageError(.corruptData, "the HEVC data is not of the size that its boxes say", format: .heif)
        }
    }

    extension HEIFItems {
        /// How a picture is derived from others: the first `longest` bytes of its data, which may be in several parts of
        /// the file.
        ///
        /// - Throws: `truncatedData` if they have not arrived, `corruptData` if there are none.
        func description(of id: Int, longest: Int, _ limits: DecodeLimits) throws(WebImageError) -> [UInt8] {
            let ranges = try data(of: id, limit: limits.bytes.bytes)
            guard ranges.allSatisfy({ $0.upperBound <= boxes.bytes.count }) else {
                throw WebImageError(.truncatedData, "the data ends before the picture begins", format: .heif)
            }
            return Array(ranges.lazy.flatMap { boxes.bytes[$0] }.prefix(longest))
        }
    }
#endif
