#if HEIF
    import WebImageCore

    /// An image sequence of HEVC pictures (ISO/IEC 23008-12, 7), as its boxes describe it.
    final class HEICSequence {
        let header: ImageHeader
        /// Why the frames after ``frameCount`` are left out.
        let refusal: WebImageError?
        private let colors: HEVCStream
        private let alpha: HEVCStream?
        private let tiling: HEIFTiling
        /// The content of its `colr` box with code points instead of a profile.
        private let colorNumbers: [UInt8]?
        /// The delays of all allowed frames, whether their bytes have arrived or not.
        let delays: [Duration]

        static let codecs: Set = ["hvc1", "hev1"]

        /// - Throws: `corruptData`, `limitExceeded`, and `unsupportedFeature` if there is no track of HEVC pictures.
        init(_ reader: BoxReader, _ options: DecodeOptions) throws(WebImageError) {
            try OpenedLibrary.libheif.check(.heicSequence)
            let limits = options.limits
            guard let track = SequenceTrack.shown(in: reader, of: Self.codecs) else {
                throw WebImageError(
                    .unsupportedFeature, "the sequence has no track of HEVC pictures", format: .heicSequence)
            }
            let configuration = try Self.configuration(of: track, limits, reader)
            let size = configuration.parameters.size
            let most = limits.maxFrames(of: size)
            func samples(_ track: SequenceTrack) throws(WebImageError) -> SampleTable {
                try SampleTable(track, most: max(most, 1), limit: limits.bytes.bytes, reader)
            }
            let table = try samples(track)
            refusal = Self.refusal(table.count, size, limits)
            colors = HEVCStream(configuration, table)
            let layer = Self.alpha(of: track, reader)
            alpha = try layer.map { track throws(WebImageError) in
                HEVCStream(try Self.configuration(of: track, limits, reader), try samples(track))
            }
            guard alpha?.count ?? colors.count == colors.count else {
                throw WebImageError(
                    .corruptData, "the sequence has other numbers of colours and of alphas", format: .heicSequence)
            }
            var frame = ItemFrame(size)
            let properties = track.properties(reader)
            for property in properties where property.type == "clap" { frame.apply(property, reader) }
            frame.turn(track.turns(reader))
            tiling = HEIFTiling(
                size: size, tileSize: size, frame: frame,
                isPremultiplied: layer.flatMap { $0.number(reader) }.map(track.references("prem", reader).contains)
                    ?? false)
            let descriptions = properties.filter { $0.type == "colr" && $0.content.count > 4 }
            func description(_ types: Set<String>) -> Range<Int>? {
                descriptions.map(\.content).first { content in
                    reader.name(at: content.lowerBound, in: content).map(types.contains) ?? false
                }
            }
            colorNumbers = description(["nclx"]).map { [UInt8](reader.bytes[$0]) }
            let timing = SequenceTiming(track, frames: colors.count, reader)
            delays =
                timing.delays.count == colors.count
                ? timing.delays : Array(repeating: .zero, count: colors.count)
            let profile = description(["prof", "rICC"]).flatMap { content in
                content.count - 4 <= limits.metadata.bytes ? [UInt8](reader.bytes[content].dropFirst(4)) : nil
            }
            var header = ImageHeader(
                format: .heicSequence, size: frame.size, orientation: frame.transforms.orientation,
                hasAlpha: alpha != nil, bitDepth: configuration.parameters.lumaDepth, iccProfile: profile)
            if configuration.parameters.chroma == 0 { header.colorModel = .gray }
            header.colorDescription = colorNumbers.flatMap { ColorDescription(nclx: $0) }
            if size != header.size { header.sizeBeforeCrop = size }
            header.frameCount = table.count
            header.loopCount = timing.loopCount
            self.header = header
        }

        private static func configuration(
            of track: SequenceTrack, _ limits: DecodeLimits, _ reader: BoxReader
        ) throws(WebImageError) -> HEVCConfiguration {
            guard let content = track.properties(reader).first(where: { $0.type == "hvcC" })?.content,
                content.count <= HEVCConfiguration.longest
            else {
                throw WebImageError(
                    .corruptData, "the sequence does not describe its HEVC pictures", format: .heicSequence)
            }
            let configuration = try HEVCConfiguration([UInt8](reader.bytes[content])[...], limits: limits)
            try configuration.checkReferences(limits)
            return configuration
        }

        /// The track with the alpha of another one.
        private static func alpha(of track: SequenceTrack, _ reader: BoxReader) -> SequenceTrack? {
            guard let number = track.number(reader) else { return nil }
            return SequenceTrack.all(in: reader, of: codecs).first { other in
                guard other.references("auxl", reader).contains(number),
                    let kind = other.properties(reader).first(where: { $0.type == "auxi" })?.content,
                    let rest = reader.full(kind)?.rest, let type = reader.texts(in: rest).first
                else { return false }
                return HEIFPicture.alphaTypes.contains(type)
            }
        }

        private static func refusal(_ count: Int, _ size: PixelSize, _ limits: DecodeLimits) -> WebImageError? {
            do throws(WebImageError) {
                try limits.check(frames: count, of: size, format: .heicSequence)
                return nil
            } catch { return error }
        }

        /// The number of frames that may be decoded. At least one, because the limits of animations do not apply to a
        /// still.
        var frameCount: Int { colors.count }

        /// The end in the file of the data that a frame needs.
        func dataEnd(of index: Int) -> Int { max(colors.dataEnd(of: index), alpha?.dataEnd(of: index) ?? 0) }

        func firstNeeded(for index: Int, in file: UnsafeRawBufferPointer) -> Int {
            let first = colors.firstNeeded(for: index, in: file)
            return alpha.map { min($0.firstNeeded(for: index, in: file), first) } ?? first
        }

        /// Decodes a frame and passes its pixels to a sink.
        ///
        /// - Throws: as ``HEVCStream/show(_:in:_:)``, and the errors of the sink.
        func emit(
            _ index: Int, of file: UnsafeRawBufferPointer, to sink: any RowSink, _ options: DecodeOptions
        ) throws(WebImageError) {
            try colors.show(index, in: file, options)
            try alpha?.show(index, in: file, options)
            var rows = HEIFRows(tiling, header, sink, options)
            let pixels = try colors.pixels(as: rows.wanted, color: colorNumbers)
            let plane = try alpha?.pixels(as: .alpha, color: nil)
            try rows.emit([pixels], top: 0, plane.map { HEIFAlpha($0) })
        }
    }
#endif
