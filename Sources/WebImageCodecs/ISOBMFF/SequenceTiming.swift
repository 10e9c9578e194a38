#if AVIF || HEIF
    /// The durations of a sequence's frames and its repetitions. libavif 0.11 does not return the latter, and the
    /// former only slowly: its own function reads all earlier entries again for each frame.
    struct SequenceTiming {
        /// 0: forever, also without an edit list. Browsers play such sequences without end, and before edit lists were
        /// used in them there was no way to state a number (libavif's `AVIF_REPETITION_COUNT_UNKNOWN`).
        private(set) var loopCount = 0
        /// The frames' delays, in the order of showing. Empty if the track does not state them.
        private(set) var delays: [Duration] = []

        /// - Parameter frames: how many frames the sequence has.
        init(_ track: SequenceTrack?, frames: Int, _ reader: BoxReader) {
            guard let track, let media = reader.first(["mdia", "mdhd"], in: track.range),
                let version = reader.integer(at: media.lowerBound, 1, in: media),
                let scale = reader.integer(at: media.lowerBound + (version == 1 ? 20 : 12), 4, in: media), scale > 0,
                let table = track.table("stts", reader)
            else { return }
            var ticks = Self.runs(table.content, frames: frames, isSigned: false, reader)
            if let offsets = track.table("ctts", reader) {
                // Version 0 has signed offsets, too, in many files.
                ticks = Self.inOrder(ticks, Self.runs(offsets.content, frames: frames, isSigned: true, reader))
            }
            delays = ticks.map { ticks in
                let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: scale)
                return .seconds(Int64(seconds)) + .nanoseconds(Int64(rest) * 1_000_000_000 / Int64(scale))
            }
            readRepetition(track.range, reader)
        }

        /// `stts` and `ctts` (ISO/IEC 14496-12, 8.6.1): runs of frames with the same number; the last one also holds
        /// for further frames.
        private static func runs(_ table: Range<Int>, frames: Int, isSigned: Bool, _ reader: BoxReader) -> [Int] {
            guard let count = reader.integer(at: table.lowerBound, 4, in: table) else { return [] }
            var (numbers, last): ([Int], Int) = ([], 0)
            for index in 0..<count {
                let at = table.lowerBound + 4 + index * 8
                // A table may claim four thousand million runs.
                guard numbers.count < frames, let run = reader.integer(at: at, 4, in: table),
                    let number = reader.integer(at: at + 4, 4, in: table)
                else { break }
                last = isSigned ? Int(Int32(truncatingIfNeeded: number)) : number
                numbers += repeatElement(last, count: min(run, frames - numbers.count))
            }
            return numbers + repeatElement(last, count: frames - numbers.count)
        }

        /// Converts the durations of frames from the order of decoding to that of showing.
        ///
        /// - Parameter offsets: by how much later than it is decoded each frame is shown.
        private static func inOrder(_ ticks: [Int], _ offsets: [Int]) -> [Int] {
            guard ticks.count == offsets.count, let last = ticks.last else { return ticks }
            var now = 0
            var times: [Int] = []
            for (tick, offset) in zip(ticks, offsets) {
                times.append(now + offset)
                now += tick
            }
            times.sort()
            return zip(times, times.dropFirst()).map { $1 - $0 } + [last]
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
            // All bits set mean forever. In 64 bits that does not fit an `Int`; ffmpeg sets all bits but the first.
            guard let total = reader.integer(at: at, length, in: header), total != (isLong ? .max : 0xFFFF_FFFF) else {
                return
            }
            let segment = reader.integer(at: list.lowerBound + 8, listHead >> 24 == 1 ? 8 : 4, in: list) ?? 0
            guard segment > 0 else { return }
            loopCount = max(total / segment + (total % segment == 0 ? 0 : 1), 1)
        }
    }
#endif
