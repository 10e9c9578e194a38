#if AVIF
    /// The properties of an image sequence that libavif 0.11 does not return, or only slowly: its repetitions, and the
    /// frames' durations (its own function reads all earlier entries again for each frame).
    struct SequenceTiming {
        /// 0: forever, also without an edit list. Browsers play such sequences without end, and before edit lists were
        /// used in them there was no way to state a number (libavif's `AVIF_REPETITION_COUNT_UNKNOWN`).
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

        /// Whether a track has AV1 pictures and is not an auxiliary of another one: the first such track is shown.
        private static func isColor(_ track: Range<Int>, _ reader: BoxReader) -> Bool {
            guard let descriptions = reader.first(["mdia", "minf", "stbl", "stsd"], in: track),
                // After version, flags and the number of entries.
                reader.boxes(in: descriptions, skip: 8).contains(where: { $0.type == "av01" })
            else { return false }
            return reader.first(["tref", "auxl"], in: track) == nil
        }

        /// `stts` (ISO/IEC 14496-12, 8.6.1.2): runs of frames with the same duration; the last one also holds for
        /// further frames.
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

        /// `elst` (ISO/IEC 14496-12, 8.6.6): with the lowest flag set, its one segment is repeated for the duration of
        /// the track, which may be infinite; without it the sequence is played once.
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
            // All bits set: without end. In 64 bits that does not fit an `Int`.
            guard let total = reader.integer(at: at, length, in: header), isLong || total != 0xFFFF_FFFF else { return }
            let segment = reader.integer(at: list.lowerBound + 8, listHead >> 24 == 1 ? 8 : 4, in: list) ?? 0
            guard segment > 0 else { return }
            loopCount = max(total / segment + (total % segment == 0 ? 0 : 1), 1)
        }
    }
#endif
