#if JXL
    import WebImageCore

    /// Writes an animated JPEG XL: whole frames of 8 bits with alpha, delays in milliseconds.
    final class JXLAnimationEncoder: AnimationEncoder {
        private let size: PixelSize
        private let writer: JXLWriter
        /// libjxl must be told of the last frame that it is the last: each waits here for the next.
        private var waiting: (frame: Image, delay: Duration)?

        init(_ animation: AnimationDescription, _ options: EncodeOptions) throws(WebImageError) {
            size = animation.size
            // A file cannot be silent on it.
            writer = try JXLWriter(
                JXLWriter.Description(
                    size: size, bitDepth: 8, hasAlpha: true, loopCount: animation.loopCount ?? 1), options)
        }

        func add(_ frame: Image, delay: Duration) throws(WebImageError) {
            guard frame.size == size else {
                throw WebImageError(
                    .cannotEncode, "a frame of \(frame.size) does not fit an animation of \(size)", format: .jxl)
            }
            try write(isLast: false)
            waiting = (try frame.withFullAlpha(), delay)
        }

        func finish() throws(WebImageError) -> [UInt8] {
            guard waiting != nil else {
                throw WebImageError(.cannotEncode, "an animation needs a frame", format: .jxl)
            }
            try write(isLast: true)
            return writer.takeBytes()
        }

        private func write(isLast: Bool) throws(WebImageError) {
            guard let (frame, delay) = waiting else { return }
            waiting = nil
            // Layers that are shown for no time would be one frame with the next.
            let milliseconds = max(delay.wholeMilliseconds, isLast ? 0 : 1)
            try writer.add(frame, milliseconds: UInt32(clamping: milliseconds), isLast: isLast)
        }
    }
#endif
