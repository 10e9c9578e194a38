#if HEIF
    import CSysHEIF
    import WebImageCore

    /// Decodes the primary picture of one HEIF file: the header when the boxes that describe it have arrived, and each
    /// row of tiles when its data has.
    final class HEIFDecoder: AdvancingDecoder {
        private enum Stage {
            case boxes
            case header
            case rows
            /// EXIF or XMP follow the picture.
            case afterPicture
            case stoppedAtHeader
            case complete
        }

        /// How many more bytes must arrive before parsing the header is tried again, so that tiny pieces cost little.
        private static let minGrowth = 1 << 10

        let options: DecodeOptions
        let bytes: CollectedBytes
        private var planner: DecodePlanner?
        private var stage = Stage.boxes
        /// The position of the first top-level box that was not read yet.
        private var nextBox = 0
        private var nextAttempt = 0
        private var isSequence = false
        private var items: HEIFItems?
        private var picture: HEIFPicture?
        private var sink: (any RowSink)?
        private var rows: HEIFRows?
        private var denominator = 1
        private var nextTileRow = 0
        private var alpha: HEIFAlpha?
        private var knowsMetadata = false
        private(set) var header: ImageHeader?

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
            self.options = options
            planner = plan
            bytes = CollectedBytes(options.limits, format: .heif)
        }

        var state: DecodeState {
            switch stage {
            case .complete: return .complete
            case .stoppedAtHeader: return .stoppedAtHeader
            default: return .needsBytes
            }
        }

        var missingMetadataEnd: Int? {
            guard stage == .stoppedAtHeader, !knowsMetadata else { return nil }
            return items?.metadataEnd(options.limits)
        }

        func finish() throws(WebImageError) {
            guard isOpen else { return }
            nextAttempt = 0
            try advance()
            if stage == .afterPicture { stage = .complete }
            guard isOpen else { return }
            if stage == .boxes, isSequence { throw sequence }
            throw WebImageError(
                .truncatedData,
                header == nil ? "the data ends before the picture begins" : "the picture's data ends early",
                format: format)
        }

        private var format: ImageFormat { ImageFormat(sniffing: bytes.all) == .heic ? .heic : .heif }

        func advance() throws(WebImageError) {
            // The buffer of the bytes may have moved.
            items?.boxes = BoxReader(bytes: bytes.all)
            if stage == .boxes { try findItems() }
            if stage == .header, bytes.count >= nextAttempt { try readHeader() }
            while stage == .rows, try decodeNext() {}
            learnMetadata()
            if stage == .afterPicture, knowsMetadata { stage = .complete }
        }

        private func learnMetadata() {
            guard !knowsMetadata, header != nil, let metadata = items?.metadata(options.limits) else { return }
            header?.metadata = metadata
            knowsMetadata = true
        }

        /// Skips top-level boxes up to the one that describes the pictures.
        private func findItems() throws(WebImageError) {
            let boxes = BoxReader(bytes: bytes.all)
            let all = 0..<bytes.count
            while let (type, length) = boxes.head(at: nextBox, in: all) {
                guard let length else {
                    throw WebImageError(.corruptData, "the file's boxes are damaged", format: format)
                }
                if type == "moov" { isSequence = true }
                // A length of 0 means up to the end of the file, which is not known here.
                guard boxes.integer(at: nextBox, 4, in: all) != 0, length <= bytes.count - nextBox else { return }
                let content = nextBox + boxes.contentOffset(at: nextBox, in: all)..<nextBox + length
                nextBox += length
                guard type == "meta" else { continue }
                var items = try HEIFItems(boxes, meta: content)
                if items.primary == nil, isSequence || hasSequenceBrand { throw sequence }
                if options.usesEmbeddedThumbnail { items.chooseThumbnail(of: ["hvc1", "grid", "iden"]) }
                self.items = items
                stage = .header
                return
            }
        }

        private var hasSequenceBrand: Bool {
            guard let brand = BoxReader(bytes: bytes.all).name(at: 8, in: 0..<bytes.count) else { return false }
            return ["msf1", "hevc", "hevx"].contains(brand)
        }

        private var sequence: WebImageError {
            WebImageError(
                .unsupportedFeature, "this HEIF is a sequence without a still picture, which is not read",
                format: format)
        }

        private func readHeader() throws(WebImageError) {
            nextAttempt = bytes.count + max(bytes.count / 8, Self.minGrowth)
            guard let items else { return }
            let picture: HEIFPicture
            do throws(WebImageError) {
                picture = try HEIFPicture(items, limits: options.limits)
            } catch {
                guard error.code == .truncatedData else { throw error }
                return
            }
            var header = ImageHeader(
                format: format, size: picture.frame.size, orientation: picture.frame.transforms.orientation,
                hasAlpha: picture.hasAlpha, bitDepth: picture.colors.bitDepth, iccProfile: picture.iccProfile)
            if picture.colors.isGray { header.colorModel = .gray }
            header.colorDescription = picture.colorNumbers.flatMap { ColorDescription(nclx: $0) }
            if picture.colors.size != header.size { header.sizeBeforeCrop = picture.colors.size }
            header.frameCount = items.pictureCount
            header.tileDivisor = picture.divisor
            self.header = header
            self.picture = picture
            learnMetadata()
            let plan = try planner?(self.header ?? header)
            planner = nil
            guard let sink = plan?.sink else {
                stage = .stoppedAtHeader
                return
            }
            stage = .rows
            self.sink = sink
            if case .plane(let colors) = picture.colors {
                if let wanted = plan?.scaleDenominator, wanted <= picture.divisor { denominator = wanted }
                rows = HEIFRows(picture.tiling(of: colors, dividedBy: denominator), header, sink, options)
            }
        }

        /// - Returns: false if bytes have not arrived.
        private func decodeNext() throws(WebImageError) -> Bool {
            guard let items, let picture else { return false }
            switch picture.colors {
            case .plane(let colors): return try decodeTileRow(of: colors, picture, items)
            case .overlay(let overlay): return try draw(overlay, in: picture.frame, items)
            }
        }

        /// Decodes a row of tiles and passes on its pixels.
        ///
        /// - Returns: false if some of its bytes have not arrived.
        private func decodeTileRow(
            of colors: HEIFPlane, _ picture: HEIFPicture, _ items: HEIFItems
        ) throws(WebImageError) -> Bool {
            guard var rows else { return false }
            let source = HEIFTiles(items: items, color: picture.colorNumbers, options: options)
            if alpha == nil, let plane = picture.alpha {
                guard try source.haveArrived(plane.tiles) else { return false }
                alpha = try HEIFAlpha(plane, source)
            }
            let tiles = colors.tiles(inRow: nextTileRow)
            let top = nextTileRow * colors.tileSize.height
            let isShown = picture.frame.rows.overlaps(top..<top + colors.tileSize.height)
            if isShown {
                guard try source.haveArrived(tiles) else { return false }
                let reductions = colors.reductions(ofRow: nextTileRow, by: denominator)
                let pixels = try source.decode(tiles, as: rows.wanted, reductions)
                try rows.emit(pixels, top: top / denominator, alpha)
                self.rows = rows
            }
            nextTileRow += 1
            if nextTileRow == colors.rows || rows.isComplete { stage = .afterPicture }
            return true
        }

        /// Draws all pictures of an overlay and passes on the shown part of the canvas.
        ///
        /// - Returns: false if some of their bytes have not arrived.
        private func draw(
            _ overlay: HEIFOverlay, in frame: ItemFrame, _ items: HEIFItems
        ) throws(WebImageError) -> Bool {
            guard let sink, let header, try overlay.hasArrived(items, options) else { return false }
            let canvas = try overlay.draw(items, options)
            let format = RowFormat(
                size: header.size, layout: .rgba8, alpha: header.hasAlpha ? .straight : .opaque)
            try sink.begin(format)
            var writer = BandWriter(sink, format, options)
            for row in frame.rows where sink.wantsRows {
                let shown = canvas.row(row) + frame.columns.lowerBound * format.layout.bytesPerPixel
                try writer.nextRow().copyMemory(from: shown, byteCount: format.bytesPerRow)
                try writer.rowIsDone()
            }
            try writer.flush()
            stage = .afterPicture
            return true
        }
    }
#endif
