#if HEIF
    import CSysHEIF
    import WebImageCore

    /// Decodes the primary picture of one HEIF file once all its bytes are there; libheif needs them all.
    final class HEIFDecoder: ImageDecoder {
        private let options: DecodeOptions
        private let bytes: CollectedBytes
        private var planner: DecodePlanner?
        private var isDone = false
        private var hasRows = false
        private(set) var header: ImageHeader?
        /// libheif takes a picture as large as a square of this side; the side may not be larger.
        private static let longestSide = 46_340

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
            self.options = options
            planner = plan
            bytes = CollectedBytes(limit: options.limits.bytes, format: .heif)
        }

        func push(_ piece: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
            if !isDone {
                try options.checkpoint?()
                try bytes.append(piece)
            }
            return .needsBytes
        }

        func finish() throws(WebImageError) {
            guard !isDone else { return }
            isDone = true
            try options.checkpoint?()
            let boxes = HEIFBoxes(bytes.all)
            do throws(WebImageError) {
                try decode(boxes)
            } catch {
                // The library has one failure for damage and for what is missing.
                guard boxes.isCut || boxes.lacksBoxes, error.code == .corruptData else { throw error }
                throw truncated
            }
            if boxes.isCut, hasRows { throw truncated }
        }

        private func decode(_ boxes: HEIFBoxes) throws(WebImageError) {
            guard let context = heif_context_alloc() else { throw noMemory }
            defer { heif_context_free(context) }
            heif_context_set_max_decoding_threads(context, 0)
            heif_context_set_maximum_image_size_limit(context, largestSquare)
            try check(heif_context_read_from_memory_without_copy(context, bytes.all.baseAddress, bytes.count, nil))
            var primary: OpaquePointer?
            try check(heif_context_get_primary_image_handle(context, &primary))
            guard let primary else { throw noMemory }
            defer { heif_image_handle_release(primary) }
            let header = readHeader(context, primary, boxes)
            self.header = header
            try options.limits.check(header.size, of: header.format)
            let plan = try planner?(header)
            planner = nil
            guard let sink = plan?.sink else { return }
            try options.checkpoint?()
            try decode(primary, header, sink)
        }

        /// The side of the least square that has as many pixels as are allowed; the exact limit is looked at by
        /// ourselves, this one holds what the library allocates for parts of the picture.
        private var largestSquare: Int32 {
            let side = Double(max(options.limits.pixels, 1)).squareRoot().rounded(.up)
            return Int32(min(side, Double(Self.longestSide)))
        }

        private func readHeader(
            _ context: OpaquePointer, _ primary: OpaquePointer, _ boxes: HEIFBoxes
        ) -> ImageHeader {
            var header = ImageHeader(
                format: ImageFormat(sniffing: bytes.all) == .heic ? .heic : .heif,
                size: PixelSize(
                    width: Int(heif_image_handle_get_ispe_width(primary)),
                    height: Int(heif_image_handle_get_ispe_height(primary))),
                orientation: boxes.transforms.orientation,
                hasAlpha: heif_image_handle_has_alpha_channel(primary) != 0,
                bitDepth: max(Int(heif_image_handle_get_luma_bits_per_pixel(primary)), 8))
            let count = heif_image_handle_get_raw_color_profile_size(primary)
            if count > 0, count <= options.limits.metadata.bytes {
                var profile = [UInt8](repeating: 0, count: count)
                if heif_image_handle_get_raw_color_profile(primary, &profile).code == heif_error_Ok {
                    header.iccProfile = profile
                }
            }
            header.frameCount = max(Int(heif_context_get_number_of_top_level_images(context)), 1)
            return header
        }

        private func decode(
            _ primary: OpaquePointer, _ header: ImageHeader, _ sink: any RowSink
        ) throws(WebImageError) {
            let keepsDepth = options.keepsBitDepth && header.bitDepth > 8
            guard let settings = heif_decoding_options_alloc() else { throw noMemory }
            defer { heif_decoding_options_free(settings) }
            settings.pointee.ignore_transformations = 1
            settings.pointee.convert_hdr_to_8bit = keepsDepth ? 0 : 1
            var decoded: OpaquePointer?
            try check(
                heif_decode_image(
                    primary, &decoded, heif_colorspace_RGB,
                    keepsDepth ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA, settings))
            guard let decoded else { throw noMemory }
            defer { heif_image_release(decoded) }
            var stride: Int32 = 0
            guard let plane = heif_image_get_plane_readonly(decoded, heif_channel_interleaved, &stride),
                Int(heif_image_get_width(decoded, heif_channel_interleaved)) == header.size.width,
                Int(heif_image_get_height(decoded, heif_channel_interleaved)) == header.size.height
            else {
                throw WebImageError(
                    .corruptData, "the picture is not of the size that its boxes say", format: header.format)
            }
            let rows = HEIFRows(
                plane: plane, stride: Int(stride),
                depth: Int(heif_image_get_bits_per_pixel_range(decoded, heif_channel_interleaved)),
                isPremultiplied: header.hasAlpha && heif_image_handle_is_premultiplied_alpha(primary) != 0,
                format: RowFormat(
                    size: header.size, layout: keepsDepth ? .rgba16 : .rgba8,
                    alpha: header.hasAlpha ? .straight : .opaque))
            try rows.emit(into: sink, options)
            hasRows = true
        }

        private var noMemory: WebImageError {
            WebImageError(.limitExceeded, "there is no memory to decode the picture", format: header?.format ?? .heif)
        }

        private var truncated: WebImageError {
            WebImageError(
                .truncatedData,
                header == nil ? "the data ends before the picture begins" : "the picture's data ends early",
                format: header?.format ?? .heif)
        }

        /// Makes a failure of libheif an error.
        private func check(_ result: heif_error) throws(WebImageError) {
            let code: WebImageError.Code
            switch result.code {
            case heif_error_Ok: return
            case heif_error_Memory_allocation_error: code = .limitExceeded
            case heif_error_Unsupported_feature, heif_error_Unsupported_filetype: code = .unsupportedFeature
            default:
                code = result.subcode == heif_suberror_Security_limit_exceeded ? .limitExceeded : .corruptData
            }
            let message = result.message.map { String(cString: $0) } ?? "no message"
            throw WebImageError(code, "libheif: \(message)", format: header?.format ?? .heif)
        }
    }
#endif
