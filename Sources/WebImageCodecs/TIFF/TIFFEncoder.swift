#if TIFF
    import CShimTIFF
    import WebImageCore

    /// Writes TIFFs of one page.
    enum TIFFEncoder {
        static func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            guard let width = UInt32(exactly: image.size.width), let height = UInt32(exactly: image.size.height) else {
                throw WebImageError(.cannotEncode, "a TIFF cannot hold a picture of \(image.size)", format: format)
            }
            let metadata = EmbeddedMetadata(image, options, formatTells: [.orientation, .density])
            var output = wi_tiff_output()
            let result = image.withPixels { pixels in
                metadata.profile.withUnsafeBufferPointer { profile in
                    metadata.xmp.withUnsafeBufferPointer { xmp in
                        guard let base = pixels.bindMemory(to: UInt8.self).baseAddress else {
                            return Int32(WI_TIFF_CORRUPT)
                        }
                        var picture = wi_tiff_picture(
                            pixels: base, stride: image.pixels.bytesPerRow, width: width, height: height,
                            is_16_bit: image.layout == .rgba16 ? 1 : 0, alpha: alpha(of: image),
                            orientation: Int32(image.info.orientation.rawValue),
                            level: Int32(min(max(options.compressionLevel, 0), 9)),
                            is_big: format == .bigTIFF ? 1 : 0, icc: profile.baseAddress, icc_count: profile.count,
                            xmp: xmp.baseAddress, xmp_count: xmp.count, density_x: metadata.density?.horizontal ?? 0,
                            density_y: metadata.density?.vertical ?? 0)
                        return wi_tiff_encode(&picture, &output)
                    }
                }
            }
            defer { wi_tiff_free(&output) }
            guard Int(result) == WI_TIFF_OK, let bytes = output.bytes else {
                let isMemory = Int(result) == WI_TIFF_NO_MEMORY
                throw WebImageError(
                    isMemory ? .limitExceeded : .cannotEncode,
                    isMemory ? "there is no memory to write the TIFF" : "libtiff: \(text(of: output.message))",
                    format: format)
            }
            return [UInt8](UnsafeBufferPointer(start: bytes, count: output.count))
        }

        private static func alpha(of image: Image) -> Int32 {
            switch image.alpha {
            case .opaque: Int32(WI_TIFF_ALPHA_NONE)
            case .straight: Int32(WI_TIFF_ALPHA_STRAIGHT)
            case .premultiplied: Int32(WI_TIFF_ALPHA_ASSOCIATED)
            }
        }
    }
#endif
