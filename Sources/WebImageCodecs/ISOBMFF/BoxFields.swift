#if AVIF || HEIF
    /// Reads consecutive numbers; after a missing one, all are missing.
    struct BoxFields {
        private let boxes: BoxReader
        private let range: Range<Int>
        private(set) var at: Int

        init(_ boxes: BoxReader, _ range: Range<Int>) {
            self.boxes = boxes
            self.range = range
            at = range.lowerBound
        }

        mutating func next(_ length: Int) -> Int? {
            guard let value = boxes.integer(at: at, length, in: range) else {
                at = range.upperBound
                return nil
            }
            at += length
            return value
        }
    }
#endif
