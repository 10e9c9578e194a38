#if JXL
    import CSysJXL
    import WebImageCore

    /// Decodes the frames of an animated JPEG XL, or the one picture of a still.
    ///
    /// One libjxl decoder finds frames as the bytes arrive, another one plays them. The latter continues from its last
    /// frame, skips those that are not requested, and begins again at the start of the file to go back; libjxl then
    /// decodes only the frames that the requested one depends on.
    final class JXLAnimationDecoder: AnimationDecoder {
        /// How many bytes libjxl gets between two checkpoints.
        private static let pieceLength = 64 << 10

        private var encodedBytes: [UInt8] = []
        var encodedByteCount: Int { encodedBytes.count }
        private let options: DecodeOptions
        private let scout: JXLFrameScout
        /// Whether all bytes of the last frame have arrived, which the scout cannot tell: libjxl skips them without
        /// checking.
        private var isWhole = false
        private var player: JXLStream?
        private var playerInfo = JxlBasicInfo()
        /// How many bytes the player has taken.
        private var offset = 0
        /// The frame that the player gives next.
        private var next = 0

        init(_ options: DecodeOptions) throws(WebImageError) {
            self.options = options
            scout = try JXLFrameScout(options.limits)
        }

        var header: ImageHeader? { scout.header }
        var storedDelays: [Duration] {
            scout.isComplete && !isWhole ? scout.delays.dropLast() : scout.delays
        }

        func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
            try options.limits.check(byteCount: encodedBytes.count + bytes.count, of: .jxl)
            encodedBytes.append(contentsOf: bytes)
            try scout.push(bytes.bindMemory(to: UInt8.self))
        }

        /// Decodes the last of several frames, because only this shows whether it is complete.
        func finish() throws(WebImageError) {
            guard scout.isComplete else { throw cut() }
            isWhole = true
            guard storedDelays.count > 1 else { return }
            do throws(WebImageError) { _ = try frame(at: storedDelays.count - 1) } catch {
                isWhole = false
                guard error.code == .corruptData else { throw error }
                throw cut()
            }
        }

        private func cut() -> WebImageError {
            WebImageError(
                .truncatedData,
                header == nil ? "the data ends before the pictures begin" : "the JPEG XL's frames end early",
                format: .jxl)
        }

        func firstFrameNeeded(for index: Int) -> Int {
            let start = scout.start(of: index)
            return player != nil && next <= index ? max(next, start) : start
        }

        func frame(at index: Int) throws(WebImageError) -> PixelBuffer {
            guard let header else { preconditionFailure("a frame was asked for that is not there") }
            let player = try takePlayer()
            if index < next { restart(player) }
            JxlDecoderSkipFrames(player.handle, index - next)
            let format = RowFormat(
                size: header.size, layout: options.layout(ofBits: header.bitDepth),
                alpha: header.hasAlpha ? .straight : .opaque)
            let pixels = try PixelBuffer(size: format.size, layout: format.layout)
            try play(player, into: pixels, format)
            self.player = player
            next = index + 1
            return pixels
        }

        /// After an error libjxl's position is unknown: unless the player is put back, the next frame begins with a new
        /// one.
        private func takePlayer() throws(WebImageError) -> JXLStream {
            defer { player = nil }
            if let player { return player }
            (offset, next) = (0, 0)
            return try JXLStream([JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FULL_IMAGE])
        }

        private func restart(_ player: JXLStream) {
            player.rewind()
            (offset, next) = (0, 0)
        }

        /// Continues until a frame was rendered.
        private func play(_ player: JXLStream, into pixels: PixelBuffer, _ format: RowFormat) throws(WebImageError) {
            var length = Self.pieceLength
            while true {
                try options.checkpoint?()
                let (taken, isDone) = try encodedBytes.withUnsafeBufferPointer { all throws(WebImageError) in
                    let piece = UnsafeBufferPointer(rebasing: all.dropFirst(offset).prefix(length))
                    return try give(piece, player, pixels, format)
                }
                offset += taken
                if isDone { return }
                guard offset + (taken == 0 ? length : 0) < encodedBytes.count else { throw player.corrupt() }
                // libjxl needs a longer piece.
                length = taken == 0 ? length * 2 : Self.pieceLength
            }
        }

        /// - Returns: how many bytes libjxl took, and whether the frame is rendered.
        private func give(
            _ piece: UnsafeBufferPointer<UInt8>, _ player: JXLStream, _ pixels: PixelBuffer, _ format: RowFormat
        ) throws(WebImageError) -> (Int, Bool) {
            guard let base = piece.baseAddress,
                JxlDecoderSetInput(player.handle, base, piece.count) == JXL_DEC_SUCCESS
            else { throw player.corrupt() }
            while true {
                let status = JxlDecoderProcessInput(player.handle)
                switch status {
                case JXL_DEC_BASIC_INFO: playerInfo = try player.info(options.limits)
                case JXL_DEC_COLOR_ENCODING: _ = player.header(playerInfo, options.limits)
                case JXL_DEC_NEED_IMAGE_OUT_BUFFER: try player.setOutput(format, pixels.base)
                case JXL_DEC_NEED_MORE_INPUT, JXL_DEC_FULL_IMAGE:
                    let left = JxlDecoderReleaseInput(player.handle)
                    return (piece.count - min(left, piece.count), status == JXL_DEC_FULL_IMAGE)
                default: throw player.corrupt()
                }
                try options.checkpoint?()
            }
        }
    }
#endif
