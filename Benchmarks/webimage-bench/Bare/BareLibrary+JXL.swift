#if JXL
    import CShimJXL
    import CSysJXL
    import WebImageCore

    extension BareLibrary {
        static func decodeJXL(_ bytes: [UInt8]) throws -> Int {
            try check(wi_jxl_library_fault() == nil)
            guard let decoder = JxlDecoderCreate(nil) else { throw Failure() }
            defer { JxlDecoderDestroy(decoder) }
            let events = Int32(bitPattern: JXL_DEC_FULL_IMAGE.rawValue)
            try check(JxlDecoderSubscribeEvents(decoder, events) == JXL_DEC_SUCCESS)
            var format = JxlPixelFormat(
                num_channels: 4, data_type: JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN, align: 0)
            var pixels: UnsafeMutableRawPointer?
            defer { pixels?.deallocate() }
            return try bytes.withUnsafeBufferPointer { bytes in
                try check(JxlDecoderSetInput(decoder, bytes.baseAddress, bytes.count) == JXL_DEC_SUCCESS)
                JxlDecoderCloseInput(decoder)
                var count = 0
                while true {
                    switch JxlDecoderProcessInput(decoder) {
                    case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
                        try check(JxlDecoderImageOutBufferSize(decoder, &format, &count) == JXL_DEC_SUCCESS)
                        pixels = .allocate(byteCount: count, alignment: 64)
                        let isSet = JxlDecoderSetImageOutBuffer(decoder, &format, pixels, count)
                        try check(isSet == JXL_DEC_SUCCESS)
                    case JXL_DEC_FULL_IMAGE, JXL_DEC_SUCCESS: return count
                    default: throw Failure()
                    }
                }
            }
        }

        /// Quality 80 as a distance, effort 4.
        static func encodeJXL(_ image: Image) throws -> Int {
            try check(wi_jxl_library_fault() == nil)
            guard let encoder = JxlEncoderCreate(nil), let settings = JxlEncoderFrameSettingsCreate(encoder, nil) else {
                throw Failure()
            }
            defer { JxlEncoderDestroy(encoder) }
            var info = JxlBasicInfo()
            JxlEncoderInitBasicInfo(&info)
            (info.xsize, info.ysize) = (UInt32(image.size.width), UInt32(image.size.height))
            (info.bits_per_sample, info.num_color_channels, info.uses_original_profile) = (8, 3, JXL_FALSE)
            try check(JxlEncoderSetBasicInfo(encoder, &info))
            var colors = JxlColorEncoding()
            JxlColorEncodingSetToSRGB(&colors, JXL_FALSE)
            try check(JxlEncoderSetColorEncoding(encoder, &colors))
            try check(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, 4))
            try check(JxlEncoderSetFrameDistance(settings, 1.9))
            var format = JxlPixelFormat(
                num_channels: 3, data_type: JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN, align: 0)
            let pixels = image.withPixels { pixels in
                [UInt8](unsafeUninitializedCapacity: pixels.count / 4 * 3) { output, initialized in
                    for index in 0..<pixels.count / 4 {
                        for channel in 0..<3 { output[3 * index + channel] = pixels[4 * index + channel] }
                    }
                    initialized = pixels.count / 4 * 3
                }
            }
            try check(JxlEncoderAddImageFrame(settings, &format, pixels, pixels.count))
            JxlEncoderCloseInput(encoder)
            var output = [UInt8](repeating: 0, count: 16 << 20)
            return try output.withUnsafeMutableBufferPointer { output in
                var (next, left) = (output.baseAddress, output.count)
                try check(JxlEncoderProcessOutput(encoder, &next, &left))
                return output.count - left
            }
        }

        private static func check(_ status: JxlEncoderStatus) throws { try check(status == JXL_ENC_SUCCESS) }
    }
#endif
