#if HEIF
    import WebImageCore

    /// Writes the file of a HEIC image sequence (ISO/IEC 23008-12, 7): the first frame as a still for programs that
    /// read no sequences, and a track of all frames, which may have another one with their alpha.
    struct HEICSequenceWriter {
        /// The pictures of a track.
        struct Track {
            var description: HEICStill.Layer.Description
            /// Their positions in ``data``. Equal pictures may share one.
            var pictures: [Range<Int>]
        }

        /// The file of the first frame. Its items lie at the beginning of ``data``.
        let still: HEICStill
        let size: PixelSize
        let colors: Track
        let alpha: Track?
        /// How long each frame is shown.
        let milliseconds: [Int]
        /// 0: forever.
        let loopCount: Int
        let data: [UInt8]

        /// The longest file, because positions have four bytes.
        private static let longest = Int(UInt32.max)
        private static let millisecondsInSecond = 1000
        /// The matrix that leaves the pictures as they are (ISO/IEC 14496-12, 6.2.2).
        private static let matrix = [1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30].flatMap { BoxWriter.number($0, 4) }
        private static let alphaType = "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"

        /// - Throws: `cannotEncode` if a file would be too long.
        static func check(byteCount: Int) throws(WebImageError) {
            guard byteCount <= longest else {
                throw WebImageError(
                    .cannotEncode, "a HEIC sequence has less than 4 GiB here", format: .heicSequence)
            }
        }

        /// - Throws: `cannotEncode`.
        func file() throws(WebImageError) -> [UInt8] {
            // Neither box changes its length with the position of the data.
            let start = try type.count + still.meta(dataAt: 0).count + movie(dataAt: 0).count + 8
            try Self.check(byteCount: start + data.count)
            var file = type
            file.reserveCapacity(start + data.count)
            file += try still.meta(dataAt: start)
            file += movie(dataAt: start)
            file += BoxWriter.number(data.count + 8, 4) + Array("mdat".utf8)
            file += data
            return file
        }

        private var type: [UInt8] {
            let parameters = colors.description.parameters
            // Profiles with more bits or colours than Main have brands of their own (ISO/IEC 23008-12, B.4).
            let isMain = parameters.lumaDepth == 8 && parameters.chroma == 1
            let brands = isMain ? "hevcmsf1iso8mif1heic" : "hevxmsf1iso8mif1heix"
            return BoxWriter.box("ftyp", Array(brands.prefix(4).utf8) + BoxWriter.number(0, 4) + Array(brands.utf8))
        }

        /// The duration of all frames once.
        private var segment: Int { milliseconds.reduce(0, +) }

        /// The duration of all repetitions, for which the only edit is repeated (ISO/IEC 14496-12, 8.6.6). All bits set
        /// means forever.
        private var total: Int {
            guard loopCount > 0 else { return -1 }
            let (total, overflow) = segment.multipliedReportingOverflow(by: loopCount)
            return overflow ? .max : total
        }

        private func full(_ type: String, version: Int = 0, flags: Int = 0, _ content: [UInt8]) -> [UInt8] {
            BoxWriter.box(type, BoxWriter.number(version << 24 | flags, 4) + content)
        }

        private func movie(dataAt start: Int) -> [UInt8] {
            let n = BoxWriter.number
            var head =
                n(0, 16) + n(Self.millisecondsInSecond, 4) + n(total, 8) + n(1 << 16, 4) + n(1 << 8, 2) + n(0, 10)
            head += Self.matrix + n(0, 24) + n(alpha == nil ? 2 : 3, 4)
            var content = full("mvhd", version: 1, head) + track(colors, isAlpha: false, dataAt: start)
            if let alpha { content += track(alpha, isAlpha: true, dataAt: start) }
            return BoxWriter.box("moov", content)
        }

        private func track(_ track: Track, isAlpha: Bool, dataAt start: Int) -> [UInt8] {
            let n = BoxWriter.number
            var head = n(0, 16) + n(isAlpha ? 2 : 1, 4) + n(0, 4) + n(total, 8) + n(0, 16)
            head += Self.matrix + n(size.width << 16, 4) + n(size.height << 16, 4)
            // Alpha is not presented by itself.
            var content = full("tkhd", version: 1, flags: isAlpha ? 1 : 3, head)
            if isAlpha { content += BoxWriter.box("tref", BoxWriter.box("auxl", n(1, 4))) }
            let edit = n(1, 4) + n(segment, 8) + n(0, 8) + n(1 << 16, 4)
            content += BoxWriter.box("edts", full("elst", version: 1, flags: 1, edit))
            // "und", an undetermined language, in three times five bits.
            var media = full(
                "mdhd", version: 1,
                n(0, 16) + n(Self.millisecondsInSecond, 4) + n(segment, 8) + n(0x55C4, 2) + n(0, 2))
            media += full("hdlr", n(0, 4) + Array((isAlpha ? "auxv" : "pict").utf8) + n(0, 13))
            let own = full("dref", n(1, 4) + full("url ", flags: 1, []))
            media += BoxWriter.box(
                "minf",
                full("vmhd", flags: 1, n(0, 8)) + BoxWriter.box("dinf", own)
                    + BoxWriter.box("stbl", tables(track, isAlpha: isAlpha, dataAt: start)))
            return BoxWriter.box("trak", content + BoxWriter.box("mdia", media))
        }

        /// The sample tables of a track. There is no `stss`, because no picture needs another one.
        private func tables(_ track: Track, isAlpha: Bool, dataAt start: Int) -> [UInt8] {
            let n = BoxWriter.number
            let (count, delays) = (track.pictures.count, delays)
            let entry = BoxWriter.box("hvc1", entry(track.description, isAlpha: isAlpha))
            return full("stsd", n(1, 4) + entry)
                + full("stts", n(delays.count, 4) + delays.flatMap { n($0.count, 4) + n($0.milliseconds, 4) })
                // Each picture is a chunk by itself, so that it can lie anywhere.
                + full("stsc", n(1, 4) + n(1, 4) + n(1, 4) + n(1, 4))
                + full("stsz", n(0, 4) + n(count, 4) + track.pictures.flatMap { n($0.count, 4) })
                + full("stco", n(count, 4) + track.pictures.flatMap { n(start + $0.lowerBound, 4) })
        }

        /// Consecutive frames that are shown equally long.
        private var delays: [(count: Int, milliseconds: Int)] {
            milliseconds.reduce(into: []) { runs, next in
                if let last = runs.last, last.milliseconds == next {
                    runs[runs.count - 1].count += 1
                } else {
                    runs.append((1, next))
                }
            }
        }

        /// The description of a track's pictures (ISO/IEC 14496-12, 12.1.3).
        private func entry(_ description: HEICStill.Layer.Description, isAlpha: Bool) -> [UInt8] {
            let n = BoxWriter.number
            let coded = description.parameters.size
            var content = n(0, 6) + n(1, 2) + n(0, 16) + n(coded.width, 2) + n(coded.height, 2)
            // 72 dots per inch, one picture a sample, a name of no characters, and 24 bits.
            content += n(72 << 16, 4) + n(72 << 16, 4) + n(0, 4) + n(1, 2) + n(0, 32) + n(24, 2) + n(0xFFFF, 2)
            content += BoxWriter.box("hvcC", description.configuration)
            // Every picture is coded by itself (ISO/IEC 23008-12, 7.2.3).
            content += full("ccst", n(0xC000_0000, 4))
            content += description.colors
            let frame = description.frame
            if frame.size != coded {
                // Twice the distance of the shown part's centre from that of the whole.
                let x = frame.columns.lowerBound + frame.columns.upperBound - coded.width
                let y = frame.rows.lowerBound + frame.rows.upperBound - coded.height
                let crop = [frame.size.width, 1, frame.size.height, 1, x, 2, y, 2]
                content += BoxWriter.box("clap", crop.flatMap { n($0, 4) })
            }
            if isAlpha { content += full("auxi", Array(Self.alphaType.utf8) + [0]) }
            return content
        }
    }
#endif
