#if JXL
    import CSysJXL
    import WebImageCore

    /// libjxl's decoder of one file, and the bytes that it has not used yet. Not thread-safe.
    final class JXLStream {
        let handle: OpaquePointer
        private let help: JXLHelp?
        private let events: Int32
        /// Earlier bytes that libjxl did not use, such as the beginning of a box.
        private var rest: [UInt8] = []

        /// - Parameters:
        ///   - events: the libjxl events to report.
        ///   - joinsLayers: false: each layer of a frame is reported separately.
        ///   - helpers: do parts of the work.
        init(
            _ events: [JxlDecoderStatus], joinsLayers: Bool = true, helpers: (any IdleThreads)? = nil
        ) throws(WebImageError) {
            try OpenedLibrary.libjxl.check(.jxl)
            guard let handle = JxlDecoderCreate(nil) else {
                throw WebImageError(.limitExceeded, "there is no memory for a JPEG XL decoder", format: .jxl)
            }
            self.handle = handle
            help = JXLHelp(helpers)
            if let help { _ = JxlDecoderSetParallelRunner(handle, JXLHelp.runner, help.opaque) }
            self.events = events.reduce(0) { $0 | Int32($1.rawValue) }
            let settings = [
                JxlDecoderSubscribeEvents(handle, self.events),
                JxlDecoderSetKeepOrientation(handle, JXL_TRUE), JxlDecoderSetUnpremultiplyAlpha(handle, JXL_TRUE),
                JxlDecoderSetCoalescing(handle, joinsLayers ? JXL_TRUE : JXL_FALSE),
            ]
            guard settings.allSatisfy({ $0 == JXL_DEC_SUCCESS }) else {
                throw WebImageError(.unsupportedFeature, "libjxl refuses the settings of its decoder", format: .jxl)
            }
        }

        deinit { JxlDecoderDestroy(handle) }

        /// Passes the next bytes to libjxl.
        ///
        /// - Parameter take: called for an event; false ends the run, and the remaining bytes are dropped.
        func push(
            _ piece: UnsafeBufferPointer<UInt8>,
            _ take: (JxlDecoderStatus) throws(WebImageError) -> Bool
        ) throws(WebImageError) {
            if rest.isEmpty { return try run(piece, take) }
            let joined = rest + piece
            rest = []
            try joined.withUnsafeBufferPointer { bytes throws(WebImageError) in try run(bytes, take) }
        }

        private func run(
            _ bytes: UnsafeBufferPointer<UInt8>,
            _ take: (JxlDecoderStatus) throws(WebImageError) -> Bool
        ) throws(WebImageError) {
            guard let base = bytes.baseAddress, JxlDecoderSetInput(handle, base, bytes.count) == JXL_DEC_SUCCESS else {
                throw corrupt()
            }
            var goesOn = true
            // libjxl must not keep a pointer to the caller's bytes.
            defer {
                let count = min(JxlDecoderReleaseInput(handle), bytes.count)
                rest = goesOn ? Array(bytes.suffix(count)) : []
            }
            while goesOn {
                let status = JxlDecoderProcessInput(handle)
                if status == JXL_DEC_NEED_MORE_INPUT { return }
                guard status != JXL_DEC_ERROR else { throw corrupt() }
                goesOn = try take(status)
            }
        }

        /// Begins again at the start of the file.
        func rewind() {
            JxlDecoderRewind(handle)
            // libjxl 0.7 forgets the events, contrary to its documentation.
            _ = JxlDecoderSubscribeEvents(handle, events)
        }

        func corrupt() -> WebImageError {
            WebImageError(.corruptData, "libjxl refuses the data", format: .jxl)
        }

        /// Size and kind, when they are known; nothing large has been allocated by then.
        ///
        /// - Throws: `limitExceeded`; `unsupportedFeature` for CMYK.
        func info(_ limits: DecodeLimits) throws(WebImageError) -> JxlBasicInfo {
            var info = JxlBasicInfo()
            guard JxlDecoderGetBasicInfo(handle, &info) == JXL_DEC_SUCCESS else { throw corrupt() }
            let size = PixelSize(width: Int(info.xsize), height: Int(info.ysize))
            try limits.check(size, of: .jxl)
            // Each extra channel is as large as red, and libjxl decodes them all.
            let (pixels, overflow) = (size.pixelCount ?? .max)
                .multipliedReportingOverflow(by: (Int(info.num_extra_channels) + 6) / 4)
            guard !overflow, pixels <= limits.pixels else {
                throw WebImageError(
                    over: .pixels,
                    "the JPEG XL's \(info.num_extra_channels) channels beside its colours take more memory than "
                        + "\(limits.pixels) pixels", format: .jxl)
            }
            for index in 0..<Int(info.num_extra_channels) {
                var channel = JxlExtraChannelInfo()
                guard JxlDecoderGetExtraChannelInfo(handle, index, &channel) == JXL_DEC_SUCCESS else { throw corrupt() }
                // libjxl 0.7 would return cyan, magenta and yellow as red, green and blue.
                guard channel.type != JXL_CHANNEL_BLACK else {
                    throw WebImageError(.unsupportedFeature, "the JPEG XL is in CMYK", format: .jxl)
                }
            }
            return info
        }

        /// The header, when the colours are known; also chooses the colours of the pixels.
        func header(_ info: JxlBasicInfo, _ limits: DecodeLimits) -> ImageHeader {
            let isAnimation = info.have_animation != JXL_FALSE
            var header = ImageHeader(
                format: .jxl, size: PixelSize(width: Int(info.xsize), height: Int(info.ysize)),
                orientation: Orientation(tag: Int(info.orientation.rawValue)), hasAlpha: info.alpha_bits > 0,
                bitDepth: Int(info.bits_per_sample),
                iccProfile: JXLColor.profile(of: handle, info, limit: limits.metadata.bytes))
            if info.num_color_channels == 1 { header.colorModel = .gray }
            if let description = JXLColor.description(of: handle) {
                header.colorDescription = description
                header.iccProfile = nil
            }
            header.frameCount = isAnimation ? nil : 1
            header.loopCount = isAnimation ? Int(info.animation.num_loops) : nil
            return header
        }

        /// Sets the memory for the next frame.
        func setOutput(_ format: RowFormat, _ memory: UnsafeMutableRawPointer) throws(WebImageError) {
            let byteCount = format.bytesPerRow * format.size.height
            var pixels = JxlPixelFormat(
                num_channels: 4, data_type: format.layout == .rgba16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                endianness: JXL_NATIVE_ENDIAN, align: 0)
            var needed = 0
            guard JxlDecoderImageOutBufferSize(handle, &pixels, &needed) == JXL_DEC_SUCCESS, needed <= byteCount,
                JxlDecoderSetImageOutBuffer(handle, &pixels, memory, byteCount) == JXL_DEC_SUCCESS
            else { throw corrupt() }
        }
    }
#endif
