#if HEIF
    import CShimHEIF
    import CSysHEIF
    import WebImageCore

    extension BareLibrary {
        static func decodeHEIC(_ bytes: [UInt8]) throws -> Int {
            try check(wi_heif_library_fault() == nil)
            guard let context = heif_context_alloc() else { throw Failure() }
            defer { heif_context_free(context) }
            return try bytes.withUnsafeBytes { bytes in
                try check(heif_context_read_from_memory_without_copy(context, bytes.baseAddress, bytes.count, nil))
                heif_context_set_max_decoding_threads(context, 0)
                var (handle, picture) = (OpaquePointer?.none, OpaquePointer?.none)
                try check(heif_context_get_primary_image_handle(context, &handle))
                defer { heif_image_handle_release(handle) }
                try check(
                    heif_decode_image(handle, &picture, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, nil))
                defer { heif_image_release(picture) }
                return Int(heif_image_get_primary_width(picture)) * Int(heif_image_get_primary_height(picture)) * 4
            }
        }

        /// Quality 60.
        static func encodeHEIC(_ image: Image) throws -> Int {
            try check(wi_heif_library_fault() == nil)
            let (width, height) = (Int32(image.size.width), Int32(image.size.height))
            var (encoder, picture) = (OpaquePointer?.none, OpaquePointer?.none)
            guard let context = heif_context_alloc() else { throw Failure() }
            defer { heif_context_free(context) }
            try check(heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder))
            defer { heif_encoder_release(encoder) }
            try check(heif_encoder_set_logging_level(encoder, 0))
            try check(heif_encoder_set_lossy_quality(encoder, 60))
            try check(heif_image_create(width, height, heif_colorspace_RGB, heif_chroma_interleaved_RGB, &picture))
            defer { heif_image_release(picture) }
            try check(heif_image_add_plane(picture, heif_channel_interleaved, width, height, 8))
            var stride: Int32 = 0
            guard let plane = heif_image_get_plane(picture, heif_channel_interleaved, &stride) else { throw Failure() }
            image.withPixels { pixels in
                let source = pixels.bindMemory(to: UInt8.self).baseAddress!
                for row in 0..<image.size.height {
                    let (from, to) = (source + row * image.pixels.bytesPerRow, plane + row * Int(stride))
                    for x in 0..<image.size.width {
                        (to[3 * x], to[3 * x + 1], to[3 * x + 2]) = (from[4 * x], from[4 * x + 1], from[4 * x + 2])
                    }
                }
            }
            try check(heif_context_encode_image(context, picture, encoder, nil, nil))
            return image.size.width * image.size.height * 4
        }

        private static func check(_ result: heif_error) throws { try check(result.code == heif_error_Ok) }
    }
#endif
