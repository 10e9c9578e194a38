import WebImageTesting

#if TIFF
    /// Makes TIFF files of one strip or of tiles, without libtiff.
    struct TIFFMaker {
        var width: Int
        var height: Int
        var depth = 8
        /// The photometric interpretation: 0 for white is zero, 1 for black is zero, 2 for RGB, 3 for a palette, 5 for
        /// CMYK, nil for no such tag.
        var photometric: Int?
        var samples: Int
        /// The kind of the extra sample: 1 for premultiplied alpha, 2 for straight alpha. Nil for no such tag.
        var extraSample: Int?
        var sampleFormat: Int?
        var isBigEndian = false
        var isBig = false
        var orientation: Int?
        var profile: [UInt8]?
        var tile: Int?
        var isPlanar = false
        /// How many pixels across and down share their chroma.
        var subsampling: [Int]?
        /// The red values of all indices, then the green ones, then the blue ones.
        var palette: [Int]?
        /// `isPacked`: whether the samples are compressed with PackBits, in literal runs only. `isDataLast`: whether
        /// the samples come after the tags.
        var isPacked = false
        var isDataLast = false
        /// Whether rows hold differences between neighbours (the horizontal predictor), in uncompressed zlib blocks.
        var hasDifferences = false
        /// By how many bytes the stated length of each strip or tile exceeds the true one.
        var excess = 0
        /// The offset of the next page, 0 for none.
        var next = 0
        /// The number of bytes of other pages before this one.
        var base = 0
        /// The bytes of the strip in another compression, which replace `values`.
        var coded: (compression: Int, bytes: [UInt8])?
        /// One value for each pixel and sample.
        var values: [Int]

        /// The whole file: the header, the pixels and the tags, in this order unless `isDataLast`.
        func file() -> [UInt8] {
            let header = number(isBigEndian ? 0x4D4D : 0x4949, 2) + number(isBig ? 43 : 42, 2)
            let start = base + (isBig ? 16 : 8)
            let blocks = coded.map { [$0.bytes] } ?? (isPlanar ? planes : blocks)
            let data = blocks.flatMap { $0 }
            let isFirst = !isDataLast
            let bare = directory(tags(blocks, from: start), at: start)
            let tags = tags(blocks, from: isFirst ? start : start + bare.count)
            let ends = isFirst ? data + directory(tags, at: start + data.count) : directory(tags, at: start) + data
            return header + (isBig ? number(8, 2) + number(0, 2) : [])
                + number(isFirst ? start + data.count : start, isBig ? 8 : 4) + ends
        }

        private func tags(_ blocks: [[UInt8]], from start: Int) -> [(id: Int, type: Int, values: [Int])] {
            let offsets = blocks.indices.map { start + $0 * blocks[0].count }
            let lengths = blocks.map { $0.count + excess }
            var tags: [(id: Int, type: Int, values: [Int])] = [
                (256, 4, [width]), (257, 4, [height]), (258, 3, Array(repeating: depth, count: samples)),
                (259, 3, [coded?.compression ?? (isPacked ? 32_773 : hasDifferences ? 8 : 1)]), (277, 3, [samples]),
            ]
            if let photometric { tags.append((262, 3, [photometric])) }
            if let orientation { tags.append((274, 3, [orientation])) }
            if let tile {
                tags += [(322, 4, [tile]), (323, 4, [tile]), (324, 4, offsets), (325, 4, lengths)]
            } else {
                tags += [(273, 4, offsets), (278, 4, [height]), (279, 4, lengths)]
            }
            if isPlanar { tags.append((284, 3, [2])) }
            if hasDifferences { tags.append((317, 3, [2])) }
            if let palette {
                tags.append(
                    (
                        320, 3,
                        (0..<3).flatMap { first in stride(from: first, to: palette.count, by: 3).map { palette[$0] } }
                    ))
            }
            if let extraSample { tags.append((338, 3, [extraSample])) }
            if let sampleFormat { tags.append((339, 3, Array(repeating: sampleFormat, count: samples))) }
            if let subsampling { tags.append((530, 3, subsampling)) }
            if let profile { tags.append((34_675, 7, profile.map(Int.init))) }
            return tags.sorted { $0.id < $1.id }
        }

        private func directory(_ tags: [(id: Int, type: Int, values: [Int])], at offset: Int) -> [UInt8] {
            let (countBytes, wordBytes) = isBig ? (8, 8) : (2, 4)
            var out = number(tags.count, countBytes)
            let end = offset + countBytes + tags.count * (4 + 2 * wordBytes) + wordBytes
            var outside: [UInt8] = []
            for tag in tags {
                let bytes = tag.values.flatMap { number($0, [3: 2, 4: 4, 7: 1][tag.type] ?? 1) }
                out += number(tag.id, 2) + number(tag.type, 2) + number(tag.values.count, wordBytes)
                if bytes.count <= wordBytes {
                    out += bytes + [UInt8](repeating: 0, count: wordBytes - bytes.count)
                } else {
                    out += number(end + outside.count, wordBytes)
                    outside += bytes
                }
            }
            return out + number(next, wordBytes) + outside
        }

        /// The offset of the tags of an uncompressed page without tiles.
        var directoryOffset: Int { base + (isBig ? 16 : 8) + values.count * depth / 8 }

        private var blocks: [[UInt8]] { tile.map { tiles(of: $0) } ?? [packed(values)] }

        /// The strips or tiles of each sample separately.
        private var planes: [[UInt8]] {
            (0..<samples).flatMap { sample -> [[UInt8]] in
                var plane = self
                (plane.samples, plane.isPlanar) = (1, false)
                plane.values = stride(from: sample, to: values.count, by: samples).map { values[$0] }
                return plane.blocks
            }
        }

        private func tiles(of side: Int) -> [[UInt8]] {
            stride(from: 0, to: height, by: side).flatMap { top in
                stride(from: 0, to: width, by: side).map { left in
                    packed(
                        (0..<side * side * samples).map { index in
                            let (x, y) = (left + index / samples % side, top + index / samples / side)
                            return x < width && y < height ? values[(y * width + x) * samples + index % samples] : 0
                        })
                }
            }
        }

        /// Samples of whole bytes in the file's byte order, others from the highest bit on. Each row begins with a new
        /// byte.
        private func packed(_ values: [Int]) -> [UInt8] {
            let bytes = bytes(of: values)
            if hasDifferences { return stored(differences(bytes)) }
            guard isPacked else { return bytes }
            // Each row is packed separately (TIFF 6.0, section 9).
            let rowLength = bytes.count * (tile ?? width) * samples / values.count
            return stride(from: 0, to: bytes.count, by: rowLength).flatMap { row in
                stride(from: row, to: row + rowLength, by: 128).flatMap { start in
                    let run = bytes[start..<min(start + 128, row + rowLength)]
                    return [UInt8(run.count - 1)] + run
                }
            }
        }

        /// For samples of one byte: each minus that of the pixel before it in the row.
        private func differences(_ bytes: [UInt8]) -> [UInt8] {
            let rowLength = (tile ?? width) * samples
            return bytes.indices.map { $0 % rowLength < samples ? bytes[$0] : bytes[$0] &- bytes[$0 - samples] }
        }

        private func stored(_ bytes: [UInt8]) -> [UInt8] {
            let blocks = stride(from: 0, to: bytes.count, by: 60_000).flatMap { start -> [UInt8] in
                let block = bytes[start..<min(start + 60_000, bytes.count)]
                let length = UInt16(block.count)
                let isLast: UInt8 = start + block.count == bytes.count ? 1 : 0
                return [isLast, UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8)]
                    + block
            }
            let sums = bytes.reduce((1, 0)) { (($0.0 + Int($1)) % 65_521, ($0.1 + $0.0 + Int($1)) % 65_521) }
            return [0x78, 0x01] + blocks + big(sums.1, 2) + big(sums.0, 2)
        }

        private func bytes(of values: [Int]) -> [UInt8] {
            guard depth % 8 != 0 else { return values.flatMap { number($0, depth / 8) } }
            let length = (tile ?? width) * samples
            return stride(from: 0, to: values.count, by: length).flatMap { start -> [UInt8] in
                let bits = values[start..<start + length].flatMap { value in
                    (0..<depth).reversed().map { value >> $0 & 1 }
                }
                return stride(from: 0, to: bits.count, by: 8).map { first in
                    (0..<8).reduce(0) { $0 << 1 | UInt8(first + $1 < bits.count ? bits[first + $1] : 0) }
                }
            }
        }

        private func number(_ value: Int, _ bytes: Int) -> [UInt8] {
            isBigEndian ? big(value, bytes) : big(value, bytes).reversed()
        }
    }

    extension TIFFMaker {
        /// A picture of random samples.
        static func random(
            _ width: Int, _ height: Int, photometric: Int = 2, samples: Int = 3, depth: Int = 8, seed: UInt64 = 1
        ) -> TIFFMaker {
            var generator = SeededGenerator(seed: seed)
            let values = (0..<width * height * samples).map { _ in Int.random(in: 0..<1 << depth, using: &generator) }
            return TIFFMaker(
                width: width, height: height, depth: depth, photometric: photometric, samples: samples, values: values)
        }

        /// A file of several pages.
        ///
        /// - Parameter last: The number of the page that follows the last one; nil for none.
        static func pages(_ makers: [TIFFMaker], last: Int? = nil) -> [UInt8] {
            var makers = makers
            for index in makers.indices.dropFirst() {
                makers[index].base = makers[index - 1].base + makers[index - 1].file().count
                makers[index - 1].next = makers[index].directoryOffset
            }
            if let last { makers[makers.count - 1].next = makers[last].directoryOffset }
            return makers.flatMap { $0.file() }
        }
    }
#endif
