#if HEIF
    import WebImageCore
    import WebImageProcessing

    /// Pictures that are drawn over each other on a canvas: an `iovl` item (ISO/IEC 23008-12, 6.6.2.2). It is drawn with
    /// 8 bits a channel.
    struct HEIFOverlay {
        struct Layer {
            let picture: HEIFPicture
            /// The place of its first pixel on the canvas, on which it need not lie.
            let x: Int
            let y: Int

            var size: PixelSize { picture.frame.transforms.orientation.displaySize(of: picture.frame.size) }
        }

        let size: PixelSize
        /// The canvas's colour where no picture lies: red, green, blue and straight alpha.
        let fill: [UInt8]
        /// The lowest first.
        let layers: [Layer]

        private static let maxLayers = 64
        /// A picture may be this many times as large as the canvas, since memory is reserved by the size of the canvas.
        /// Small ones may be larger.
        private static let most = (timesCanvas: 4, pixelsInAnyCase: 4 << 20)

        /// - Throws: as ``HEIFPlane``; `limitExceeded` for more than ``maxLayers`` pictures, for pictures that are much
        ///   larger than the canvas, or if they have more pixels together than a picture may have.
        init(_ items: HEIFItems, item id: Int, limits: DecodeLimits) throws(WebImageError) {
            let sources = items.references.filter { $0.type == "dimg" && $0.from == id }.flatMap(\.to)
            guard sources.count <= Self.maxLayers else {
                throw WebImageError(
                    .limitExceeded, "\(sources.count) pictures are drawn over each other, more than \(Self.maxLayers)",
                    format: .heif)
            }
            let bytes = try items.description(of: id, longest: 18 + 8 * Self.maxLayers, limits)
            guard let canvas = Canvas(bytes, layers: sources.count) else {
                throw WebImageError(.corruptData, "the picture's overlay is damaged", format: .heif)
            }
            try limits.check(canvas.size, of: .heif)
            (size, fill) = (canvas.size, canvas.fill)
            var layers: [Layer] = []
            var pixels = 0
            for (source, place) in zip(sources, canvas.places) {
                let picture = try HEIFPicture(items, item: source, isLayer: true, limits: limits)
                for size in [picture.colors.size, picture.alpha?.size].compactMap(\.self) {
                    // Each is within the limits, so the sum does not overflow.
                    let count = size.pixelCount ?? limits.pixels
                    guard
                        count <= Self.most.pixelsInAnyCase
                            || count / Self.most.timesCanvas <= canvas.size.pixelCount ?? .max
                    else {
                        throw WebImageError(
                            .limitExceeded, "a picture of \(size) is drawn on a much smaller canvas", format: .heif)
                    }
                    pixels += count
                }
                guard pixels <= limits.pixels else {
                    throw WebImageError(
                        .limitExceeded, "the pictures that are drawn over each other have too many pixels",
                        format: .heif)
                }
                layers.append(Layer(picture: picture, x: place.x, y: place.y))
            }
            self.layers = layers
        }

        /// Whether a part of the canvas may be seen through.
        var hasAlpha: Bool {
            fill[3] < .max
                && !layers.contains { layer in
                    !layer.picture.hasAlpha && layer.x <= 0 && layer.y <= 0
                        && layer.x + layer.size.width >= size.width && layer.y + layer.size.height >= size.height
                }
        }

        /// Whether all bytes of its pictures have arrived.
        func hasArrived(_ items: HEIFItems, _ options: DecodeOptions) throws(WebImageError) -> Bool {
            let source = HEIFTiles(items: items, color: nil, options: options)
            for layer in layers {
                guard case .plane(let colors) = layer.picture.colors else { continue }
                guard try source.haveArrived(colors.tiles + (layer.picture.alpha?.tiles ?? [])) else { return false }
            }
            return true
        }

        /// The canvas with all pictures, as it is stored: neither cropped nor turned.
        func draw(_ items: HEIFItems, _ options: DecodeOptions) throws(WebImageError) -> PixelBuffer {
            let canvas = try PixelBuffer(size: size)
            let fill = fill.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
            canvas.base.initializeMemory(as: UInt32.self, repeating: fill, count: canvas.byteCount.bytes / 4)
            for layer in layers {
                guard case .plane(let colors) = layer.picture.colors else { continue }
                let pixels = try layer.picture.draw(colors, items, options)
                let columns = max(layer.x, 0)..<max(min(layer.x + pixels.size.width, size.width), max(layer.x, 0))
                let rows = max(layer.y, 0)..<max(min(layer.y + pixels.size.height, size.height), max(layer.y, 0))
                for row in rows where !columns.isEmpty {
                    let above = pixels.row(row - layer.y) + (columns.lowerBound - layer.x) * 4
                    canvas.layOver(row: row, x: columns.lowerBound, above, count: columns.count)
                }
            }
            return canvas
        }

        /// The description of the canvas: version, flags, colour, size, and a place for each picture.
        private struct Canvas {
            let fill: [UInt8]
            let size: PixelSize
            let places: [(x: Int, y: Int)]

            /// Nil for a damaged description.
            init?(_ bytes: [UInt8], layers: Int) {
                let read = bytes.withUnsafeBytes { bytes -> ([UInt8], PixelSize, [(x: Int, y: Int)])? in
                    var fields = BoxFields(BoxReader(bytes: bytes), 0..<bytes.count)
                    guard fields.next(1) == 0, let flags = fields.next(1) else { return nil }
                    // The values have 16 bits.
                    let fill = (0..<4).compactMap { _ in fields.next(2).map { UInt8($0 >> 8) } }
                    let length = flags & 1 == 0 ? 2 : 4
                    guard fill.count == 4, let width = fields.next(length), let height = fields.next(length) else {
                        return nil
                    }
                    func signed(_ value: Int) -> Int {
                        length == 2 ? Int(Int16(truncatingIfNeeded: value)) : Int(Int32(truncatingIfNeeded: value))
                    }
                    var places: [(x: Int, y: Int)] = []
                    for _ in 0..<layers {
                        guard let x = fields.next(length), let y = fields.next(length) else { return nil }
                        places.append((signed(x), signed(y)))
                    }
                    return (fill, PixelSize(width: width, height: height), places)
                }
                guard let read else { return nil }
                (fill, size, places) = read
            }
        }
    }

    extension HEIFPicture {
        /// The shown part with 8 bits a channel, upright.
        fileprivate func draw(
            _ colors: HEIFPlane, _ items: HEIFItems, _ options: DecodeOptions
        ) throws(WebImageError) -> PixelBuffer {
            var options = options
            options.keepsBitDepth = false
            let header = ImageHeader(format: .heif, size: frame.size, hasAlpha: alpha != nil)
            let source = HEIFTiles(items: items, color: colorNumbers, options: options)
            let mask = try alpha.map { plane throws(WebImageError) in try HEIFAlpha(plane, source) }
            let sink = PixelBufferSink()
            var rows = HEIFRows(tiling(of: colors), header, sink, options)
            for row in 0..<colors.rows where !rows.isComplete {
                let top = row * colors.tileSize.height
                guard frame.rows.overlaps(top..<top + colors.tileSize.height) else { continue }
                try rows.emit(try source.decode(colors.tiles(inRow: row), as: rows.wanted), top: top, mask)
            }
            guard let buffer = sink.buffer, rows.isComplete else {
                throw WebImageError(.corruptData, "a picture of an overlay has too few rows", format: .heif)
            }
            return try buffer.oriented(by: frame.transforms.orientation)
        }
    }
#endif
