#if AVIF
    import WebImageCore

    /// Writes an AVIF image sequence: frames with alpha, delays in milliseconds.
    final class AVIFAnimationEncoder: AnimationEncoder {
        private let size: PixelSize
        private let loopCount: Int
        private let encoder: AVIFEncoder
        /// Whether libavif can write the number of repetitions.
        private let isRepeated: Bool
        private var milliseconds: [UInt64] = []
        private var clock = DelayClock(longest: Int(UInt32.max))

        init(_ animation: AnimationDescription, _ options: EncodeOptions) throws(WebImageError) {
            size = animation.size
            // Browsers play a sequence without a count forever.
            loopCount = animation.loopCount ?? 1
            let large = AVIFEncoder.largeAnimation
            let isLarge = size.pixelCount.map { $0 > large.pixels } ?? true
            encoder = try AVIFEncoder(
                options, isSequence: true, speed: isLarge ? large.speed : AVIFEncoder.defaultSpeed)
            isRepeated = encoder.setRepetitions(max(loopCount, 0) - 1)
        }

        func add(_ frame: Image, delay: Duration) throws(WebImageError) {
            guard frame.size == size else {
                throw WebImageError(
                    .cannotEncode, "a frame of \(frame.size) does not fit an animation of \(size)",
                    format: .avifSequence)
            }
            let shown = UInt64(max(clock.ticks(delay), 1))
            try encoder.add(try frame.withFullAlpha(), hasAlpha: true, milliseconds: shown, isStill: false)
            milliseconds.append(shown)
        }

        func finish() throws(WebImageError) -> [UInt8] {
            guard !milliseconds.isEmpty else {
                throw WebImageError(.cannotEncode, "an animation needs a frame", format: .avifSequence)
            }
            var bytes = try encoder.finish()
            SequenceTimes.remove(from: &bytes)
            // libavif writes a single frame as a still.
            guard milliseconds.count > 1, !isRepeated else { return bytes }
            var repetition = SequenceRepetition(bytes, segment: milliseconds.reduce(0, +), count: max(loopCount, 0))
            guard let repeated = repetition.written() else {
                throw WebImageError(
                    .cannotEncode, "this libavif's files cannot be told to repeat", format: .avifSequence)
            }
            return repeated
        }
    }
#endif
