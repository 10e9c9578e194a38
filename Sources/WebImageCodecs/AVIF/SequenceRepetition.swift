#if AVIF
    import WebImageCore

    /// Adds the number of repetitions to an image sequence of libavif, because libavif 0.11 cannot write it: an edit
    /// list (ISO/IEC 14496-12, 8.6.6) in each track. The following data moves, so the file's offsets are changed.
    struct SequenceRepetition {
        /// The edit list: an inner box of 36 bytes with its outer header.
        private static let boxLength = 44
        private var bytes: [UInt8]
        private let segment: UInt64
        private let total: UInt64

        /// - Parameters:
        ///   - segment: the duration of all frames, in the sequence's unit of time.
        ///   - count: how often they are played, 0: forever.
        init(_ bytes: [UInt8], segment: UInt64, count: Int) {
            self.bytes = bytes
            self.segment = segment
            total = count == 0 ? .max : segment.multipliedReportingOverflow(by: UInt64(count)).partialValue
        }

        /// - Returns: nil if the file has another structure than those of libavif 0.11.
        mutating func written() -> [UInt8]? {
            let places = bytes.withUnsafeBytes { Places(BoxReader(bytes: $0)) }
            guard let places else { return nil }
            let growth = Self.boxLength * places.tracks.count
            for at in places.offsets {
                guard let offset = integer(at: at, 4), offset + growth <= UInt32.max else { return nil }
                // The data is at the end of the file.
                guard offset >= places.movie.upperBound else { return nil }
                put(UInt64(offset + growth), at: at, 4)
            }
            put(UInt64(places.movie.count + 8 + growth), at: places.movie.lowerBound - 8, 4)
            for track in places.tracks {
                put(UInt64(track.range.count + 8 + Self.boxLength), at: track.range.lowerBound - 8, 4)
                put(total, at: track.header.lowerBound + 28, 8)
            }
            // From the end, so that the positions before stay valid.
            for track in places.tracks.reversed() {
                bytes.insert(contentsOf: editList, at: track.header.upperBound)
            }
            return bytes
        }

        private var editList: [UInt8] {
            var box = [UInt8](repeating: 0, count: Self.boxLength)
            box.replaceSubrange(0..<8, with: [0, 0, 0, 44] + Array("edts".utf8))
            // Version 1, flags 1: repeated. One entry: the whole segment from its start, at normal speed.
            box.replaceSubrange(8..<24, with: [0, 0, 0, 36] + Array("elst".utf8) + [1, 0, 0, 1, 0, 0, 0, 1])
            for index in 0..<8 { box[24 + index] = UInt8(truncatingIfNeeded: segment >> UInt64(56 - 8 * index)) }
            box[41] = 1
            return box
        }

        private mutating func put(_ value: UInt64, at offset: Int, _ length: Int) {
            for index in 0..<length {
                bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (length - 1 - index)))
            }
        }

        private func integer(at offset: Int, _ length: Int) -> Int? {
            bytes.withUnsafeBytes { BoxReader(bytes: $0).integer(at: offset, length, in: 0..<$0.count) }
        }

        /// The positions of the values to change.
        private struct Places {
            struct Track {
                var range: Range<Int>
                var header: Range<Int>
            }

            var movie: Range<Int>
            var tracks: [Track] = []
            /// The positions of all four-byte offsets in the file.
            var offsets: [Int] = []

            init?(_ reader: BoxReader) {
                let all = 0..<reader.bytes.count
                guard let movie = reader.first(["moov"], in: all) else { return nil }
                self.movie = movie
                for box in reader.boxes(in: movie) where box.type == "trak" {
                    guard let header = reader.first(["tkhd"], in: box.content),
                        reader.integer(at: header.lowerBound, 1, in: header) == 1,
                        reader.first(["edts"], in: box.content) == nil,
                        let chunks = reader.first(["mdia", "minf", "stbl", "stco"], in: box.content),
                        let count = reader.integer(at: chunks.lowerBound + 4, 4, in: chunks),
                        count <= (chunks.count - 8) / 4
                    else { return nil }
                    tracks.append(Track(range: box.content, header: header))
                    offsets += (0..<count).map { chunks.lowerBound + 8 + $0 * 4 }
                    guard addItems(reader, box.content) else { return nil }
                }
                guard !tracks.isEmpty, addItems(reader, all) else { return nil }
            }

            /// `iloc` (ISO/IEC 14496-12, 8.11.3): the still that the file holds too, and a track's EXIF and XMP.
            private mutating func addItems(_ reader: BoxReader, _ parent: Range<Int>) -> Bool {
                guard let meta = reader.first(["meta"], in: parent) else { return true }
                guard let box = reader.boxes(in: meta, skip: 4).first(where: { $0.type == "iloc" })?.content,
                    // Version 0, offsets and lengths of four bytes, no base.
                    reader.integer(at: box.lowerBound, 4, in: box) == 0,
                    reader.integer(at: box.lowerBound + 4, 2, in: box) == 0x4400,
                    let count = reader.integer(at: box.lowerBound + 6, 2, in: box)
                else { return false }
                var at = box.lowerBound + 8
                for _ in 0..<count {
                    guard let extents = reader.integer(at: at + 4, 2, in: box),
                        at + 6 + extents * 8 <= box.upperBound
                    else { return false }
                    offsets += (0..<extents).map { at + 6 + $0 * 8 }
                    at += 6 + extents * 8
                }
                return true
            }
        }
    }
#endif
