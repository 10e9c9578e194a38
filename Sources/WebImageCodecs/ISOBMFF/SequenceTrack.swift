#if AVIF || HEIF
    /// A track of pictures in an image sequence (ISO/IEC 14496-12, 8.3; 23008-12, 7). Its boxes are read anew at each
    /// use, because the buffer of a file that still arrives may move.
    struct SequenceTrack {
        /// The content of its `trak` box.
        let range: Range<Int>
        /// The content of the description of its pictures.
        let entry: Range<Int>
        /// The length of the fields before the boxes in a description (ISO/IEC 14496-12, 12.1.3).
        private static let entryHead = 78

        /// The tracks whose first pictures are of one of the given codecs (`av01`, `hvc1`), in the file's order.
        static func all(in reader: BoxReader, of codecs: Set<String>) -> [SequenceTrack] {
            guard let movie = reader.first(["moov"], in: 0..<reader.bytes.count) else { return [] }
            return reader.boxes(in: movie).filter { $0.type == "trak" }.compactMap { track in
                guard let descriptions = reader.first(["mdia", "minf", "stbl", "stsd"], in: track.content),
                    // After version, flags and the number of descriptions.
                    let entry = reader.boxes(in: descriptions, skip: 8).first, codecs.contains(entry.type)
                else { return nil }
                return SequenceTrack(range: track.content, entry: entry.content)
            }
        }

        /// The first track that is not an auxiliary of another one; it is the one that is shown.
        static func shown(in reader: BoxReader, of codecs: Set<String>) -> SequenceTrack? {
            all(in: reader, of: codecs).first { !$0.isAuxiliary(reader) }
        }

        func isAuxiliary(_ reader: BoxReader) -> Bool { reader.first(["tref", "auxl"], in: range) != nil }

        /// The boxes of the description of its pictures.
        func properties(_ reader: BoxReader) -> [BoxReader.Box] { reader.boxes(in: entry, skip: Self.entryHead) }

        /// The content of a box of its sample table, after version and flags.
        func table(_ name: String, _ reader: BoxReader) -> (version: Int, content: Range<Int>)? {
            reader.first(["mdia", "minf", "stbl", name], in: range).flatMap(reader.full).map { ($0.version, $0.rest) }
        }

        /// The number by which other tracks refer to this one.
        func number(_ reader: BoxReader) -> Int? {
            guard let head = reader.first(["tkhd"], in: range), let (version, _, rest) = reader.full(head) else {
                return nil
            }
            return reader.integer(at: rest.lowerBound + (version == 1 ? 16 : 8), 4, in: rest)
        }

        /// The numbers of the tracks to which this one refers with a type of reference.
        func references(_ type: String, _ reader: BoxReader) -> [Int] {
            guard let list = reader.first(["tref", type], in: range) else { return [] }
            return stride(from: list.lowerBound, to: list.upperBound, by: 4).prefix(100).compactMap {
                reader.integer(at: $0, 4, in: list)
            }
        }

        /// How often its pictures are turned by a quarter, counter-clockwise, when they are shown; 0 for a matrix that
        /// does anything else (ISO/IEC 14496-12, 6.2.2).
        func turns(_ reader: BoxReader) -> Int {
            guard let head = reader.first(["tkhd"], in: range), let (version, _, rest) = reader.full(head) else {
                return 0
            }
            let start = rest.lowerBound + (version == 1 ? 48 : 36)
            let numbers = [0, 1, 3, 4].map { reader.integer(at: start + $0 * 4, 4, in: rest) }
            let one = 1 << 16
            let minusOne = 1 << 32 - one
            switch numbers {
            case [0, one, minusOne, 0]: return 3
            case [minusOne, 0, 0, minusOne]: return 2
            case [0, minusOne, one, 0]: return 1
            default: return 0
            }
        }
    }
#endif
