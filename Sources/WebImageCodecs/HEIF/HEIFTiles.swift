#if HEIF
    import CShimHEIF
    import CSysHEIF
    import Synchronization
    import WebImageCore
    import WebImageSystem

    /// How the decoder divides the sides of a tile.
    struct HEIFReduction: Sendable {
        /// 2, 4 or 8.
        let denominator: Int
        /// The part of the tile that belongs to the picture.
        let used: PixelSize

        /// The size of the result.
        var size: PixelSize { used.dividedUp(by: denominator) }
    }

    /// Decodes single HEVC items, one at a time.
    struct HEIFTiles {
        let items: HEIFItems
        /// The content of the `colr` box for all of them.
        let color: [UInt8]?
        let options: DecodeOptions

        /// Whether all bytes of the given items have arrived.
        func haveArrived(_ tiles: [Int]) throws(WebImageError) -> Bool {
            for tile in tiles {
                let ranges = try items.data(of: tile, limit: options.limits.bytes.bytes)
                guard ranges.allSatisfy({ $0.upperBound <= items.boxes.bytes.count }) else { return false }
            }
            return true
        }

        /// - Parameter reductions: how each tile is divided; none: they keep their sizes.
        func decode(
            _ tiles: [Int], as kind: HEIFPixels.Kind, _ reductions: [HEIFReduction] = []
        ) throws(WebImageError) -> [HEIFPixels] {
            if tiles.count > 1, let helpers = options.idleThreads, helpers.idleCount > 0 {
                // Each tile's file is a copy of its data, and a row may have hundreds that share theirs.
                var pixels: [HEIFPixels] = []
                for start in stride(from: 0, to: tiles.count, by: Self.tilesAtOnce) {
                    let part = start..<min(start + Self.tilesAtOnce, tiles.count)
                    pixels += try decode(
                        Array(tiles[part]), as: kind, reductions.isEmpty ? [] : Array(reductions[part]), with: helpers)
                }
                return pixels
            }
            var pixels: [HEIFPixels] = []
            for (index, tile) in tiles.enumerated() {
                try options.checkpoint?()
                let reduction = reductions.isEmpty ? nil : reductions[index]
                pixels.append(try file(of: tile, as: kind, reduction).decoded(as: kind))
            }
            return pixels
        }

        private static let tilesAtOnce = 16

        /// Decodes several tiles in parallel, with the same pixels as a result.
        private func decode(
            _ tiles: [Int], as kind: HEIFPixels.Kind, _ reductions: [HEIFReduction], with helpers: any IdleThreads
        ) throws(WebImageError) -> [HEIFPixels] {
            var files: [TileFile] = []
            for (index, tile) in tiles.enumerated() {
                try options.checkpoint?()
                files.append(try file(of: tile, as: kind, reductions.isEmpty ? nil : reductions[index]))
            }
            let results = Guarded([Result<HEIFPixels, WebImageError>?](repeating: nil, count: files.count))
            helpers.share(files.count) { [files] index in
                let result: Result<HEIFPixels, WebImageError>
                do throws(WebImageError) {
                    result = .success(try files[index].decoded(as: kind))
                } catch {
                    result = .failure(error)
                }
                results.withLock { $0[index] = result }
            }
            var pixels: [HEIFPixels] = []
            for case let result? in results.withLock({ $0 }) { pixels.append(try result.get()) }
            return pixels
        }

        private func file(
            of tile: Int, as kind: HEIFPixels.Kind, _ reduction: HEIFReduction?
        ) throws(WebImageError) -> TileFile {
            let configuration = try HEIFPlane.configuration(of: tile, items, options.limits)
            var data: [UInt8] = []
            for range in try items.data(of: tile, limit: options.limits.bytes.bytes) {
                data.append(contentsOf: items.boxes.bytes[range])
            }
            return TileFile(
                bytes: try configuration.file(
                    of: data, size: reduction?.size, color: kind == .alpha ? nil : color, limits: options.limits),
                parameters: configuration.parameters, reduction: reduction)
        }
    }

    /// A tile as a picture of its own.
    private struct TileFile: Sendable {
        let bytes: [UInt8]
        let parameters: HEVCParameters
        let reduction: HEIFReduction?

        func decoded(as kind: HEIFPixels.Kind) throws(WebImageError) -> HEIFPixels {
            try bytes.withUnsafeBufferPointer { bytes throws(WebImageError) -> HEIFPixels in
                try HEIFPixels(decoding: UnsafeRawBufferPointer(bytes), of: parameters, as: kind, reduction)
            }
        }
    }

    /// One decoded picture, in libheif's memory.
    // Unchecked because of its pointers: all properties are constants, the pixels are only read, and `deinit` frees them.
    final class HEIFPixels: @unchecked Sendable {
        enum Kind {
            case rgba8
            case rgba16
            /// The brightness of a picture that holds alpha, without conversion.
            case alpha
        }

        let size: PixelSize
        let plane: UnsafePointer<UInt8>
        let stride: Int
        /// Bits of a sample: up to 8 in one byte, more in two bytes, little-endian.
        let depth: Int
        private let image: OpaquePointer

        init(
            decoding file: UnsafeRawBufferPointer, of parameters: HEVCParameters, as kind: Kind,
            _ reduction: HEIFReduction? = nil
        ) throws(WebImageError) {
            try OpenedLibrary.libheif.check(.heic)
            guard let context = heif_context_alloc() else { throw Self.noMemory }
            defer { heif_context_free(context) }
            heif_context_set_max_decoding_threads(context, 0)
            // libheif compares each side; the exact size was checked before.
            let side = max(parameters.codedSize.width, parameters.codedSize.height)
            heif_context_set_maximum_image_size_limit(context, Int32(clamping: side))
            try Self.check(heif_context_read_from_memory_without_copy(context, file.baseAddress, file.count, nil))
            var primary: OpaquePointer?
            try Self.check(heif_context_get_primary_image_handle(context, &primary))
            guard let primary else { throw Self.noMemory }
            defer { heif_image_handle_release(primary) }
            guard let settings = heif_decoding_options_alloc() else { throw Self.noMemory }
            defer { heif_decoding_options_free(settings) }
            settings.pointee.ignore_transformations = 1
            settings.pointee.decoder_id = wi_heif_strict_decoder()
            settings.pointee.convert_hdr_to_8bit = kind == .rgba8 ? 1 : 0
            let wanted: (heif_colorspace, heif_chroma, heif_channel)
            switch kind {
            case .rgba8: wanted = (heif_colorspace_RGB, heif_chroma_interleaved_RGBA, heif_channel_interleaved)
            case .rgba16: wanted = (heif_colorspace_RGB, heif_chroma_interleaved_RRGGBBAA_LE, heif_channel_interleaved)
            case .alpha:
                // The colour space in which the alpha is coded. If none is requested, libheif 1.15 converts alpha with
                // colour planes to RGB.
                let isGray = parameters.chroma == 0
                wanted = (
                    isGray ? heif_colorspace_monochrome : heif_colorspace_YCbCr,
                    heif_chroma(rawValue: UInt32(parameters.chroma)), heif_channel_Y
                )
            }
            if let reduction {
                let used = reduction.used
                wi_hevc_reduce(Int32(reduction.denominator), Int32(clamping: used.width), Int32(clamping: used.height))
            }
            defer { if reduction != nil { wi_hevc_reduce(1, 0, 0) } }
            var decoded: OpaquePointer?
            try Self.check(heif_decode_image(primary, &decoded, wanted.0, wanted.1, settings))
            guard let decoded else { throw Self.noMemory }
            image = decoded
            var stride: Int32 = 0
            guard let plane = heif_image_get_plane_readonly(decoded, wanted.2, &stride) else {
                heif_image_release(decoded)
                throw WebImageError(.corruptData, "libheif gave no pixels", format: .heif)
            }
            self.plane = plane
            self.stride = Int(stride)
            depth = Int(heif_image_get_bits_per_pixel_range(decoded, wanted.2))
            size = PixelSize(
                width: Int(heif_image_get_width(decoded, wanted.2)),
                height: Int(heif_image_get_height(decoded, wanted.2)))
            let bytesPerPixel = kind == .alpha ? (depth > 8 ? 2 : 1) : kind == .rgba8 ? 4 : 8
            guard size == reduction?.size ?? parameters.size, (1...16).contains(depth),
                kind == .alpha || (depth > 8) == (kind == .rgba16),
                self.stride >= size.width * bytesPerPixel
            else {
                throw WebImageError(
                    .corruptData, "the picture is not as its HEVC data says: \(size), \(depth) bits", format: .heif)
            }
        }

        deinit { heif_image_release(image) }

        func row(_ row: Int) -> UnsafePointer<UInt8> { plane + row * stride }

        private static var noMemory: WebImageError {
            WebImageError(.limitExceeded, "there is no memory to decode the picture", format: .heif)
        }

        /// Throws the error for a failure of libheif.
        static func check(_ result: heif_error) throws(WebImageError) {
            let code: WebImageError.Code
            switch result.code {
            case heif_error_Ok: return
            case heif_error_Memory_allocation_error: code = .limitExceeded
            case heif_error_Unsupported_feature, heif_error_Unsupported_filetype: code = .unsupportedFeature
            default: code = result.subcode == heif_suberror_Security_limit_exceeded ? .limitExceeded : .corruptData
            }
            let message = result.message.map { String(cString: $0) } ?? "no message"
            throw WebImageError(code, "libheif: \(message)", format: .heif)
        }
    }
#endif
