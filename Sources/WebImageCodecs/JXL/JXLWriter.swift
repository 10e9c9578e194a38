#if JXL
    import CSysJXL
    import WebImageCore
    import WebImageProcessing

    /// Writes one file with libjxl: a still, or an animation frame by frame. Not thread-safe.
    final class JXLWriter {
        /// The properties of a file that precede its pictures.
        struct Description {
            var size: PixelSize
            var bitDepth: Int
            var hasAlpha: Bool
            var orientation = Orientation.up
            /// The ICC profile; empty if the colours are sRGB or those of ``color``.
            var profile: [UInt8] = []
            var color: ColorDescription?
            /// Empty: none.
            var exif: [UInt8] = []
            var xmp: [UInt8] = []
            /// How often an animation is played, 0 for ever; nil for a still.
            var loopCount: Int?
        }

        private let handle: OpaquePointer
        private let help: JXLHelp?
        private let settings: OpaquePointer
        private let channels: Int
        private var bytes: [UInt8] = []

        init(_ description: Description, _ options: EncodeOptions) throws(WebImageError) {
            try OpenedLibrary.libjxl.check(.jxl, .cannotEncode)
            guard let handle = JxlEncoderCreate(nil) else { throw Self.noMemory() }
            self.handle = handle
            help = JXLHelp(options.context.idleThreads)
            if let help { _ = JxlEncoderSetParallelRunner(handle, JXLHelp.runner, help.opaque) }
            guard let settings = JxlEncoderFrameSettingsCreate(handle, nil) else {
                JxlEncoderDestroy(handle)
                throw Self.noMemory()
            }
            self.settings = settings
            channels = description.hasAlpha ? 4 : 3
            let quality = min(max(options.quality ?? 80, 1), 100)
            let isLossless = options.isLossless || quality == 100
            if !isLossless { try options.checkChroma([.yuv444], .jxl) }
            try addBoxes(description)
            try describe(description, isLossless: isLossless)
            let effort = Int64(min(max(options.jxlEffort, 1), 9))
            try check(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, effort))
            if isLossless {
                try check(JxlEncoderSetFrameLossless(settings, JXL_TRUE))
            } else {
                try check(JxlEncoderSetFrameDistance(settings, Self.distance(quality)))
            }
        }

        deinit { JxlEncoderDestroy(handle) }

        /// libjxl's measure of loss for a JPEG-like quality, as its own tools convert it: 90 gives 1.0, "visually
        /// lossless".
        private static func distance(_ quality: Int) -> Float {
            guard quality < 30 else { return 0.1 + Float(100 - quality) * 0.09 }
            return 53 / 3000 * Float(quality * quality) - 23 / 20 * Float(quality) + 25
        }

        /// EXIF and XMP precede the picture, so that they can be read from the file's beginning.
        private func addBoxes(_ picture: Description) throws(WebImageError) {
            // The four bytes are the offset of the block in the box.
            let exif = picture.exif.isEmpty ? [] : [0, 0, 0, 0] + picture.exif
            let boxes = [("Exif", exif), ("xml ", picture.xmp)].filter { !$0.1.isEmpty }
            guard !boxes.isEmpty else { return }
            try check(JxlEncoderUseContainer(handle, JXL_TRUE))
            try check(JxlEncoderUseBoxes(handle))
            for (name, contents) in boxes {
                try check(JxlEncoderAddBox(handle, name, contents, contents.count, JXL_FALSE))
            }
            JxlEncoderCloseBoxes(handle)
        }

        private func describe(_ picture: Description, isLossless: Bool) throws(WebImageError) {
            guard let width = UInt32(exactly: picture.size.width), let height = UInt32(exactly: picture.size.height)
            else {
                throw WebImageError(.cannotEncode, "a JPEG XL cannot hold a picture of \(picture.size)", format: .jxl)
            }
            var info = JxlBasicInfo()
            JxlEncoderInitBasicInfo(&info)
            (info.xsize, info.ysize) = (width, height)
            info.bits_per_sample = UInt32(picture.bitDepth)
            info.num_color_channels = 3
            info.orientation = JxlOrientation(rawValue: UInt32(picture.orientation.rawValue))
            info.uses_original_profile = isLossless ? JXL_TRUE : JXL_FALSE
            if picture.hasAlpha {
                info.num_extra_channels = 1
                info.alpha_bits = info.bits_per_sample
            }
            if let loopCount = picture.loopCount {
                info.have_animation = JXL_TRUE
                info.animation.tps_numerator = 1000
                info.animation.tps_denominator = 1
                info.animation.num_loops = UInt32(clamping: loopCount)
            }
            try check(JxlEncoderSetBasicInfo(handle, &info))
            if picture.profile.isEmpty {
                var colors = JXLColor.encoding(picture.color ?? .sRGB)
                try check(JxlEncoderSetColorEncoding(handle, &colors))
            } else {
                try check(JxlEncoderSetICCProfile(handle, picture.profile, picture.profile.count))
            }
        }

        /// Adds the one picture of a still, or a frame of an animation, which is shown for `milliseconds`.
        func add(_ image: Image, milliseconds: UInt32 = 0, isLast: Bool = true) throws(WebImageError) {
            var header = JxlFrameHeader()
            JxlEncoderInitFrameHeader(&header)
            header.duration = milliseconds
            try check(JxlEncoderSetFrameHeader(settings, &header))
            try addPixels(of: image)
            if isLast { JxlEncoderCloseInput(handle) }
            try collect()
        }

        /// The file, after its last picture.
        func takeBytes() -> [UInt8] { bytes }

        private func addPixels(of image: Image) throws(WebImageError) {
            var format = JxlPixelFormat(
                num_channels: UInt32(channels), data_type: image.layout == .rgba16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                endianness: JXL_NATIVE_ENDIAN, align: 0)
            let status = image.withPixels { pixels -> JxlEncoderStatus in
                let isReady = channels == 4 && image.alpha != .premultiplied
                guard !isReady else {
                    return JxlEncoderAddImageFrame(settings, &format, pixels.baseAddress, pixels.count)
                }
                if image.layout == .rgba8 {
                    var values = colors(of: pixels.bindMemory(to: UInt8.self))
                    if channels == 4 { values.withUnsafeMutableBufferPointer { PixelExpansion.unpremultiply($0) } }
                    return JxlEncoderAddImageFrame(settings, &format, values, values.count)
                }
                var values = colors(of: pixels.bindMemory(to: UInt16.self))
                if channels == 4 { values.withUnsafeMutableBufferPointer { PixelExpansion.unpremultiply($0) } }
                return JxlEncoderAddImageFrame(settings, &format, values, values.count * 2)
            }
            try check(status)
        }

        /// The channels for libjxl: red, green and blue for an opaque picture. Premultiplied colours are divided by
        /// alpha, because libjxl 0.7 ends the process for premultiplied pictures.
        private func colors<Value: FixedWidthInteger & UnsignedInteger>(
            of pixels: UnsafeBufferPointer<Value>
        ) -> [Value] {
            if channels == 4 { return Array(pixels) }
            let count = pixels.count / 4
            return [Value](unsafeUninitializedCapacity: count * 3) { output, initialized in
                for index in 0..<count {
                    for channel in 0..<3 { output[index * 3 + channel] = pixels[index * 4 + channel] }
                }
                initialized = count * 3
            }
        }

        /// Collects the output for the frames so far.
        private func collect() throws(WebImageError) {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                var (status, used) = (JXL_ENC_ERROR, 0)
                buffer.withUnsafeMutableBufferPointer { buffer in
                    var left = buffer.count
                    var next = buffer.baseAddress
                    status = JxlEncoderProcessOutput(handle, &next, &left)
                    used = buffer.count - left
                }
                bytes += buffer.prefix(used)
                if status == JXL_ENC_SUCCESS { return }
                guard status == JXL_ENC_NEED_MORE_OUTPUT else { throw failure() }
            }
        }

        private func check(_ status: JxlEncoderStatus) throws(WebImageError) {
            guard status == JXL_ENC_SUCCESS else { throw failure() }
        }

        private func failure() -> WebImageError {
            let code = JxlEncoderGetError(handle)
            guard code != JXL_ENC_ERR_OOM else { return Self.noMemory() }
            return WebImageError(
                .cannotEncode, "libjxl cannot write the picture (error \(code.rawValue))", format: .jxl)
        }

        private static func noMemory() -> WebImageError {
            WebImageError(.limitExceeded, "there is no memory to write the JPEG XL", format: .jxl)
        }
    }
#endif
