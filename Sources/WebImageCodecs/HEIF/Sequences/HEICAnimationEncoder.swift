#if HEIF
    import WebImageCore
    import WebImageProcessing

    /// Writes a HEIC image sequence: whole frames, each a HEVC picture by itself, delays in milliseconds. Keeps the
    /// encoded frames, and no other.
    final class HEICAnimationEncoder: AnimationEncoder {
        private let animation: AnimationDescription
        private let options: EncodeOptions
        /// The first frame, whose layout and description apply to all frames.
        private var first: (still: HEICStill, layout: PixelLayout)?
        private var alpha: HEICStill.Layer.Description?
        private var colors: [Range<Int>] = []
        /// The alpha pictures; nil for opaque frames.
        private var alphas: [Range<Int>?] = []
        private var milliseconds: [Int] = []
        private var clock = DelayClock(longest: Int(UInt32.max))
        /// The encoded pictures: ``colors`` and ``alphas`` are positions in this.
        private var data: [UInt8] = []

        init(_ animation: AnimationDescription, _ options: EncodeOptions) {
            self.animation = animation
            self.options = options
        }

        func add(_ frame: Image, delay: Duration) throws(WebImageError) {
            // Encoding the alpha of opaque frames would double the time.
            let isOpaque = frame.alpha == .opaque || frame.pixels.isOpaque
            let plain = try animation.upright(frame, .heicSequence)
            let frame = isOpaque ? plain.with { $0.alpha = .opaque } : plain
            if let first {
                try add(frame, after: first.still, as: first.layout)
            } else {
                try begin(with: frame)
            }
            milliseconds.append(max(clock.ticks(delay), 1))
        }

        private func begin(with frame: Image) throws(WebImageError) {
            let still = try HEICStill(frame, options)
            first = (still, frame.layout)
            data = [UInt8](still.bytes[still.content])
            alpha = still.alpha?.description
            func place(_ layer: HEICStill.Layer) -> Range<Int> {
                layer.data.lowerBound - still.content.lowerBound..<layer.data.upperBound - still.content.lowerBound
            }
            colors.append(place(still.colors))
            alphas.append(still.alpha.map(place))
        }

        private func add(_ frame: Image, after first: HEICStill, as layout: PixelLayout) throws(WebImageError) {
            let pixels = try frame.pixels.inLayout(layout)
            let still = try HEICStill(Image(pixels: pixels, info: frame.info), laterOptions)
            try Self.check(still.colors.description, first.colors.description)
            colors.append(try take(still.colors, of: still))
            alphas.append(try takeAlpha(of: still))
        }

        /// The options for all frames but the first: only that has the metadata and the thumbnail of the file.
        private var laterOptions: EncodeOptions {
            var options = options
            options.keepsMetadata = false
            options.embedsThumbnail = false
            return options
        }

        private func takeAlpha(of still: HEICStill) throws(WebImageError) -> Range<Int>? {
            guard let layer = still.alpha else { return nil }
            try Self.check(layer.description, alpha ?? layer.description)
            alpha = layer.description
            return try take(layer, of: still)
        }

        private func take(_ layer: HEICStill.Layer, of still: HEICStill) throws(WebImageError) -> Range<Int> {
            let start = data.count
            try HEICSequenceWriter.check(byteCount: start + layer.data.count)
            data += still.bytes[layer.data]
            return start..<data.count
        }

        func finish() throws(WebImageError) -> [UInt8] {
            guard let first else {
                throw WebImageError(.cannotEncode, "an animation needs a frame", format: .heicSequence)
            }
            let alphas = try allAlphas(first.layout)
            return try HEICSequenceWriter(
                still: first.still, size: animation.size,
                colors: HEICSequenceWriter.Track(description: first.still.colors.description, pictures: colors),
                alpha: alpha.map { HEICSequenceWriter.Track(description: $0, pictures: alphas) },
                // Players repeat a sequence without a count forever.
                milliseconds: milliseconds, loopCount: max(animation.loopCount ?? 1, 0), data: data
            ).file()
        }

        /// The alpha pictures of all frames if any frame has alpha, else empty. Opaque frames share one picture.
        private func allAlphas(_ layout: PixelLayout) throws(WebImageError) -> [Range<Int>] {
            guard alpha != nil else { return [] }
            var opaque: Range<Int>?
            if alphas.contains(nil) {
                let blank = try PixelBuffer(size: animation.size, layout: layout)
                let bytes = blank.mutableBytes
                for index in bytes.indices { bytes[index] = .max }
                let image = Image(pixels: blank, info: Image.Info(alpha: .straight))
                opaque = try takeAlpha(of: HEICStill(image, laterOptions))
            }
            return alphas.compactMap { $0 ?? opaque }
        }

        /// Refuses a frame whose description differs from the first, because all pictures of a track share one.
        private static func check(
            _ next: HEICStill.Layer.Description, _ first: HEICStill.Layer.Description
        ) throws(WebImageError) {
            guard next == first else {
                throw WebImageError(
                    .cannotEncode,
                    "a frame has other colours than the first, which a HEIC sequence cannot have",
                    format: .heicSequence)
            }
        }
    }
#endif
