#if HEIF
    import WebImageCore

    /// Where the pictures of a track lie in the file, in the order of decoding (ISO/IEC 14496-12, 8.6.2, 8.7.3 to
    /// 8.7.5).
    struct SampleTable {
        private(set) var ranges: [Range<Int>] = []
        /// The end of each picture and all before it.
        private(set) var ends: [Int] = []
        /// The number of pictures that the track states.
        let count: Int
        /// The pictures with which decoding may begin, in rising order; nil if the track does not state them.
        private var starts: [Int]?

        /// - Parameters:
        ///   - most: how many pictures are read; further ones are only counted.
        ///   - limit: the greatest length of a file.
        /// - Throws: `corruptData` for tables that contradict themselves, `unsupportedFeature` for pictures with
        ///   different descriptions.
        init(_ track: SequenceTrack, most: Int, limit: Int, _ reader: BoxReader) throws(WebImageError) {
            guard let (_, sizes) = track.table("stsz", reader),
                let size = reader.integer(at: sizes.lowerBound, 4, in: sizes),
                let count = reader.integer(at: sizes.lowerBound + 4, 4, in: sizes), count > 0,
                size > 0 || count <= (sizes.count - 8) / 4
            else { throw Self.damage }
            self.count = count
            try place(min(count, most), limit: limit, track, reader) { index in
                size > 0 ? size : reader.integer(at: sizes.lowerBound + 8 + index * 4, 4, in: sizes)
            }
            if let (_, list) = track.table("stss", reader) {
                guard let given = reader.integer(at: list.lowerBound, 4, in: list) else { throw Self.damage }
                starts = (0..<min(given, (list.count - 4) / 4)).compactMap { index in
                    reader.integer(at: list.lowerBound + 4 + index * 4, 4, in: list).map { $0 - 1 }
                }.sorted()
            }
        }

        /// Finds the positions of the pictures, which are consecutive within each chunk of the file.
        private mutating func place(
            _ count: Int, limit: Int, _ track: SequenceTrack, _ reader: BoxReader, size: (Int) -> Int?
        ) throws(WebImageError) {
            guard let (_, groups) = track.table("stsc", reader) else { throw Self.damage }
            let short = track.table("stco", reader)
            guard let (_, chunks) = short ?? track.table("co64", reader) else { throw Self.damage }
            let width = short == nil ? 8 : 4
            guard let groupCount = reader.integer(at: groups.lowerBound, 4, in: groups),
                let chunkCount = reader.integer(at: chunks.lowerBound, 4, in: chunks)
            else { throw Self.damage }
            var (group, inEach) = (0, 0)
            // The table may claim to have thousands of millions of chunks.
            for chunk in 0..<min(chunkCount, (chunks.count - 4) / width) where ranges.count < count {
                // A group states its first chunk, counted from 1, and how many pictures each of its chunks has.
                let entry = groups.lowerBound + 4 + group * 12
                if group < groupCount, reader.integer(at: entry, 4, in: groups) == chunk + 1 {
                    guard let number = reader.integer(at: entry + 4, 4, in: groups) else { throw Self.damage }
                    guard reader.integer(at: entry + 8, 4, in: groups) == 1 else {
                        throw WebImageError(
                            .unsupportedFeature, "the sequence's pictures have different descriptions",
                            format: .heicSequence)
                    }
                    (group, inEach) = (group + 1, number)
                }
                guard var start = reader.integer(at: chunks.lowerBound + 4 + chunk * width, width, in: chunks) else {
                    throw Self.damage
                }
                for _ in 0..<min(inEach, count - ranges.count) {
                    guard let length = size(ranges.count), length > 0, start <= limit, length <= limit - start else {
                        throw Self.damage
                    }
                    ranges.append(start..<start + length)
                    ends.append(max(ends.last ?? 0, start + length))
                    start += length
                }
            }
            guard ranges.count == count else { throw Self.damage }
        }

        /// The nearest picture up to `index` with which decoding may begin according to the track, and for which
        /// `isWanted` holds.
        func start(upTo index: Int, where isWanted: (Int) -> Bool) -> Int? {
            starts.map { $0.last { (0...index).contains($0) && isWanted($0) } } ?? (0...index).last(where: isWanted)
        }

        private static var damage: WebImageError {
            WebImageError(.corruptData, "the sequence's tables are damaged", format: .heicSequence)
        }
    }
#endif
