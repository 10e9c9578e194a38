#if AVIF
    import CSysAVIF
    import WebImageCore

    /// Writes one AVIF with the AV1 encoder that libavif was built with: a still, or a sequence frame by frame. Not
    /// thread-safe.
    final class AVIFEncoder {
        private static let maxHelpers = 3
        private static let longestSide = 65_536
        private static let defaultQuality = 60
        static let defaultSpeed = 6
        /// The speed for animations with more pixels than this, which would take too much memory at a lower speed.
        static let largeAnimation = (pixels: 4 << 20, speed: 8)
        /// The highest speed at which sequences are lossless.
        private static let fastestExactSpeed: Int32 = 6
        /// From this quality on, colour has full resolution.
        private static let fullChromaQuality = 90
        /// The number of frames from one keyframe to the next.
        private static let keyframeInterval: Int32 = 32
        private let handle: UnsafeMutablePointer<avifEncoder>
        private let options: EncodeOptions
        private let quality: Int
        /// The depth of the first picture; a sequence has the same for all pictures.
        private var bitDepth: UInt32?

        static var isAvailable: Bool {
            OpenedLibrary.libavif.isAvailable
                && avifCodecName(AVIF_CODEC_CHOICE_AUTO, AVIF_CODEC_FLAG_CAN_ENCODE.rawValue) != nil
        }

        /// - Parameter speed: used if the options contain none.
        init(
            _ options: EncodeOptions, isSequence: Bool = false, speed: Int = AVIFEncoder.defaultSpeed
        ) throws(WebImageError) {
            try OpenedLibrary.libavif.check(.avif, .cannotEncode)
            guard Self.isAvailable else { throw Self.failure("this libavif has no encoder") }
            guard let handle = avifEncoderCreate() else { throw Self.noMemory() }
            self.handle = handle
            self.options = options
            quality = min(max(options.quality ?? Self.defaultQuality, 1), 100)
            let worst = Int(AVIF_QUANTIZER_WORST_QUALITY)
            let quantizer =
                options.isLossless ? AVIF_QUANTIZER_LOSSLESS : Int32(((100 - quality) * worst + 50) / 100)
            // libaom encodes rows in several threads. With one thread it would make another file than with two or more,
            // which all make the same. So it gets two even if no thread is idle; that takes no more processor time.
            let helperCount = max(options.context.idleThreads?.idleCount ?? 0, 1)
            handle.pointee.maxThreads = 1 + Int32(min(helperCount, Self.maxHelpers))
            handle.pointee.speed = Int32(min(max(options.avifSpeed ?? speed, 0), 10))
            handle.pointee.timescale = 1000
            handle.pointee.keyframeInterval = Self.keyframeInterval
            setQuantizer(quantizer)
            if isSequence { avoidFaultsOfSequences(quantizer) }
        }

        private func setQuantizer(_ quantizer: Int32) {
            handle.pointee.minQuantizer = quantizer
            handle.pointee.maxQuantizer = quantizer
            handle.pointee.minQuantizerAlpha = quantizer
            handle.pointee.maxQuantizerAlpha = quantizer
        }

        /// At speeds from 7 on libaom codes a sequence as for a live broadcast, and its version 3.6 then has faults,
        /// two of which end the whole process.
        private func avoidFaultsOfSequences(_ quantizer: Int32) {
            let codec = avifCodecName(handle.pointee.codecChoice, AVIF_CODEC_FLAG_CAN_ENCODE.rawValue)
            guard let codec, String(cString: codec) == "aom" else { return }
            if options.isLossless { handle.pointee.speed = min(handle.pointee.speed, Self.fastestExactSpeed) }
            guard handle.pointee.speed > Self.fastestExactSpeed else { return }
            // At speed 7 libaom reads the colours of alpha, which has none.
            handle.pointee.speed = max(handle.pointee.speed, 8)
            // The rate control of libaom fails at the lowest quantizers. With equal quantizers there is no rate to
            // control.
            avifEncoderSetCodecSpecificOption(handle, "end-usage", "q")
            // Without quantization libaom leaves out small changes, which add up.
            if quantizer == AVIF_QUANTIZER_LOSSLESS { setQuantizer(AVIF_QUANTIZER_LOSSLESS + 1) }
        }

        deinit { avifEncoderDestroy(handle) }

        /// Adds the one picture of a still, or the next frame of a sequence, with its duration in milliseconds.
        ///
        /// - Parameter hasAlpha: whether alpha is written, even for opaque pictures.
        func add(
            _ image: Image, hasAlpha: Bool, milliseconds: UInt64 = 1, isStill: Bool = true
        ) throws(WebImageError) {
            let picture = try makePicture(image)
            defer { avifImageDestroy(picture) }
            describe(picture, image)
            try convert(image, hasAlpha: hasAlpha, into: picture)
            let flags = isStill ? AVIF_ADD_IMAGE_FLAG_SINGLE.rawValue : AVIF_ADD_IMAGE_FLAG_NONE.rawValue
            try check(avifEncoderAddImage(handle, picture, milliseconds, flags))
        }

        /// Returns the file. No pictures may be added afterwards.
        func finish() throws(WebImageError) -> [UInt8] {
            var output = avifRWData()
            defer { avifRWDataFree(&output) }
            try check(avifEncoderFinish(handle, &output))
            return [UInt8](UnsafeBufferPointer(start: output.data, count: output.size))
        }

        private func makePicture(_ image: Image) throws(WebImageError) -> UnsafeMutablePointer<avifImage> {
            guard max(image.size.width, image.size.height) <= Self.longestSide else {
                throw Self.failure(
                    "an AVIF's sides are at most \(Self.longestSide) pixels, this picture is \(image.size)")
            }
            let depth = AVIFDepth(of: image, isLossless: options.isLossless)
            guard !options.isLossless || depth.keepsAll else {
                throw Self.failure(
                    "an AVIF holds at most 12 bits a channel, this picture has more: it cannot be lossless")
            }
            let bits = bitDepth ?? depth.bits
            bitDepth = bits
            guard !options.isLossless || depth.bits <= bits else {
                throw Self.failure("a frame has more bits a channel than the first: it cannot be lossless")
            }
            if options.isLossless { try options.checkChroma([.yuv444], .avif) }
            guard
                let picture = avifImageCreate(
                    UInt32(image.size.width), UInt32(image.size.height), bits, planes)
            else { throw Self.noMemory() }
            return picture
        }

        private var planes: avifPixelFormat {
            switch options.chroma {
            case .automatic:
                options.isLossless || quality >= Self.fullChromaQuality
                    ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420
            case .yuv444: AVIF_PIXEL_FORMAT_YUV444
            case .yuv422: AVIF_PIXEL_FORMAT_YUV422
            case .yuv420: AVIF_PIXEL_FORMAT_YUV420
            }
        }

        /// Sets the other properties of the file: its colours (sRGB unless the picture has others), its orientation,
        /// and the kept metadata.
        private func describe(_ picture: UnsafeMutablePointer<avifImage>, _ image: Image) {
            let metadata = EmbeddedMetadata(image, options, formatTells: .orientation)
            let (profile, exif, xmp) = (metadata.profile, metadata.exif, metadata.xmp)
            if !profile.isEmpty { avifImageSetProfileICC(picture, profile, profile.count) }
            // Before the orientation, because libavif may read one from EXIF.
            if !exif.isEmpty { avifImageSetMetadataExif(picture, exif, exif.count) }
            if !xmp.isEmpty { avifImageSetMetadataXMP(picture, xmp, xmp.count) }
            picture.pointee.colorPrimaries = avifColorPrimaries(AVIF_COLOR_PRIMARIES_BT709)
            picture.pointee.transferCharacteristics = avifTransferCharacteristics(AVIF_TRANSFER_CHARACTERISTICS_SRGB)
            // Only RGB without conversion is lossless.
            picture.pointee.matrixCoefficients = avifMatrixCoefficients(
                options.isLossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601)
            picture.pointee.yuvRange = AVIF_RANGE_FULL
            if let color = metadata.color {
                picture.pointee.colorPrimaries = avifColorPrimaries(color.primaries)
                picture.pointee.transferCharacteristics = avifTransferCharacteristics(color.transfer)
                if color.primaries == 9, !options.isLossless {
                    picture.pointee.matrixCoefficients = avifMatrixCoefficients(AVIF_MATRIX_COEFFICIENTS_BT2020_NCL)
                }
            }
            let transforms = ItemTransforms(image.info.orientation)
            if transforms.turns != 0 {
                picture.pointee.transformFlags |= AVIF_TRANSFORM_IROT.rawValue
                picture.pointee.irot.angle = UInt8(transforms.turns)
            }
            if transforms.isMirrored {
                picture.pointee.transformFlags |= AVIF_TRANSFORM_IMIR.rawValue
                wi_avif_mirror_axis(picture).pointee = 1
            }
        }

        private func convert(
            _ image: Image, hasAlpha: Bool, into picture: UnsafeMutablePointer<avifImage>
        ) throws(WebImageError) {
            let result = image.withPixels { pixels in
                var rows = avifRGBImage()
                avifRGBImageSetDefaults(&rows, picture)
                rows.depth = UInt32(image.layout.bitDepth)
                rows.format = AVIF_RGB_FORMAT_RGBA
                rows.ignoreAlpha = hasAlpha ? 0 : 1
                rows.alphaPremultiplied = image.alpha == .premultiplied ? 1 : 0
                // libavif only reads it, although the struct is the same for both directions.
                rows.pixels = UnsafeMutablePointer(mutating: pixels.bindMemory(to: UInt8.self).baseAddress)
                rows.rowBytes = UInt32(image.pixels.bytesPerRow)
                return avifImageRGBToYUV(picture, &rows)
            }
            try check(result)
        }

        /// - Parameter count: how often a sequence is repeated after the first time; -1: forever.
        /// - Returns: false if libavif cannot write it.
        func setRepetitions(_ count: Int) -> Bool {
            wi_avif_set_repetitions(handle, Int32(clamping: count))
        }

        private func check(_ result: avifResult) throws(WebImageError) {
            guard result != AVIF_RESULT_OK else { return }
            throw Self.failure("libavif: \(String(cString: avifResultToString(result)))")
        }

        private static func noMemory() -> WebImageError {
            WebImageError(.limitExceeded, "there is no memory to write the AVIF", format: .avif)
        }

        private static func failure(_ message: String) -> WebImageError {
            WebImageError(.cannotEncode, message, format: .avif)
        }
    }
#endif
