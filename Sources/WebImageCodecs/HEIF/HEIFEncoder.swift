#if HEIF
    import CSysHEIF
    import WebImageCore
    import WebImageSystem

    /// Writes HEIC stills with whatever HEVC encoder libheif has.
    enum HEIFEncoder {
        private static let longestSide = 16_384
        private static let defaultQuality = 60

        static var isAvailable: Bool {
            OpenedLibrary.libheif.isAvailable && heif_have_encoder_for_format(heif_compression_HEVC) != 0
        }

        static func encode(_ image: Image, _ options: EncodeOptions) throws(WebImageError) -> [UInt8] {
            try OpenedLibrary.libheif.check(.heic, .cannotEncode)
            guard isAvailable else {
                throw failure(
                    "this libheif has no HEVC encoder; install its x265 plugin (libheif-plugin-x265 where plugins are packages of their own)"
                )
            }
            guard max(image.size.width, image.size.height) <= longestSide else {
                throw failure("a HEIC's sides are at most \(longestSide) pixels here, this picture is \(image.size)")
            }
            // The picture is written upright, because libheif 1.15 exchanges width and height of a rotated one.
            let image = try image.plain()
            guard let context = heif_context_alloc() else { throw noMemory }
            defer { heif_context_free(context) }
            let picture = try makePicture(image, options)
            defer { heif_image_release(picture) }
            try encode(picture, image, options, in: context)
            return try bytes(of: context)
        }

        private static func encode(
            _ picture: OpaquePointer, _ image: Image, _ options: EncodeOptions, in context: OpaquePointer
        ) throws(WebImageError) {
            var encoder: OpaquePointer?
            try check(heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder))
            guard let encoder else { throw noMemory }
            defer { heif_encoder_release(encoder) }
            let quality = min(max(options.quality ?? defaultQuality, 1), 100)
            try check(heif_encoder_set_logging_level(encoder, 0))
            try check(heif_encoder_set_lossy_quality(encoder, Int32(quality)))
            if options.chroma != .automatic {
                let name = String(options.chroma.rawValue.dropFirst(3))
                try check(heif_encoder_set_parameter_string(encoder, "chroma", name))
            }
            // x265 counts the processors in files, which an encoder in a process of its own cannot read: without its
            // pool of threads it would be slower, and make another file. Other encoders do not know these parameters.
            for (name, value) in [("x265:pools", Processors.count), ("x265:frame-threads", 1)] {
                _ = heif_encoder_set_parameter_string(encoder, name, String(value))
            }
            guard let settings = heif_encoding_options_alloc() else { throw noMemory }
            defer { heif_encoding_options_free(settings) }
            settings.pointee.save_alpha_channel = image.alpha == .opaque ? 0 : 1
            // If HEVC needs more pixels than the picture has, a grid of one tile crops them. Otherwise libheif 1.15
            // would write `clap`, and state the cropped size as that of the whole picture, which later versions refuse.
            settings.pointee.macOS_compatibility_workaround = 1
            settings.pointee.macOS_compatibility_workaround_no_nclx_profile = 0
            var handle: OpaquePointer?
            let result = heif_context_encode_image(context, picture, encoder, settings, &handle)
            guard result.subcode != heif_suberror_Invalid_image_size else { throw invalidSize(image.size) }
            try check(result)
            guard let handle else { throw noMemory }
            defer { heif_image_handle_release(handle) }
            // libheif refuses a thumbnail that is not smaller than the picture, and crashes for one without rows.
            let side = EncodeOptions.thumbnailSide
            let longest = max(image.size.width, image.size.height)
            let shortest = min(image.size.width, image.size.height)
            if options.embedsThumbnail, longest > side, shortest * side / longest >= 2 {
                var small: OpaquePointer?
                try check(
                    heif_context_encode_thumbnail(context, picture, handle, encoder, settings, Int32(side), &small))
                if let small { heif_image_handle_release(small) }
            }
            let metadata = EmbeddedMetadata(image, options, formatTells: .orientation)
            let (exif, xmp) = (metadata.exif, metadata.xmp)
            if !exif.isEmpty { try check(heif_context_add_exif_metadata(context, handle, exif, Int32(exif.count))) }
            if !xmp.isEmpty { try check(heif_context_add_XMP_metadata(context, handle, xmp, Int32(xmp.count))) }
        }

        private static func makePicture(_ image: Image, _ options: EncodeOptions) throws(WebImageError) -> OpaquePointer
        {
            let isDeep = image.layout == .rgba16
            let hasAlpha = image.alpha != .opaque
            let chroma: heif_chroma
            switch (isDeep, hasAlpha) {
            case (false, false): chroma = heif_chroma_interleaved_RGB
            case (false, true): chroma = heif_chroma_interleaved_RGBA
            case (true, false): chroma = heif_chroma_interleaved_RRGGBB_LE
            case (true, true): chroma = heif_chroma_interleaved_RRGGBBAA_LE
            }
            let (width, height) = (Int32(image.size.width), Int32(image.size.height))
            var created: OpaquePointer?
            try check(heif_image_create(width, height, heif_colorspace_RGB, chroma, &created))
            guard let picture = created else { throw noMemory }
            do throws(WebImageError) {
                try check(
                    heif_image_add_plane(picture, heif_channel_interleaved, width, height, isDeep ? 10 : 8))
                try fill(picture, image, channels: hasAlpha ? 4 : 3)
                try describe(picture, EmbeddedMetadata(image, options))
            } catch {
                heif_image_release(picture)
                throw error
            }
            return picture
        }

        private static func fill(_ picture: OpaquePointer, _ image: Image, channels: Int) throws(WebImageError) {
            var stride: Int32 = 0
            guard let plane = heif_image_get_plane(picture, heif_channel_interleaved, &stride) else { throw noMemory }
            let width = image.size.width
            image.withPixels { pixels in
                for row in 0..<image.size.height {
                    let line = plane + row * Int(stride)
                    let start = row * image.pixels.bytesPerRow
                    for sample in 0..<width * channels {
                        let index = channels == 4 ? sample : sample / 3 * 4 + sample % 3
                        guard image.layout == .rgba16 else {
                            line[sample] = pixels[start + index]
                            continue
                        }
                        let wide = UInt32(pixels.loadUnaligned(fromByteOffset: start + 2 * index, as: UInt16.self))
                        let narrow = (wide * 1023 + 32_767) / 65_535
                        line[2 * sample] = UInt8(narrow & 255)
                        line[2 * sample + 1] = UInt8(narrow >> 8)
                    }
                }
            }
        }

        /// The colours in numbers, sRGB unless the picture says otherwise, and the profile if there is one.
        private static func describe(_ picture: OpaquePointer, _ metadata: EmbeddedMetadata) throws(WebImageError) {
            let profile = metadata.profile
            if !profile.isEmpty {
                try check(heif_image_set_raw_color_profile(picture, "prof", profile, profile.count))
            }
            guard let numbers = heif_nclx_color_profile_alloc() else { throw noMemory }
            defer { heif_nclx_color_profile_free(numbers) }
            let color = metadata.color ?? .sRGB
            numbers.pointee.color_primaries = heif_color_primaries(rawValue: UInt32(color.primaries))
            numbers.pointee.transfer_characteristics = heif_transfer_characteristics(rawValue: UInt32(color.transfer))
            numbers.pointee.matrix_coefficients =
                color.primaries == 9
                ? heif_matrix_coefficients_ITU_R_BT_2020_2_non_constant_luminance
                : heif_matrix_coefficients_ITU_R_BT_601_6
            numbers.pointee.full_range_flag = 1
            try check(heif_image_set_nclx_color_profile(picture, numbers))
        }

        private final class Output {
            var bytes: [UInt8] = []
        }

        private static func bytes(of context: OpaquePointer) throws(WebImageError) -> [UInt8] {
            let output = Output()
            var writer = heif_writer(writer_api_version: 1) { _, data, count, target in
                if let data, let target {
                    let output = Unmanaged<Output>.fromOpaque(target).takeUnretainedValue()
                    output.bytes.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count))
                }
                return heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: nil)
            }
            let result = heif_context_write(context, &writer, Unmanaged.passUnretained(output).toOpaque())
            try check(result)
            return withExtendedLifetime(output) { output.bytes }
        }

        private static var noMemory: WebImageError {
            WebImageError(.limitExceeded, "there is no memory to write the HEIC", format: .heic)
        }

        /// Longer sides need a level of H.265 (A.4.1) for which x265 wants coding blocks that are larger than libheif's
        /// for so thin a picture.
        private static func invalidSize(_ size: PixelSize) -> WebImageError {
            failure(
                "libheif's HEVC encoder takes no picture of \(size): "
                    + "for x265 the shorter side has to be 32 pixels at least if the other has more than 4216")
        }

        private static func check(_ result: heif_error) throws(WebImageError) {
            guard result.code != heif_error_Ok else { return }
            throw failure("libheif: \(result.message.map { String(cString: $0) } ?? "no message")")
        }

        private static func failure(_ message: String) -> WebImageError {
            WebImageError(.cannotEncode, message, format: .heic)
        }
    }
#endif
