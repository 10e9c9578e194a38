#if HEIF
    import CShimHEIF
    import WebImageCore

    /// The pictures of one track, which depend on each other. Decoding continues from the picture that was shown last,
    /// or begins anew at one that needs no other.
    final class HEVCStream {
        let configuration: HEVCConfiguration
        private let samples: SampleTable
        private var handle: OpaquePointer?
        /// The number of the picture that libde265 has reached, in the order of showing; -1: none.
        private var shown = -1
        /// The next picture that libde265 gets, in the order of decoding.
        private var next = 0
        /// The parameter sets that libde265 gets before that picture.
        private var sets: [UInt8] = []
        private var isFlushed = false

        init(_ configuration: HEVCConfiguration, _ samples: SampleTable) {
            self.configuration = configuration
            self.samples = samples
        }

        deinit { wi_hevc_stream_free(handle) }

        var count: Int { samples.ranges.count }

        /// The end in the file of the data that a picture needs. In the order of decoding the picture may come later
        /// than in the order of showing, but not by more pictures than a decoder keeps. One more is needed, because
        /// libde265 recognises the end of a picture by the beginning of the next.
        func dataEnd(of index: Int) -> Int {
            samples.ends[min(index + HEVCParameters.maxReferences + 1, count - 1)]
        }

        /// The first picture that must be decoded to show this one.
        func firstNeeded(for index: Int, in file: UnsafeRawBufferPointer) -> Int {
            // Most frames are requested one after the other.
            if handle != nil, shown == index || shown == index - 1 { return index }
            let start = start(for: index, in: file)
            return handle != nil && shown >= start && shown < index ? shown + 1 : start
        }

        /// The nearest picture, up to this one, that resets the decoder. In the order of showing it comes after all
        /// that are decoded before it, so it has the same number in both orders.
        private func start(for index: Int, in file: UnsafeRawBufferPointer) -> Int {
            samples.start(upTo: index) { data($0, of: file).map(configuration.beginsAnew) ?? false } ?? 0
        }

        /// The data of a picture, in the order of decoding; nil if it has not arrived.
        private func data(_ index: Int, of file: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer>? {
            let range = samples.ranges[index]
            return range.upperBound <= file.count ? file[range] : nil
        }

        /// Decodes up to a picture.
        ///
        /// - Throws: `corruptData`, `unsupportedFeature`, `limitExceeded`, and the errors of the checkpoint.
        func show(_ index: Int, in file: UnsafeRawBufferPointer, _ options: DecodeOptions) throws(WebImageError) {
            let first = firstNeeded(for: index, in: file)
            do throws(WebImageError) {
                if handle == nil || shown < first - 1 || shown > index { try begin(at: first) }
                while shown < index {
                    try options.checkpoint?()
                    try advance(file, options)
                }
            } catch {
                // Later pictures would be made from a damaged one.
                close()
                throw error
            }
        }

        private func close() {
            wi_hevc_stream_free(handle)
            handle = nil
        }

        private func begin(at index: Int) throws(WebImageError) {
            close()
            handle = wi_hevc_stream_create()
            guard handle != nil else {
                throw WebImageError(.limitExceeded, "there is no memory for a decoder", format: .heicSequence)
            }
            (shown, next, isFlushed) = (index - 1, index, false)
            sets = configuration.setUnits
        }

        private func advance(_ file: UnsafeRawBufferPointer, _ options: DecodeOptions) throws(WebImageError) {
            guard let handle else { return }
            var fault: UnsafePointer<CChar>?
            while true {
                // Pictures that are never shown take time, too.
                try options.checkpoint?()
                switch wi_hevc_stream_advance(handle, &fault) {
                case 1:
                    shown += 1
                    return
                case 0:
                    guard !isFlushed else { throw Self.corrupt("it has fewer pictures than its header states") }
                    if next < count {
                        // ``dataEnd(of:)`` does not count pictures that are shown later than a decoder can keep them,
                        // so the data may not have arrived.
                        guard let data = data(next, of: file) else {
                            throw Self.corrupt("its pictures are in an impossible order")
                        }
                        try push(sets + configuration.units(ofPicture: data), to: handle)
                        (next, sets) = (next + 1, [])
                    } else {
                        _ = wi_hevc_stream_push(handle, nil, 0)
                        isFlushed = true
                    }
                default: throw Self.corrupt(fault.map { String(cString: $0) } ?? "libde265 fails")
                }
            }
        }

        private func push(_ units: [UInt8], to handle: OpaquePointer) throws(WebImageError) {
            let fault = units.withUnsafeBytes { wi_hevc_stream_push(handle, $0.baseAddress, $0.count) }
            if let fault { throw Self.corrupt(String(cString: fault)) }
        }

        /// The pixels of the picture that was shown last.
        func pixels(as kind: HEIFPixels.Kind, color: [UInt8]?) throws(WebImageError) -> HEIFPixels {
            // Registers the decoder that libheif uses below.
            _ = wi_heif_strict_decoder()
            wi_hevc_stream_lend(handle)
            defer { wi_hevc_stream_lend(nil) }
            let file = configuration.placeholder(color: color)
            return try file.withUnsafeBufferPointer { bytes throws(WebImageError) -> HEIFPixels in
                try HEIFPixels(
                    decoding: UnsafeRawBufferPointer(bytes), of: configuration.parameters, as: kind)
            }
        }

        private static func corrupt(_ fault: String) -> WebImageError {
            WebImageError(.corruptData, "the HEVC sequence is damaged: \(fault)", format: .heicSequence)
        }
    }
#endif
