#if AVIF
    import CSysAVIF
    import WebImageCore

    /// Reads EXIF and XMP of an AVIF with a separate decoder, so that the picture neither waits for them nor fails
    /// because of them.
    enum AVIFMetadata {
        enum Answer {
            case found(ImageMetadata)
            /// The file has too few bytes yet: `needed` of them must have arrived.
            case tooShort(needed: Int)
        }

        static func read(_ bytes: CollectedBytes, _ limits: DecodeLimits) -> Answer {
            guard OpenedLibrary.libavif.isAvailable, let handle = avifDecoderCreate() else {
                return .found(ImageMetadata())
            }
            // The metadata is that of the whole picture, even if its thumbnail is decoded.
            let input = AVIFInput(bytes, limit: limits.bytes)
            defer { withExtendedLifetime(input) { avifDecoderDestroy(handle) } }
            limits.apply(to: handle)
            avifDecoderSetIO(handle, input.io)
            switch avifDecoderParse(handle) {
            case AVIF_RESULT_OK: break
            case AVIF_RESULT_WAITING_ON_IO: return .tooShort(needed: max(input.needed, bytes.count + 1))
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

    extension DecodeLimits {
        /// The number of frames whose positions libavif may store, in a few megabytes.
        private static let maxListed = 65_536

        func apply(to decoder: UnsafeMutablePointer<avifDecoder>) {
            decoder.pointee.strictFlags = AVIF_STRICT_DISABLED.rawValue
            // libavif refuses a limit above its own default.
            decoder.pointee.imageSizeLimit = UInt32(min(max(pixels, 1), 16_384 * 16_384))
            decoder.pointee.imageDimensionLimit = 65_536
            // A file of a few bytes can claim any number of frames. Frames beyond `frames` are left out or refused by
            // the decoders.
            decoder.pointee.imageCountLimit = UInt32(clamping: max(frames, Self.maxListed))
        }
    }
#endif
