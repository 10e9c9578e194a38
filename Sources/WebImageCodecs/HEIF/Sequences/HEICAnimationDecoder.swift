#if HEIF
    import WebImageCore

    /// Decodes the frames of a HEIC image sequence.
    final class HEICAnimationDecoder: AnimationDecoder {
        private let file: HEICSequenceFile
        private let options: DecodeOptions
        /// How many frames have all their bytes.
        private var readyCount = 0

        init(_ options: DecodeOptions) {
            self.options = options
            file = HEICSequenceFile(options)
        }

        var header: ImageHeader? { file.header }
        var storedDelays: [Duration] { Array((file.sequence?.delays ?? []).prefix(readyCount)) }
        var encodedByteCount: Int { file.bytes.count }

        func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
            try file.bytes.append(bytes)
            _ = try file.parse()
            try countReady()
        }

        func finish() throws(WebImageError) {
            _ = try file.parse()
            try countReady()
            guard let sequence = file.sequence, readyCount == sequence.frameCount else {
                throw file.truncation
            }
        }

        private func countReady() throws(WebImageError) {
            guard let sequence = file.sequence else { return }
            while readyCount < sequence.frameCount, sequence.dataEnd(of: readyCount) <= file.bytes.count {
                readyCount += 1
            }
            if let refusal = sequence.refusal, readyCount == sequence.frameCount { throw refusal }
        }

        func firstFrameNeeded(for index: Int) -> Int {
            file.sequence?.firstNeeded(for: index, in: file.bytes.all) ?? index
        }

        func frame(at index: Int) throws(WebImageError) -> PixelBuffer {
            guard let sequence = file.sequence, index < readyCount else {
                preconditionFailure("a frame was asked for that is not there")
            }
            try options.checkpoint?()
            let sink = PixelBufferSink()
            try sequence.emit(index, of: file.bytes.all, to: sink, options)
            guard let pixels = sink.buffer else { preconditionFailure("a frame has no pixels") }
            return pixels
        }
    }
#endif
