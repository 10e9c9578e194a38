#if HEIF
    import WebImageCore

    /// The bytes of a HEIC image sequence while they arrive.
    final class HEICSequenceFile {
        let bytes: CollectedBytes
        /// Set when ``parse()`` has returned true.
        private(set) var sequence: HEICSequence?
        private let options: DecodeOptions
        /// The first top-level box that was not looked at yet.
        private var nextBox = 0

        init(_ options: DecodeOptions) {
            self.options = options
            bytes = CollectedBytes(options.limits, format: .heicSequence)
        }

        var header: ImageHeader? { sequence?.header }

        /// Reads the `moov` box, which describes all frames; false if it has not arrived.
        ///
        /// - Throws: as ``HEICSequence``.
        func parse() throws(WebImageError) -> Bool {
            if sequence != nil { return true }
            let boxes = BoxReader(bytes: bytes.all)
            let all = 0..<bytes.count
            while let (type, length) = boxes.head(at: nextBox, in: all) {
                guard let length else {
                    throw WebImageError(.corruptData, "the file's boxes are damaged", format: .heicSequence)
                }
                // A length of 0 means up to the end of the file, which is not known here.
                guard boxes.integer(at: nextBox, 4, in: all) != 0, length <= bytes.count - nextBox else { return false }
                nextBox += length
                guard type == "moov" else { continue }
                sequence = try HEICSequence(boxes, options)
                return true
            }
            return false
        }

        var truncation: WebImageError {
            WebImageError(
                .truncatedData,
                sequence == nil ? "the data ends before the pictures begin" : "the sequence's frames end early",
                format: .heicSequence)
        }
    }
#endif
