import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Rows of PNGs without interlacing, whose filters are undone without libpng.
@Suite struct PNGFilterTests {
    /// Random pixels, and files that store them with a chosen filter for each row.
    private struct Filtered {
        var width: Int
        var height: Int
        /// The number of bytes of a pixel: one to four channels of 8 bits, or three or four of 16.
        var channels: Int
        var bytes: [UInt8]

        init(_ width: Int, _ height: Int, channels: Int, seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            (self.width, self.height, self.channels) = (width, height, channels)
            bytes = (0..<width * height * channels).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        }

        var expected: Pixels { Pixels((0..<width * height).flatMap(pixel)) }

        private func pixel(_ index: Int) -> [UInt8] {
            let own = Array(bytes[index * channels..<(index + 1) * channels])
            switch channels {
            case 1: return [own[0], own[0], own[0], 255]
            case 2: return [own[0], own[0], own[0], own[1]]
            case 3: return own + [255]
            case 4: return own
            case 6: return narrow(own) + [255]
            default: return narrow(own)
            }
        }

        /// Rounds each 16-bit value to the nearest 8-bit one.
        private func narrow(_ bytes: [UInt8]) -> [UInt8] {
            stride(from: 0, to: bytes.count, by: 2).map { at in
                let wide = Int(bytes[at]) << 8 | Int(bytes[at + 1])
                return UInt8((wide * 255 + 32_767) / 65_535)
            }
        }

        /// The bit depth and colour type for the header.
        private var kind: [UInt8] {
            switch channels {
            case 1: [8, 0]
            case 2: [8, 4]
            case 3: [8, 2]
            case 4: [8, 6]
            case 6: [16, 2]
            default: [16, 6]
            }
        }

        private func byte(_ row: Int, _ at: Int) -> Int {
            row < 0 || at < 0 ? 0 : Int(bytes[row * width * channels + at])
        }

        /// The predicted value of a byte by filter `kind` (PNG specification, section 9).
        private func prediction(_ kind: Int, _ row: Int, _ at: Int) -> Int {
            let (a, b) = (byte(row, at - channels), byte(row - 1, at))
            let c = at < channels ? 0 : byte(row - 1, at - channels)
            switch kind {
            case 1: return a
            case 2: return b
            case 3: return (a + b) / 2
            case 4:
                let (toA, toB, toC) = (abs(b - c), abs(a - c), abs(a + b - 2 * c))
                return toA <= toB && toA <= toC ? a : toB <= toC ? b : c
            default: return 0
            }
        }

        func rows(kind: (Int) -> Int) -> [UInt8] {
            (0..<height).flatMap { row -> [UInt8] in
                let kind = kind(row)
                return [UInt8(kind)]
                    + (0..<width * channels).map { at in
                        UInt8(truncatingIfNeeded: byte(row, at) - prediction(kind, row, at))
                    }
            }
        }

        /// - Parameter chunk: The number of data bytes in each chunk.
        func file(_ rows: [UInt8], chunk: Int = .max) -> [UInt8] {
            let header = big(width, 4) + big(height, 4) + kind + [0, 0, 0]
            var data = PNGMaker.zlib(rows)[...]
            var file = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + PNGMaker.chunk("IHDR", header)
            while !data.isEmpty {
                let part = data.prefix(chunk)
                data = data.dropFirst(part.count)
                file += PNGMaker.chunk("IDAT", Array(part))
            }
            return file + PNGMaker.chunk("IEND", [])
        }
    }

    @Test(arguments: [1, 2, 3, 4, 6, 8], 0...4) func everyFilterIsUndone(channels: Int, kind: Int) {
        for (width, height) in [(1, 1), (2, 3), (5, 4), (16, 9), (67, 31)] {
            let picture = Filtered(width, height, channels: channels, seed: UInt64(width))
            let result = decode(picture.file(picture.rows { _ in kind }))
            #expect(result.error == nil && result.pixels == picture.expected, "\(width)x\(height)")
        }
    }

    /// Two rows are decoded at once if their filters allow it.
    @Test(arguments: [3, 4], 0...4) func everyFilterFollowsEveryOther(channels: Int, first: Int) {
        for second in 0...4 {
            for (width, height) in [(1, 2), (2, 4), (3, 5), (33, 40)] {
                let picture = Filtered(width, height, channels: channels, seed: UInt64(width + second))
                let result = decode(picture.file(picture.rows { $0 % 2 == 0 ? first : second }))
                #expect(result.error == nil && result.pixels == picture.expected, "\(width)x\(height), \(second)")
            }
        }
    }

    /// The data comes in chunks and pieces of any length, with another filter in each row.
    @Test(arguments: [1, 2, 3, 4, 6, 8]) func chunksAndPiecesDoNotMatter(channels: Int) {
        let picture = Filtered(40, 700, channels: channels, seed: 5)
        let rows = picture.rows { $0 % 5 }
        for chunk in [1, 7, 1000, 100_000] {
            let result = decode(
                picture.file(rows, chunk: chunk), length: randomLengths(seed: UInt64(chunk), most: 3000))
            #expect(result.error == nil && result.pixels == picture.expected, "chunks of \(chunk)")
        }
    }

    @Test func damageIsToldAndRowsBeforeItAreThere() {
        let picture = Filtered(20, 50, channels: 3, seed: 9)
        let rows = picture.rows { $0 % 5 }
        let file = picture.file(rows)
        var wrongFilter = rows
        wrongFilter[61 * 30] = 5
        let damaged = decode(picture.file(wrongFilter))
        #expect(damaged.error?.code == .corruptData)
        var wrongSum = file
        wrongSum[file.count - 13] ^= 1
        #expect(decode(wrongSum).error?.code == .corruptData)
        let cut = decode(Array(file.prefix(file.count / 2)))
        #expect(cut.error?.code == .truncatedData)
        let few = decode(picture.file(Array(rows.prefix(61 * 20))))
        #expect(few.error?.code == .corruptData)
    }
}
