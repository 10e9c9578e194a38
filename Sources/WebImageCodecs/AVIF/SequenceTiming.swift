#if AVIF
    /// What libavif 0.11 does not tell of an image sequence, or only slowly: how often it is played, and how long each
    /// frame is shown (its own function for that looks through all entries before, for each frame).
    struct SequenceTiming {
        /// 0 for ever, as also without an edit list: browsers play such sequences without end, and before there were
        /// edit lists in them nothing else could be said (libavif's `AVIF_REPETITION_COUNT_UNKNOWN`).
        private(set) var loopCount = 0
        private(set) var delays: [Duration] = []

        /// - Parameter frames: how many frames the sequence has.
        init(_ bytes: UnsafeRawBufferPointer, frames: Int) {
            let reader = BoxReader(bytes: bytes)
            let all = 0..<bytes.count
            guard let movie = reader.first(["moov"], in: all) else { return }
            let tracks = reader.boxes(in: movie).filter { $0.type == "trak" }.map(\.content)
            guard let track = tracks.first(where: { Self.isColor($0, reader) }),
                let media = reader.first(["mdia", "mdhd"], in: track),
                let table = reader.first(["mdia", "minf", "stbl", "stts"], in: track),
                let version = reader.integer(at: media.lowerBound, 1, in: media),
                let scale = reader.integer(at: media.lowerBound + (version == 1 ? 20 : 12), 4, in: media), scale > 0
            else { return }
            readDelays(table, scale: scale, frames: frames, reader)
            readRepetition(track, reader)
        }

        /// Whether a track holds AV1 pictures that are no auxiliary ones of another's: the first such is shown.
        private static func isColor(_ track: Range<Int>, _ reader: BoxReader) -> Bool {
            guard let descriptions = reader.first(["mdia", "minf", "stbl", "stsd"], in: track),
                // After version, flags and the number of entries.
                reader.boxes(in: descriptions, skip: 8).contains(where: { $0.type == "av01" })
            else { return false }
            return reader.first(["tref", "auxl"], in: track) == nil
        }

        /// `stts` (ISO/IEC 14496-12, 8.6.1.2): runs of frames with the same duration; frames after the last are as it.
        private mutating func readDelays(_ table: Range<Int>, scale: Int, frames: Int, _ reader: BoxReader) {
            guard let count = reader.integer(at: table.lowerBound + 4, 4, in: table) else { return }
            var last = Duration.zero
            for index in 0..<count {
                let at = table.lowerBound + 8 + index * 8
                // A table may claim four thousand million runs.
                guard delays.count < frames, let run = reader.integer(at: at, 4, in: table),
                    let ticks = reader.integer(at: at + 4, 4, in: table)
                else { break }
                last = .nanoseconds(Int64(ticks) * 1_000_000_000 / Int64(scale))
                delays += repeatElement(last, count: min(run, frames - delays.count))
            }
            delays += repeatElement(last, count: frames - delays.count)
        }

        /// `elst` (ISO/IEC 14496-12, 8.6.6): with the lowest flag set its one segment is repeated as long as the track
        /// lasts, which may be for ever; without it the sequence is played once.
        private mutating func readRepetition(_ track: Range<Int>, _ reader: BoxReader) {
            guard let list = reader.first(["edts", "elst"], in: track), let header = reader.first(["tkhd"], in: track),
                let listHead = reader.integer(at: list.lowerBound, 4, in: list),
                reader.integer(at: list.lowerBound + 4, 4, in: list) == 1,
                let version = reader.integer(at: header.lowerBound, 1, in: header)
            else { return }
            guard listHead & 1 == 1 else {
                loopCount = 1
                return
            }
            let isLong = version == 1
            let (at, length) = isLong ? (header.lowerBound + 28, 8) : (header.lowerBound + 20, 4)
            // All bits set: without end. As 64 bits that is no `Int`.
            guard let total = reader.integer(at: at, length, in: header), isLong || total != 0xFFFF_FFFF else { return }
            let segment = reader.integer(at: list.lowerBound + 8, listHead >> 24 == 1 ? 8 : 4, in: list) ?? 0
            guard segment > 0 else { return }
            loopCount = max(total / segment + (total % segment == 0 ? 0 : 1), 1)
        }
    }
#endif
