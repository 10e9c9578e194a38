#if AVIF
    import CShimAVIF
    import CSysAVIF
    import WebImageCore

    extension BareLibrary {
        static func decodeAVIF(_ bytes: [UInt8]) throws -> Int {
            try check(wi_avif_library_fault() == nil)
            guard let decoder = avifDecoderCreate(), let picture = avifImageCreateEmpty() else { throw Failure() }
            defer {
                avifImageDestroy(picture)
                avifDecoderDestroy(decoder)
            }
            decoder.pointee.maxThreads = 1
            try check(avifDecoderReadMemory(decoder, picture, bytes, bytes.count) == AVIF_RESULT_OK)
            var rows = avifRGBImage()
            avifRGBImageSetDefaults(&rows, picture)
            rows.depth = 8
            avifRGBImageAllocatePixels(&rows)
            defer { avifRGBImageFreePixels(&rows) }
            try check(avifImageYUVToRGB(picture, &rows) == AVIF_RESULT_OK)
            return Int(rows.width) * Int(rows.height) * 4
        }

        /// Quality 60 as a quantizer, speed 6, 4:2:0.
        static func encodeAVIF(_ image: Image) throws -> Int {
            try check(wi_avif_library_fault() == nil)
            let (width, height) = (UInt32(image.size.width), UInt32(image.size.height))
            guard let encoder = avifEncoderCreate(),
                let picture = avifImageCreate(width, height, 8, AVIF_PIXEL_FORMAT_YUV420)
            else { throw Failure() }
            var output = avifRWData()
            defer {
                avifRWDataFree(&output)
                avifImageDestroy(picture)
                avifEncoderDestroy(encoder)
            }
            let quantizer = Int32((40 * Int(AVIF_QUANTIZER_WORST_QUALITY) + 50) / 100)
            encoder.pointee.maxThreads = 1
            encoder.pointee.speed = 6
            (encoder.pointee.minQuantizer, encoder.pointee.maxQuantizer) = (quantizer, quantizer)
            picture.pointee.matrixCoefficients = avifMatrixCoefficients(AVIF_MATRIX_COEFFICIENTS_BT601)
            picture.pointee.yuvRange = AVIF_RANGE_FULL
            var rows = avifRGBImage()
            avifRGBImageSetDefaults(&rows, picture)
            (rows.depth, rows.ignoreAlpha, rows.rowBytes) = (8, 1, UInt32(image.pixels.bytesPerRow))
            let converted = image.withPixels { pixels in
                rows.pixels = UnsafeMutablePointer(mutating: pixels.bindMemory(to: UInt8.self).baseAddress)
                return avifImageRGBToYUV(picture, &rows)
            }
            try check(converted == AVIF_RESULT_OK)
            try check(avifEncoderWrite(encoder, picture, &output) == AVIF_RESULT_OK)
            return output.size
        }
    }
#endif
