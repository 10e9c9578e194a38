#if HEIF
    import WebImageCore

    /// The bytes of a HEIC image sequence while they arrive.
    final class HEICSequenceFile {
        let bytes: CollectedBytes
        /// Set when ``parse()`` has returned true.
        private(set) var sequence: HEICSequence?
        private let options: DecodeOptions
        /// The position of the first top-level box that was not read yet.
        private var nextBox = 0
        /// The description of the file's still picture, if it precedes that of the frames.
        private var items: HEIFItems?
        private var metadata: ImageMetadata?

        init(_ options: DecodeOptions) {
            self.options = options
            bytes = CollectedBytes(options.limits, format: .heicSequence)
        }

        var header: ImageHeader? {
            var header = sequence?.header
            if let metadata { header?.metadata = metadata }
            return header
        }

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
                let content = nextBox + boxes.contentOffset(at: nextBox, in: all)..<nextBox + length
                nextBox += length
                // Damage of the still picture does not concern the frames.
                if type == "meta" { items = try? HEIFItems(boxes, meta: content) }
                guard type == "moov" else { continue }
                sequence = try HEICSequence(boxes, options)
                return true
            }
            return false
        }

        /// Reads EXIF and XMP, which belong to the still picture; false if their bytes have not arrived.
        func learnMetadata() -> Bool {
            guard metadata == nil, var items else { return true }
            // The buffer of the bytes may have moved.
            items.boxes = BoxReader(bytes: bytes.all)
            metadata = items.metadata(options.limits)
            return metadata != nil
        }

        var truncation: WebImageError {
            WebImageError(
                .truncatedData,
                sequence == nil ? "the data ends before the pictures begin" : "the sequence's frames end early",
                format: .heicSequence)
        }
    }
#endif
