import Testing
import WebImageCodecs
import WebImageCore

/// Which of an icon's entries is decoded for a plan with a size.
@Suite struct IconSizeTests {
    private static func png(_ side: Int, _ blue: UInt8, height: Int? = nil) throws -> IconMaker.Entry {
        let size = PixelSize(width: side, height: height ?? side)
        let image = try Image(size: size, alpha: .straight) { bytes in
            for index in bytes.indices { bytes[index] = [0, 0, blue, 255][index % 4] }
        }
        let data = try PNGCoder().encode(image, as: .png, EncodeOptions())
        return IconMaker.Entry(width: size.width, height: size.height, depth: 32, data: data)
    }

    private static func bitmap(_ side: Int, _ blue: UInt8, bits: Int = 32) -> IconMaker.Entry {
        let pixel: [UInt8] = bits == 32 ? [blue, 0, 0, 255] : [blue, 0, 0]
        let row = (0..<side).flatMap { _ in pixel }
        let padded = row + [UInt8](repeating: 0, count: (4 - row.count % 4) % 4)
        let mask = [UInt8](repeating: 0, count: (side + 31) / 32 * 4)
        let rows = [[UInt8]](repeating: padded, count: side) + [[UInt8]](repeating: mask, count: side)
        return IconMaker.Entry(
            width: side, height: side, depth: bits, data: IconMaker.bitmap(side, side, bits: bits, rows: rows))
    }

    private struct Answer: Equatable {
        var size: PixelSize
        var blue: UInt8
        var others: [Int]
    }

    private static func decode(
        _ entries: [IconMaker.Entry], _ side: Int?, length: () -> Int = { .max }
    ) throws -> Answer {
        let sink = StrictSink()
        let decoder = try ICOCoder().makeDecoder(DecodeOptions()) { (_) throws(WebImageError) in
            DecodePlan(size: side.map { PixelSize(width: $0, height: $0) }, sink: sink)
        }
        var rest = IconMaker(entries: entries).bytes()[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(length()))
            rest = rest.dropFirst(piece.count)
            try piece.withUnsafeBytes { _ = try decoder.push($0) }
        }
        try decoder.finish()
        let header = try #require(decoder.header)
        let largest = entries.map(\.width).max()
        #expect(header.size.width == largest)
        let format = try #require(sink.format)
        #expect(sink.rowsDone == format.size.height)
        return Answer(size: format.size, blue: sink.bytes[2], others: header.otherSizes.map(\.width))
    }

    @Test(arguments: [1, 30, 5000])
    func theEntryThatThePlanNamesIsDecoded(_ most: Int) throws {
        let entries = [
            Self.bitmap(16, 1), try Self.png(64, 2), try Self.png(32, 3), Self.bitmap(48, 4),
            Self.bitmap(32, 5, bits: 24),
        ]
        for (side, size, blue) in [(nil, 64, 2), (16, 16, 1), (32, 32, 3), (48, 48, 4), (64, 64, 2), (20, 64, 2)]
            as [(Int?, Int, UInt8)]
        {
            for entries in [entries, entries.reversed()] {
                let answer = try Self.decode(entries, side, length: randomLengths(seed: 3, most: most))
                let expected = Answer(size: PixelSize(width: size, height: size), blue: blue, others: [16, 32, 48])
                #expect(answer == expected)
            }
        }
    }

    /// The size of an entry was once read from its first chunk, whatever that was, and then another one was decoded
    /// without a look at the memory.
    @Test func theSizeOfAnEntryIsThatOfItsHeader() throws {
        var lying = try Self.png(128, 7)
        lying.data.insert(contentsOf: PNGMaker.chunk("teSt", big(32, 4) + big(32, 4)), at: 8)
        (lying.width, lying.height) = (32, 32)
        let answer = try Self.decode([try Self.png(64, 1), lying], 32)
        #expect(answer == Answer(size: PixelSize(width: 64, height: 64), blue: 1, others: []))
    }

    @Test func amongEqualsTheDeepestIsTaken() throws {
        let entries = [Self.bitmap(64, 1), Self.bitmap(16, 2, bits: 24), Self.bitmap(16, 3), Self.bitmap(16, 4)]
        #expect(try Self.decode(entries, 16).blue == 3)
    }

    @Test func entriesOfAnotherShapeOrWithAWrongSizeAreNotChosen() throws {
        // An entry with another aspect ratio, and one whose size in the table is wrong.
        var lying = Self.bitmap(16, 2)
        (lying.width, lying.height) = (32, 32)
        let answer = try Self.decode([try Self.png(64, 1), try Self.png(32, 3, height: 16), lying], 32)
        #expect(answer == Answer(size: PixelSize(width: 64, height: 64), blue: 1, others: [16]))
    }
}
