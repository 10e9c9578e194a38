#if AVIF
    import CSysAVIF
    import WebImageCore

    /// Decodes the frames of an AVIF image sequence, or the one picture of a still.
    ///
    /// A frame depends on those since the keyframe before it. libavif continues from the frame that it decoded last, or
    /// begins again at the keyframe.
    final class AVIFAnimationDecoder: AnimationDecoder {
        private let file: AVIFFile
        private let options: DecodeOptions
        private var attempts = ParseAttempts()
        /// The delays of all allowed frames, whether their bytes have arrived or not.
        private var delays: [Duration] = []
        /// Why frames are left out; thrown when all others have arrived.
        private var refusal: WebImageError?
        /// How many frames have all their bytes.
        private var readyCount = 0
        /// The frame that libavif's image holds.
        private var decoded: Int?

        init(_ options: DecodeOptions) throws(WebImageError) {
            self.options = options
            file = try AVIFFile(options)
        }

        var header: ImageHeader? { file.header }
        var storedDelays: [Duration] { Array(delays.prefix(readyCount)) }
        var encodedByteCount: Int { file.bytes.count }

        func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
            try file.bytes.append(bytes)
            if header == nil, attempts.isDue(at: file.bytes.count) { try readHeader() }
            try countReady()
        }

        func finish() throws(WebImageError) {
            if header == nil { try readHeader() }
            try countReady()
            guard header == nil || readyCount < delays.count else { return }
            throw WebImageError(
                .truncatedData,
                header == nil ? "the data ends before the pictures begin" : "the AVIF's frames end early",
                format: header?.format ?? .avifSequence)
        }

        private func readHeader() throws(WebImageError) {
            guard try file.parse(), let header else { return }
            let stored = file.timing.delays
            delays = stored.count == file.frameCount ? stored : Array(repeating: .zero, count: file.frameCount)
            do throws(WebImageError) {
                try options.limits.check(frames: file.frameCount, of: header.size, format: header.format)
            } catch {
                refusal = error
                delays = Array(delays.prefix(options.limits.maxFrames(of: header.size)))
            }
        }

        private func countReady() throws(WebImageError) {
            while readyCount < delays.count, let end = file.dataEnd(of: readyCount), end <= file.bytes.count {
                readyCount += 1
            }
            if let refusal, readyCount == delays.count { throw refusal }
        }

        func firstFrameNeeded(for index: Int) -> Int {
            if decoded == index { return index }
            let keyframe = min(Int(avifDecoderNearestKeyframe(file.handle, UInt32(index))), index)
            guard let decoded, decoded < index else { return keyframe }
            return max(decoded + 1, keyframe)
        }

        func frame(at index: Int) throws(WebImageError) -> PixelBuffer {
            guard let header, index < readyCount else {
                preconditionFailure("a frame was asked for that is not there")
            }
            if decoded != index {
                for next in firstFrameNeeded(for: index)...index { try decode(next) }
            }
            try options.checkpoint?()
            let format = RowFormat(
                size: header.size, layout: options.layout(ofBits: header.bitDepth), alpha: .straight)
            let pixels = try PixelBuffer(size: format.size, layout: format.layout)
            try AVIFPixels(file, format).convert(into: pixels.base)
            return pixels
        }

        private func decode(_ index: Int) throws(WebImageError) {
            try options.checkpoint?()
            decoded = nil
            do throws(WebImageError) {
                guard try file.decode(index) else {
                    throw WebImageError(.corruptData, "frame \(index) lacks bytes", format: header?.format)
                }
            } catch {
                // After a damaged frame libavif's state is undefined; the reset makes it begin at a keyframe.
                _ = avifDecoderReset(file.handle)
                throw error
            }
            decoded = index
        }
    }
#endif
