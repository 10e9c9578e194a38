import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// zlib and the faster libraries that replace it if they are installed write and read the same pictures.
@Suite struct PNGLibraryTests {
    private static func pictures() throws -> [Image] {
        try [PixelLayout.rgba8, .rgba16].flatMap { layout in
            try [AlphaMode.opaque, .straight].flatMap { alpha in
                try [(1, 1), (3, 200), (700, 5), (203, 97)].map { width, height in
                    try Drawings.picture(width, height, layout: layout, alpha: alpha)
                }
            }
        } + [Drawings.noise(150, 90), Drawings.noise(7, 7, seed: 2)]
    }

    @Test(arguments: [false, true], [1, 6, 9]) func zlibAndItsReplacementReadEachOthersFiles(
        zlibWrites: Bool, level: Int
    ) throws {
        for picture in try Self.pictures() {
            let options = EncodeOptions(compressionLevel: level)
            let bytes = try PNGCoder(usesZlib: zlibWrites).encode(picture, as: .png, options)
            for zlibReads in [false, true] {
                let decoded = try bytes.withUnsafeBytes { bytes in
                    try CoderRegistry.standard.decode(
                        bytes, DecodeOptions(keepsBitDepth: true), coder: PNGCoder(usesZlib: zlibReads))
                }
                #expect(decoded.error == nil && decoded.image.bytes == picture.bytes, "\(picture.size)")
            }
        }
    }

    /// The files of both have the same chunks with right checksums, and nothing follows the picture.
    @Test func bothLibrariesWriteTheSameChunks() throws {
        let picture = try Drawings.picture(300, 200)
        let names = try [false, true].map { usesZlib in
            var (names, at) = ([String](), 8)
            let file = try PNGCoder(usesZlib: usesZlib).encode(picture, as: .png, EncodeOptions())
            while at < file.count {
                let length = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
                let body = Array(file[at + 4..<at + 8 + length])
                #expect(Array(file[at + 8 + length..<at + 12 + length]) == big(Int(Checksum.crc32(body)), 4))
                let name = String(decoding: body.prefix(4), as: UTF8.self)
                if names.last != name { names.append(name) }
                at += 12 + length
            }
            #expect(at == file.count)
            return names
        }
        #expect(names[0] == names[1] && names[0].last == "IEND")
    }

    @Test(arguments: [false, true]) func piecesOfAnyLengthAreInflated(usesZlib: Bool) throws {
        let picture = try Drawings.picture(500, 300, alpha: .straight)
        for level in [1, 6] {
            let bytes = try PNGCoder().encode(picture, as: .png, EncodeOptions(compressionLevel: level))
            for most in [1, 3, 50, 5000] {
                let sink = PixelBufferSink()
                let decoder = try PNGCoder(usesZlib: usesZlib).makeDecoder(DecodeOptions()) { _ in
                    DecodePlan(sink: sink)
                }
                try pushPieces(of: bytes, randomLengths(seed: UInt64(most), most: most)) {
                    piece, _ throws(WebImageError) in _ = try decoder.push(piece)
                }
                try decoder.finish()
                #expect(sink.buffer?.rows(300) == picture.bytes)
            }
        }
    }

    /// Found by fuzzing: ISA-L counts a copy from before the beginning of the stream as done, although it has written
    /// nothing.
    @Test(arguments: [false, true], [1, 3, 100_000]) func copiesFromBeforeTheStreamAreCorruptData(
        usesZlib: Bool, length: Int
    )
        throws
    {
        // A gray picture with 24 pixels a row: four and a half rows of literals, then a copy of 258 bytes from 32 768
        // bytes before.
        let literals = (0..<112).map { $0 % 25 == 0 ? 0 : UInt8($0) }
        var stream = DeflateWriter()
        for literal in literals { stream.writeLiteral(literal) }
        stream.writeLongestCopy(distance: 29)
        stream.write((1 << 13) - 1, count: 13)
        for _ in 0..<200 { stream.writeLiteral(0) }
        let maker = PNGMaker(width: 24, height: 20, color: .grey, depth: 8, samples: [])
        let file =
            maker.header() + PNGMaker.chunk("IDAT", [0x78, 0x01] + stream.bytes + [0, 0, 0, 0])
            + PNGMaker.chunk("IEND", [])
        let sink = PixelBufferSink()
        let decoder = try PNGCoder(usesZlib: usesZlib).makeDecoder(DecodeOptions()) { _ in DecodePlan(sink: sink) }
        #expect {
            try pushPieces(of: file, { length }) { piece, _ throws(WebImageError) in _ = try decoder.push(piece) }
            try decoder.finish()
        } throws: { ($0 as? WebImageError)?.code == .corruptData }
        #expect(sink.rowsDone <= 4)
        var expected: [UInt8] = []
        for row in 0..<sink.rowsDone {
            for at in 1...24 { expected += [UInt8](repeating: literals[25 * row + at], count: 3) + [255] }
        }
        #expect(sink.buffer?.rows(sink.rowsDone) == Pixels(expected))
    }

    /// Streams that end early, that have a wrong distance, or that are not zlib streams.
    @Test(arguments: [false, true]) func damagedStreamsAreRefused(usesZlib: Bool) throws {
        let file = try PNGCoder().encode(Drawings.noise(64, 64), as: .png, EncodeOptions())
        let data = try #require(file.indices.first { file[$0...].starts(with: Array("IDAT".utf8)) })
        var random = SeededGenerator(seed: 4)
        for round in 0..<300 {
            var bytes = file
            // The first rounds damage the first byte of the stream, which states the compression method.
            let place = round < 8 ? data + 4 : data + 6 + random.below(file.count - data - 22)
            bytes[place] ^= UInt8(1 << random.below(8))
            let length = file[data - 4..<data].reduce(0) { $0 << 8 | Int($1) }
            // The chunk's checksum is corrected, so that the stream itself is refused.
            let sum = big(Int(Checksum.crc32(Array(bytes[data..<data + 4 + length]))), 4)
            bytes.replaceSubrange(data + 4 + length..<data + 8 + length, with: sum)
            let result = Result {
                try bytes.withUnsafeBytes {
                    try CoderRegistry.standard.decode($0, coder: PNGCoder(usesZlib: usesZlib))
                }
            }
            guard case .failure(let error as WebImageError) = result else { continue }
            #expect([.corruptData, .truncatedData].contains(error.code))
        }
    }
}
