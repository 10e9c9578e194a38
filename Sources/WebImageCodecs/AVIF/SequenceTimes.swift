#if AVIF
    /// Removes the times of creation and modification from an image sequence, so that equal pictures make equal files.
    /// libavif sets them to the time of writing.
    enum SequenceTimes {
        /// Sets them to 0 in the headers of the movie, its tracks and their media (ISO/IEC 14496-12, 8.2.2, 8.3.2,
        /// 8.4.2).
        static func remove(from bytes: inout [UInt8]) {
            let places = bytes.withUnsafeBytes { bytes in
                let reader = BoxReader(bytes: bytes)
                guard let movie = reader.first(["moov"], in: 0..<bytes.count) else { return [Range<Int>]() }
                let tracks = reader.boxes(in: movie).filter { $0.type == "trak" }.map(\.content)
                let headers =
                    [reader.first(["mvhd"], in: movie)]
                    + tracks.flatMap { [reader.first(["tkhd"], in: $0), reader.first(["mdia", "mdhd"], in: $0)] }
                return headers.compactMap { $0.flatMap { times(reader, $0) } }
            }
            for place in places { bytes.replaceSubrange(place, with: repeatElement(0, count: place.count)) }
        }

        /// Where a header has its two times; nil if it is too short for them.
        private static func times(_ reader: BoxReader, _ header: Range<Int>) -> Range<Int>? {
            guard let (version, _, rest) = reader.full(header) else { return nil }
            let length = version == 1 ? 16 : 8
            return rest.count < length ? nil : rest.prefix(length)
        }
    }
#endif
