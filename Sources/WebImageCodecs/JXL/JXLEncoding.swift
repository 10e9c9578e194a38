#if JXL
    import CSysJXL
    import WebImageCore

    /// Writes one picture with libjxl.
    struct JXLEncoding {
        /// libjxl's effort, 1 to 9: above this one it takes several times as long for a few percent less bytes.
        private static let effort: Int64 = 4
        private let image: Image
        private let quality: Int
        private let metadata: EmbeddedMetadata
        private var profile: [UInt8] { metadata.profile }

        init(_ image: Image, _ options: EncodeOptions) {
            self.image = image
            quality = min(max(options.quality ?? 80, 1), 100)
            metadata = EmbeddedMetadata(image, options, formatTells: .orientation)
        }

        func run() throws(WebImageError) -> [UInt8] {
            guard let handle = JxlEncoderCreate(nil) else { throw noMemory() }
            defer { JxlEncoderDestroy(handle) }
            try addBoxes(handle)
            try describe(handle)
            guard let settings = JxlEncoderFrameSettingsCreate(handle, nil) else { throw noMemory() }
            try check(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, Self.effort), handle)
            if quality == 100 {
                try check(JxlEncoderSetFrameLossless(settings, JXL_TRUE), handle)
            } else {
                try check(JxlEncoderSetFrameDistance(settings, distance), handle)
            }
            try addPixels(settings, handle)
            JxlEncoderCloseInput(handle)
            return try output(handle)
        }

        /// EXIF and XMP before the picture, so that who reads the file's beginning has them.
        private func addBoxes(_ handle: OpaquePointer) throws(WebImageError) {
            // The four bytes say where in the box the block begins.
            let exif = metadata.exif.isEmpty ? [] : [0, 0, 0, 0] + metadata.exif
            let boxes = [("Exif", exif), ("xml ", metadata.xmp)].filter { !$0.1.isEmpty }
            guard !boxes.isEmpty else { return }
            try check(JxlEncoderUseContainer(handle, JXL_TRUE), handle)
            try check(JxlEncoderUseBoxes(handle), handle)
            for (name, contents) in boxes {
                try check(JxlEncoderAddBox(handle, name, contents, contents.count, JXL_FALSE), handle)
            }
            JxlEncoderCloseBoxes(handle)
        }

        /// libjxl's measure of loss for a JPEG-like quality, as its own tools convert it: 90 gives 1.0, "visually
        /// lossless".
        private var distance: Float {
            guard quality < 30 else { return 0.1 + Float(100 - quality) * 0.09 }
            return 53 / 3000 * Float(quality * quality) - 23 / 20 * Float(quality) + 25
        }

        private var hasAlpha: Bool { image.alpha != .opaque }
        private var channels: Int { hasAlpha ? 4 : 3 }

        private func describe(_ handle: OpaquePointer) throws(WebImageError) {
            guard let width = UInt32(exactly: image.size.width), let height = UInt32(exactly: image.size.height) else {
                throw WebImageError(.cannotEncode, "a JPEG XL cannot hold a picture of \(image.size)", format: .jxl)
            }
            var info = JxlBasicInfo()
            JxlEncoderInitBasicInfo(&info)
            (info.xsize, info.ysize) = (width, height)
            info.bits_per_sample = UInt32(image.layout.bitDepth)
            info.num_color_channels = 3
            info.orientation = JxlOrientation(rawValue: UInt32(image.info.orientation.rawValue))
            info.uses_original_profile = quality == 100 ? JXL_TRUE : JXL_FALSE
            if hasAlpha {
                info.num_extra_channels = 1
                info.alpha_bits = info.bits_per_sample
            }
            try check(JxlEncoderSetBasicInfo(handle, &info), handle)
            if profile.isEmpty {
                var colors = JXLColor.encoding(metadata.color ?? .sRGB)
                try check(JxlEncoderSetColorEncoding(handle, &colors), handle)
            } else {
                try check(JxlEncoderSetICCProfile(handle, profile, profile.count), handle)
            }
        }

        private func addPixels(_ settings: OpaquePointer, _ handle: OpaquePointer) throws(WebImageError) {
            var format = JxlPixelFormat(
                num_channels: UInt32(channels), data_type: image.layout == .rgba16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                endianness: JXL_NATIVE_ENDIAN, align: 0)
            let status = image.withPixels { pixels -> JxlEncoderStatus in
                guard image.alpha != .straight else {
                    return JxlEncoderAddImageFrame(settings, &format, pixels.baseAddress, pixels.count)
                }
                if image.layout == .rgba8 {
                    let values = converted(pixels.bindMemory(to: UInt8.self))
                    return JxlEncoderAddImageFrame(settings, &format, values, values.count)
                }
                let values = converted(pixels.bindMemory(to: UInt16.self))
                return JxlEncoderAddImageFrame(settings, &format, values, values.count * 2)
            }
            try check(status, handle)
        }

        /// The pixels of a picture whose alpha is not straight, as libjxl takes them: red, green and blue of an opaque
        /// one. The colours of a premultiplied one are divided by alpha, since libjxl 0.7 ends the process when it is
        /// given one.
        private func converted<Value: FixedWidthInteger & UnsignedInteger>(
            _ pixels: UnsafeBufferPointer<Value>
        ) -> [Value] {
            let (count, channels, most) = (pixels.count / 4, channels, UInt32(Value.max))
            return [Value](unsafeUninitializedCapacity: count * channels) { output, initialized in
                for index in 0..<count {
                    let alpha = UInt32(pixels[index * 4 + 3])
                    for channel in 0..<channels {
                        let value = UInt32(pixels[index * 4 + channel])
                        let isWhole = channel == 3 || alpha == most || alpha == 0
                        // At most 65 535 squared and a half alpha: within 32 bits.
                        output[index * channels + channel] =
                            isWhole ? Value(value) : Value(min((value * most + alpha / 2) / alpha, most))
                    }
                }
                initialized = count * channels
            }
        }

        private func output(_ handle: OpaquePointer) throws(WebImageError) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            var used = 0
            while true {
                var (status, left) = (JXL_ENC_ERROR, 0)
                bytes.withUnsafeMutableBufferPointer { buffer in
                    left = buffer.count - used
                    var next = buffer.baseAddress.map { $0 + used }
                    status = JxlEncoderProcessOutput(handle, &next, &left)
                    used = buffer.count - left
                }
                if status == JXL_ENC_SUCCESS { return Array(bytes.prefix(used)) }
                guard status == JXL_ENC_NEED_MORE_OUTPUT else { throw failure(handle) }
                bytes.append(contentsOf: repeatElement(0, count: bytes.count))
            }
        }

        private func check(_ status: JxlEncoderStatus, _ handle: OpaquePointer) throws(WebImageError) {
            guard status == JXL_ENC_SUCCESS else { throw failure(handle) }
        }

        private func failure(_ handle: OpaquePointer) -> WebImageError {
            let code = JxlEncoderGetError(handle)
            guard code != JXL_ENC_ERR_OOM else { return noMemory() }
            return WebImageError(
                .cannotEncode, "libjxl cannot write the picture (error \(code.rawValue))", format: .jxl)
        }

        private func noMemory() -> WebImageError {
            WebImageError(.limitExceeded, "there is no memory to write the JPEG XL", format: .jxl)
        }
    }
#endif
