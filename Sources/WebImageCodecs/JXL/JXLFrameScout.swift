#if JXL
    import CSysJXL
    import WebImageCore

    /// Scans the frames of a file before they are decoded: their number and durations, and whether a layer would exceed
    /// the limits (a layer may be larger than the picture, and libjxl 0.7 itself has no limit).
    final class JXLFrameScout {
        private struct Frame {
            var delay: Duration
            /// Whether it does not depend on earlier frames.
            var standsAlone: Bool
        }

        /// The header; it has no frame count until the end of the file.
        private(set) var header: ImageHeader?
        /// All frames were seen.
        private(set) var isComplete = false
        private let stream: JXLStream
        private let limits: DecodeLimits
        private var info = JxlBasicInfo()
        /// The frames so far. The bytes of the last one are not certain to be complete until another frame or the end
        /// is seen.
        private var frames: [Frame] = []
        /// Whether the layers since the last complete frame stand alone.
        private var standsAlone: Bool?
        /// Layers of an incomplete frame were seen.
        private var isWithinFrame = false
        /// A layer beyond the limits was seen, which also ends the previous frame.
        private var isOver = false
        private var layerPixels = 0
        private var layerCount = 0

        init(_ limits: DecodeLimits) throws(WebImageError) {
            self.limits = limits
            stream = try JXLStream([JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FRAME], joinsLayers: false)
        }

        /// The delays of frames whose bytes are complete.
        var delays: [Duration] { frames.prefix(readyCount).map(\.delay) }

        /// Whether all layers of the first frame were seen, complete or not.
        var hasFirstFrame: Bool { !frames.isEmpty }

        private var readyCount: Int {
            isComplete || isWithinFrame || isOver ? frames.count : max(frames.count - 1, 0)
        }

        /// The nearest frame before that does not depend on earlier ones.
        func start(of index: Int) -> Int { frames[...index].lastIndex(where: \.standsAlone) ?? 0 }

        /// Takes the next bytes; bytes after the end are ignored.
        ///
        /// - Throws: `corruptData`, `limitExceeded`, `unsupportedFeature`.
        func push(_ piece: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
            guard !isComplete, !piece.isEmpty else { return }
            try stream.push(piece) { status throws(WebImageError) in
                switch status {
                case JXL_DEC_BASIC_INFO: info = try stream.info(limits)
                case JXL_DEC_COLOR_ENCODING: header = stream.header(info, limits)
                case JXL_DEC_FRAME: try takeLayer()
                case JXL_DEC_SUCCESS:
                    isComplete = true
                    header?.frameCount = frames.count
                default: throw stream.corrupt()
                }
                return !isComplete
            }
        }

        private func takeLayer() throws(WebImageError) {
            var layer = JxlFrameHeader()
            guard JxlDecoderGetFrameHeader(stream.handle, &layer) == JXL_DEC_SUCCESS else { throw stream.corrupt() }
            try checkLayer(PixelSize(width: Int(layer.layer_info.xsize), height: Int(layer.layer_info.ysize)))
            let isWhole =
                layer.layer_info.have_crop == JXL_FALSE
                && layer.layer_info.blend_info.blendmode == JXL_BLEND_REPLACE
            standsAlone = standsAlone ?? isWhole
            // Layers without a duration are parts of the next frame.
            isWithinFrame = layer.duration == 0 && layer.is_last == JXL_FALSE
            guard !isWithinFrame else { return }
            frames.append(Frame(delay: delay(layer.duration), standsAlone: standsAlone ?? isWhole))
            standsAlone = nil
            guard info.have_animation != JXL_FALSE else { return }
            let canvas = PixelSize(width: Int(info.xsize), height: Int(info.ysize))
            try limits.check(frames: frames.count, of: canvas, format: .jxl)
        }

        private static let smallLayer = 4 << 20

        private func checkLayer(_ size: PixelSize) throws(WebImageError) {
            try limits.check(size, of: .jxl)
            // libjxl decodes layers whole, whatever part of them is on the canvas; the memory for a picture is reserved by
            // the size of the canvas.
            let canvas = Int(info.xsize) * Int(info.ysize)
            guard size.pixelCount ?? .max <= max(4 * canvas, Self.smallLayer) else {
                throw WebImageError(
                    .limitExceeded, "a layer of the JPEG XL has \(size), far more than the picture", format: .jxl)
            }
            layerCount += 1
            layerPixels += size.pixelCount ?? 0
            guard layerCount <= limits.frames, layerPixels <= limits.animationPixels else {
                isOver = true
                throw WebImageError(
                    over: layerCount > limits.frames ? .frames : .animationPixels,
                    "the JPEG XL's \(layerCount) layers have \(layerPixels) pixels", format: .jxl)
            }
        }

        private func delay(_ ticks: UInt32) -> Duration {
            guard info.have_animation != JXL_FALSE, info.animation.tps_numerator > 0 else { return .zero }
            let scale = UInt64(info.animation.tps_numerator)
            // The product of two numbers of 32 bits fits.
            let (seconds, rest) = (UInt64(ticks) * UInt64(info.animation.tps_denominator))
                .quotientAndRemainder(dividingBy: scale)
            return .seconds(Int64(UInt32(clamping: seconds))) + .nanoseconds(Int64(rest * 1_000_000_000 / scale))
        }
    }
#endif
