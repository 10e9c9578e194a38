#if HEIF
    import WebImageCore

    /// A HEIC still of ``HEIFEncoder``, taken apart for a sequence.
    struct HEICStill {
        /// The colours of a picture, or its alpha.
        struct Layer {
            /// The properties that must be the same for all pictures of a track.
            struct Description: Equatable {
                /// The content of the track's `hvcC` box.
                var configuration: [UInt8]
                var parameters: HEVCParameters
                /// The shown part of the decoded picture.
                var frame: ItemFrame
                /// Whole `colr` boxes.
                var colors: [UInt8]
            }

            let description: Description
            /// The position of its data in the file.
            let data: Range<Int>
        }

        let bytes: [UInt8]
        let colors: Layer
        /// nil: the picture is opaque.
        let alpha: Layer?
        /// The content of the box with the data of all items.
        let content: Range<Int>

        /// Limits for files that were just made here.
        private static let limits = DecodeLimits(pixels: .max, bytes: ByteCount(Int.max), metadata: ByteCount(Int.max))

        /// - Throws: as ``HEIFEncoder/encode(_:_:)``; `cannotEncode` if libheif does not write the picture as one HEVC
        ///   picture that needs no other.
        init(_ image: Image, _ options: EncodeOptions) throws(WebImageError) {
            let bytes = try HEIFEncoder.encode(image, options)
            self.bytes = bytes
            (colors, alpha, content) = try bytes.withUnsafeBufferPointer {
                buffer throws(WebImageError) -> (Layer, Layer?, Range<Int>) in
                let reader = BoxReader(bytes: UnsafeRawBufferPointer(buffer))
                let all = 0..<bytes.count
                guard let meta = reader.first(["meta"], in: all), let content = reader.first(["mdat"], in: all) else {
                    throw Self.failure
                }
                let items = try HEIFItems(reader, meta: meta)
                let picture = try HEIFPicture(items, limits: Self.limits)
                guard case .plane(let colors) = picture.colors else { throw Self.failure }
                let numbers = picture.colorNumbers.map { BoxWriter.box("colr", $0) } ?? []
                let profile = picture.iccProfile.map { BoxWriter.box("colr", Array("prof".utf8) + $0) } ?? []
                func layer(_ plane: HEIFPlane, colors: [UInt8]) throws(WebImageError) -> Layer {
                    let layer = try Self.layer(plane, picture.frame, colors, items)
                    guard layer.data.lowerBound >= content.lowerBound, layer.data.upperBound <= content.upperBound
                    else {
                        throw Self.failure
                    }
                    return layer
                }
                let alpha = try picture.alpha.map { plane throws(WebImageError) in try layer(plane, colors: []) }
                return (try layer(colors, colors: profile + numbers), alpha, content)
            }
        }

        private static func layer(
            _ plane: HEIFPlane, _ frame: ItemFrame, _ colors: [UInt8], _ items: HEIFItems
        ) throws(WebImageError) -> Layer {
            guard plane.tiles.count == 1, let item = plane.tiles.first else { throw failure }
            let configuration = try HEIFPlane.configuration(of: item, items, limits)
            let places = try items.data(of: item, limit: items.boxes.bytes.count)
            guard places.count == 1, let data = places.first, data.upperBound <= items.boxes.bytes.count else {
                throw failure
            }
            let picture = try configuration.picture(in: [UInt8](items.boxes.bytes[data])[...])
            // Sets in the data of a `hvc1` track are not allowed (ISO/IEC 14496-15, 8.4.1.1).
            guard HEVCConfiguration.instantSlices.contains(picture.type), picture.sets.isEmpty,
                configuration.lengthSize == HEVCConfiguration.writtenLengthSize
            else { throw failure }
            return Layer(
                description: Layer.Description(
                    configuration: configuration.forManyPictures, parameters: configuration.parameters, frame: frame,
                    colors: colors),
                data: data)
        }

        /// The still's `meta` box, for a file in which the data of all items has moved.
        ///
        /// - Parameter start: where the content of the box with the data begins there.
        func meta(dataAt start: Int) throws(WebImageError) -> [UInt8] {
            try bytes.withUnsafeBufferPointer { buffer throws(WebImageError) -> [UInt8] in
                let reader = BoxReader(bytes: UnsafeRawBufferPointer(buffer))
                guard let meta = reader.first(["meta"], in: 0..<bytes.count) else { throw Self.failure }
                let items = try HEIFItems(reader, meta: meta)
                let boxes = reader.boxes(in: meta, skip: 4).map { box in
                    box.type == "iloc"
                        ? locations(items, movedBy: start - content.lowerBound)
                        : BoxWriter.box(box.type, [UInt8](reader.bytes[box.content]))
                }
                return BoxWriter.box("meta", BoxWriter.number(0, 4) + boxes.flatMap { $0 })
            }
        }

        /// The box with the positions of the items' data (ISO/IEC 14496-12, 8.11.3).
        private func locations(_ items: HEIFItems, movedBy distance: Int) -> [UInt8] {
            let n = BoxWriter.number
            let located = items.items.compactMap { id, item in item.location.map { (id, $0) } }.sorted { $0.0 < $1.0 }
            var content = n(1 << 24, 4) + n(0x4400, 2) + n(located.count, 2)
            for (id, location) in located {
                content += n(id, 2) + n(location.method, 2) + n(0, 2) + n(location.extents.count, 2)
                for extent in location.extents {
                    content += n(extent.offset + (location.method == 0 ? distance : 0), 4) + n(extent.length, 4)
                }
            }
            return BoxWriter.box("iloc", content)
        }

        private static var failure: WebImageError {
            WebImageError(
                .cannotEncode, "this libheif makes pictures that cannot be frames of a sequence", format: .heicSequence)
        }
    }
#endif
