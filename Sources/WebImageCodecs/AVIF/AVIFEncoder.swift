#if AVIF
    import CSysAVIF
    import WebImageCore

    /// Writes AVIF stills with whatever AV1 encoder libavif was built with.
    enum AVIFEncoder {
        private static let longestSide = 65_536
        private static let defaultQuality = 60
        /// From here on colour keeps its full resolution.
        private static let fullChromaQuality = 90
        /// 0 is slowest, 10 fastest.
        private static let speed: Int32 = 6

        static var isThere: Bool {
            avifCodecName(AVIF_CODEC_CHOICE_AUTO, AVIF_CODEC_FLAG_CAN_ENCODE.rawValue) != nil
        }

        static func encode(_ image: Image, _ options: EncodeOptions) throws(WebImageError) -> [UInt8] {
            guard isThere else { throw failure("this libavif has no encoder") }
            guard max(image.size.width, image.size.height) <= longestSide else {
                throw failure("an AVIF's sides are at most \(longestSide) pixels, this picture is \(image.size)")
            }
            let quality = min(max(options.quality ?? defaultQuality, 1), 100)
            guard
                let picture = avifImageCreate(
                    UInt32(image.size.width), UInt32(image.size.height), image.layout == .rgba16 ? 10 : 8,
                    quality >= fullChromaQuality ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420)
            else { throw WebImageError(.limitExceeded, "there is no memory to write the AVIF", format: .avif) }
            defer { avifImageDestroy(picture) }
            describe(picture, image, options)
            try convert(image, into: picture)
            guard let encoder = avifEncoderCreate() else {
                throw WebImageError(.limitExceeded, "there is no memory to write the AVIF", format: .avif)
            }
            defer { avifEncoderDestroy(encoder) }
            let quantizer = Int32(((100 - quality) * Int(AVIF_QUANTIZER_WORST_QUALITY) + 50) / 100)
            encoder.pointee.maxThreads = 1
            encoder.pointee.speed = speed
            encoder.pointee.minQuantizer = quantizer
            encoder.pointee.maxQuantizer = quantizer
            encoder.pointee.minQuantizerAlpha = quantizer
            encoder.pointee.maxQuantizerAlpha = quantizer
            var output = avifRWData()
            defer { avifRWDataFree(&output) }
            try check(avifEncoderWrite(encoder, picture, &output))
            return [UInt8](UnsafeBufferPointer(start: output.data, count: output.size))
        }

        /// What the file says besides the pixels: its colours (sRGB unless it says otherwise), its orientation, and what is kept.
        private static func describe(
            _ picture: UnsafeMutablePointer<avifImage>, _ image: Image, _ options: EncodeOptions
        ) {
            let metadata = EmbeddedMetadata(image, options, formatTells: .orientation)
            let (profile, exif, xmp) = (metadata.profile, metadata.exif, metadata.xmp)
            if !profile.isEmpty { avifImageSetProfileICC(picture, profile, profile.count) }
            // Before the orientation: libavif may take one from EXIF.
            if !exif.isEmpty { avifImageSetMetadataExif(picture, exif, exif.count) }
            if !xmp.isEmpty { avifImageSetMetadataXMP(picture, xmp, xmp.count) }
            picture.pointee.colorPrimaries = avifColorPrimaries(AVIF_COLOR_PRIMARIES_BT709)
            picture.pointee.transferCharacteristics = avifTransferCharacteristics(AVIF_TRANSFER_CHARACTERISTICS_SRGB)
            picture.pointee.matrixCoefficients = avifMatrixCoefficients(AVIF_MATRIX_COEFFICIENTS_BT601)
            picture.pointee.yuvRange = AVIF_RANGE_FULL
            if let color = metadata.color {
                picture.pointee.colorPrimaries = avifColorPrimaries(color.primaries)
                picture.pointee.transferCharacteristics = avifTransferCharacteristics(color.transfer)
                if color.primaries == 9 {
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
                picture.pointee.imir.mode = 1
            }
        }

        private static func convert(
            _ image: Image, into picture: UnsafeMutablePointer<avifImage>
        ) throws(WebImageError) {
            let result = image.withPixels { pixels in
                var rows = avifRGBImage()
                avifRGBImageSetDefaults(&rows, picture)
                rows.depth = UInt32(image.layout.bitDepth)
                rows.format = AVIF_RGB_FORMAT_RGBA
                rows.ignoreAlpha = image.alpha == .opaque ? 1 : 0
                rows.alphaPremultiplied = image.alpha == .premultiplied ? 1 : 0
                // libavif only reads from it, though its one struct for both ways says otherwise.
                rows.pixels = UnsafeMutablePointer(mutating: pixels.bindMemory(to: UInt8.self).baseAddress)
                rows.rowBytes = UInt32(image.pixels.bytesPerRow)
                return avifImageRGBToYUV(picture, &rows)
            }
            try check(result)
        }

        private static func check(_ result: avifResult) throws(WebImageError) {
            guard result != AVIF_RESULT_OK else { return }
            throw failure("libavif: \(String(cString: avifResultToString(result)))")
        }

        private static func failure(_ message: String) -> WebImageError {
            WebImageError(.cannotEncode, message, format: .avif)
        }
    }
#endif
