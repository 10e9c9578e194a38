import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@Suite struct EXIFOrientationTests {
    @Test(arguments: Orientation.allCases)
    func aWrittenOrientationIsReadBack(_ orientation: Orientation) {
        #expect(read(EXIFOrientation.block(orientation)) == orientation)
        #expect(read(littleEndian(orientation.rawValue)) == orientation)
        #expect(read(Array("Exif".utf8) + [0, 0] + littleEndian(orientation.rawValue)) == orientation)
    }

    @Test(arguments: [0, 9, 255])
    func anInvalidValueCountsAsUpright(_ value: UInt8) {
        #expect(read(littleEndian(value)) == .up)
    }

    @Test func aValueOfAnotherTypeCountsAsUpright() {
        var block = EXIFOrientation.block(.left)
        for type: UInt8 in [1, 2, 5, 7, 11] {
            block[13] = type
            #expect(read(block) == .up)
        }
    }

    @Test(arguments: Orientation.allCases) func aValueOf32BitsIsTaken(_ orientation: Orientation) {
        var block = EXIFOrientation.block(orientation)
        block[13] = 4
        block.replaceSubrange(18..<22, with: [0, 0, 0, orientation.rawValue])
        #expect(read(block) == orientation)
        block[19] = 1
        #expect(read(block) == .up)
        var little = littleEndian(orientation.rawValue)
        little[26] = 4
        #expect(read(little) == orientation)
    }

    /// A camera by Panasonic writes the orientation as a signed value of 32 bits.
    @Test(arguments: Orientation.allCases) func aValueWithASignIsTaken(_ orientation: Orientation) {
        for (type, value) in [(8, [0, orientation.rawValue, 0, 0]), (9, [0, 0, 0, orientation.rawValue])]
            as [(UInt8, [UInt8])]
        {
            var block = EXIFOrientation.block(orientation)
            block[13] = type
            block.replaceSubrange(18..<22, with: value)
            #expect(read(block) == orientation)
        }
    }

    @Test func aDirectoryOutsideTheBlockCountsAsUpright() {
        for offset in [[0x00, 0x00, 0x00, 0x1A], [0x7F, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]] {
            var block = EXIFOrientation.block(.left)
            block.replaceSubrange(4..<8, with: offset)
            #expect(read(block) == .up)
        }
    }

    @Test func anyBytesGiveAnAnswer() {
        var generator = SeededGenerator(seed: 5)
        let block = EXIFOrientation.block(.left)
        var others = 0
        for _ in 0..<20_000 {
            var bytes = Array(block.prefix(Int.random(in: 0...block.count, using: &generator)))
            for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if read(bytes) != .left { others += 1 }
        }
        #expect(others > 1000)
    }

    private func read(_ block: [UInt8]) -> Orientation { block.withUnsafeBytes { EXIFOrientation.read($0) } }

    private func littleEndian(_ value: UInt8) -> [UInt8] {
        let other: [UInt8] = [0x0F, 0x01, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        let entry: [UInt8] = [0x12, 0x01, 3, 0, 1, 0, 0, 0, value, 0, 0, 0]
        return [0x49, 0x49, 0x2A, 0, 10, 0, 0, 0, 0xAA, 0xAA, 2, 0] + other + entry + [0, 0, 0, 0]
    }
}
