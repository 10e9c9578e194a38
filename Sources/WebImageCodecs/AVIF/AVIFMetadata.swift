#if AVIF
    import CSysAVIF
    import WebImageCore

    /// Reads EXIF and XMP of an AVIF with a decoder of their own, so that the picture neither waits for them nor fails by
    /// them.
    enum AVIFMetadata {
        enum Answer {
            case found(ImageMetadata)
            /// More bytes may tell.
            case tooShort
        }

        static func read(_ bytes: UnsafeRawBufferPointer, _ limits: DecodeLimits) -> Answer {
            guard let base = bytes.bindMemory(to: UInt8.self).baseAddress, let handle = avifDecoderCreate() else {
                return .found(ImageMetadata())
            }
            defer { avifDecoderDestroy(handle) }
            handle.pointee.strictFlags = AVIF_STRICT_DISABLED.rawValue
            handle.pointee.imageSizeLimit = UInt32(min(max(limits.pixels, 1), 16_384 * 16_384))
            handle.pointee.imageDimensionLimit = 65_536
            handle.pointee.imageCountLimit = UInt32(clamping: max(limits.frames, 1))
            guard avifDecoderSetIOMemory(handle, base, bytes.count) == AVIF_RESULT_OK else {
                return .found(ImageMetadata())
            }
            switch avifDecoderParse(handle) {
            case AVIF_RESULT_OK: break
            case AVIF_RESULT_TRUNCATED_DATA, AVIF_RESULT_WAITING_ON_IO, AVIF_RESULT_IO_ERROR,
                AVIF_RESULT_BMFF_PARSE_FAILED:
                return .tooShort
            default: return .found(ImageMetadata())
            }
            let image = handle.pointee.image.pointee
            let limit = limits.metadata.bytes
            return .found(
                ImageMetadata(readingEXIF: copy(image.exif, limit), xmp: copy(image.xmp, limit)))
        }

        private static func copy(_ data: avifRWData, _ limit: Int) -> [UInt8]? {
            guard let bytes = data.data, data.size > 0, data.size <= limit else { return nil }
            return [UInt8](UnsafeBufferPointer(start: bytes, count: data.size))
        }
    }
#endif
