#if JXL
    import WebImageCore

    /// Writes an animated JPEG XL: whole frames with alpha, all with the first one's 8 or 16 bits, delays in
    /// milliseconds.
    final class JXLAnimationEncoder: AnimationEncoder {
        private let animation: AnimationDescription
        private let options: EncodeOptions
        /// Made with the first frame, whose properties apply to all.
        private var writer: JXLWriter?
        private var bitDepth = 8
        private var clock = DelayClock(longest: Int(UInt32.max))
        /// The last added frame. libjxl must be told which frame is the last, so each waits here for the next.
        private var waiting: (frame: Image, delay: Duration)?

        init(_ animation: AnimationDescription, _ options: EncodeOptions) {
            self.animation = animation
            self.options = options
        }

        func add(_ frame: Image, delay: Duration) throws(WebImageError) {
            guard frame.size == animation.size else {
                throw WebImageError(
                    .cannotEncode, "a frame of \(frame.size) does not fit an animation of \(animation.size)",
                    format: .jxl)
            }
            if writer == nil { writer = try makeWriter(frame) }
            guard !options.isLossless || frame.layout.bitDepth <= bitDepth else {
                throw WebImageError(
                    .cannotEncode, "a frame has more bits a channel than the first: it cannot be lossless",
                    format: .jxl)
            }
            try write(isLast: false)
            waiting = (try frame.withFullAlpha(), delay)
        }

        func finish() throws(WebImageError) -> [UInt8] {
            guard waiting != nil, let writer else {
                throw WebImageError(.cannotEncode, "an animation needs a frame", format: .jxl)
            }
            try write(isLast: true)
            return writer.takeBytes()
        }

        private func makeWriter(_ frame: Image) throws(WebImageError) -> JXLWriter {
            let metadata = EmbeddedMetadata(frame, options, formatTells: .orientation)
            bitDepth = frame.layout.bitDepth
            return try JXLWriter(
                JXLWriter.Description(
                    size: animation.size, bitDepth: bitDepth, hasAlpha: true, orientation: frame.info.orientation,
                    profile: metadata.profile, color: metadata.color, exif: metadata.exif, xmp: metadata.xmp,
                    // The format always states a count.
                    loopCount: animation.loopCount ?? 1), options)
        }

        private func write(isLast: Bool) throws(WebImageError) {
            guard let (frame, delay) = waiting, let writer else { return }
            waiting = nil
            // Frames without a duration would be merged with the next one.
            let milliseconds = max(clock.ticks(delay), isLast ? 0 : 1)
            try writer.add(frame, milliseconds: UInt32(clamping: milliseconds), isLast: isLast)
        }
    }
#endif
