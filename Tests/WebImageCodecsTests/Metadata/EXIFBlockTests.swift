import Testing
import WebImageCore

@testable import WebImageCodecs
import WebImageTesting

@Suite struct EXIFBlockTests {
    static let facts = EXIFBlock.Facts(
        orientation: .up, density: nil, isDensityToldElsewhere: true, size: PixelSize(width: 30, height: 20),
        isStandardColor: false)

    static let full = EXIFMaker(
        orientation: 6, density: (300, 300), size: (4000, 3000), hasThumbnail: true)

    @Test(arguments: [true, false])
    func orientationDensityAndSizeAreRead(isBigEndian: Bool) throws {
        var maker = Self.full
        maker.isBigEndian = isBigEndian
        let block = try #require(EXIFBlock(maker.block()))
        #expect(block.orientation == .right && block.density == PixelDensity(300))
        maker.unit = 3
        #expect(EXIFBlock(maker.block())?.density == PixelDensity(762))
        maker.unit = 1
        #expect(EXIFBlock(maker.block())?.density == nil)
        #expect(EXIFBlock(Array("Exif".utf8) + [0, 0] + maker.block())?.bytes == maker.block())
        #expect(EXIFBlock([]) == nil && EXIFBlock(Array("no block at all".utf8)) == nil)
    }

    @Test(arguments: [true, false])
    func aCorrectBlockIsUnchanged(isBigEndian: Bool) {
        let block = EXIFMaker(isBigEndian: isBigEndian, density: (72, 72)).block()
        #expect(EXIFBlock.bytes(block, Self.facts) == block)
    }

    @Test(arguments: [true, false], Orientation.allCases)
    func theOrientationIsChangedOrAdded(isBigEndian: Bool, orientation: Orientation) throws {
        var facts = Self.facts
        facts.orientation = orientation
        for stored in [nil, 0, 1, 6, 8, 77] {
            let maker = EXIFMaker(isBigEndian: isBigEndian, orientation: stored, density: (90, 91))
            let block = try #require(EXIFBlock(EXIFBlock.bytes(maker.block(), facts)))
            #expect(block.orientation == orientation, "\(stored ?? -1)")
            #expect(block.density == PixelDensity(horizontal: 90, vertical: 91))
            #expect(stored == nil || block.bytes.count == maker.block().count)
        }
    }

    @Test(arguments: [true, false])
    func theThumbnailIsRemoved(isBigEndian: Bool) throws {
        var maker = Self.full
        maker.isBigEndian = isBigEndian
        #expect(contains(maker.block(), EXIFMaker.thumbnail))
        let bytes = EXIFBlock.bytes(maker.block(), Self.facts)
        #expect(!contains(bytes, Array(EXIFMaker.thumbnail.prefix(8))))
        #expect(bytes.count == maker.block().count - EXIFMaker.thumbnail.count)
        #expect(try #require(EXIFBlock(bytes)).density == PixelDensity(300))
        // If the thumbnail is not at the end of the block, its bytes are overwritten and the rest stays.
        let longer = EXIFBlock.bytes(maker.block() + [7, 7, 7], Self.facts)
        #expect(!contains(longer, Array(EXIFMaker.thumbnail.prefix(8))) && longer.suffix(3) == [7, 7, 7])
    }

    @Test func sizeAndColoursAreThoseOfTheNewFile() {
        var maker = Self.full
        var facts = Self.facts
        facts.isStandardColor = true
        facts.orientation = .right
        maker.hasThumbnail = false
        let bytes = EXIFBlock.bytes(maker.block(), facts)
        // Each line is an entry: tag, type, count and value.
        #expect(contains(bytes, [0xA0, 0x01, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0]))
        #expect(contains(bytes, [0xA0, 0x02, 0, 4, 0, 0, 0, 1, 0, 0, 0, 30]))
        #expect(contains(bytes, [0xA0, 0x03, 0, 4, 0, 0, 0, 1, 0, 0, 0, 20]))
        #expect(bytes.count == maker.block().count)
    }

    @Test func densityIsAddedOnlyWhereItIsMissing() throws {
        var facts = Self.facts
        facts.density = PixelDensity(horizontal: 96.5, vertical: 48)
        #expect(EXIFBlock.bytes(nil, facts).isEmpty)
        facts.isDensityToldElsewhere = false
        #expect(EXIFBlock(EXIFBlock.bytes(nil, facts))?.density == facts.density)
        let block = EXIFMaker(orientation: 3).block()
        let bytes = EXIFBlock.bytes(block, facts)
        #expect(EXIFBlock(bytes)?.density == facts.density && EXIFBlock(bytes)?.orientation == .up)
        #expect(contains(bytes, Array("cam".utf8)))
        // A block with another density is corrected, even if the density is also stated elsewhere.
        facts.isDensityToldElsewhere = true
        let other = EXIFMaker(orientation: 1, density: (72, 72)).block()
        #expect(EXIFBlock(EXIFBlock.bytes(other, facts))?.density == facts.density)
    }

    @Test func noBlockIsWrittenIfThereIsNothingToStore() {
        #expect(EXIFBlock.bytes(nil, Self.facts).isEmpty)
        #expect(EXIFBlock.bytes([1, 2, 3], Self.facts).isEmpty)
    }

    @Test(arguments: [true, false])
    func anyBlockEndsInOneThatTellsTheRightOrientation(isBigEndian: Bool) {
        var maker = Self.full
        maker.isBigEndian = isBigEndian
        let whole = maker.block()
        for length in 0...whole.count { check(Array(whole.prefix(length)), Orientation(tag: length % 8 + 1)) }
        var generator = SeededGenerator(seed: isBigEndian ? 3 : 4)
        var changed = 0
        for round in 0..<4000 {
            var block = whole
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let index = Int.random(in: 4..<(round % 2 == 0 ? 120 : block.count), using: &generator)
                block[index] =
                    [0, 1, 8, 255, .random(in: 0...255, using: &generator)].randomElement(using: &generator) ?? 0
            }
            check(block, Orientation(tag: round % 8 + 1))
            if EXIFBlock(block)?.density != PixelDensity(300) { changed += 1 }
        }
        #expect(changed > 100)
    }

    @Test func directoriesThatReferToThemselvesEnd() {
        var block = Self.full.block()
        let link = 8 + 2 + 6 * 12
        for place in [0, 8, link, block.count - 1, 0x7FFF_FFFF, 0xFFFF_FFFF] {
            block.replaceSubrange(link..<link + 4, with: big(place, 4))
            check(block, .left)
            var moved = block
            moved.replaceSubrange(4..<8, with: big(place, 4))
            check(moved, .left)
            // A directory with the largest possible number of entries.
            moved.replaceSubrange(8..<10, with: [255, 255])
            check(moved, .left)
        }
    }

    private func check(_ block: [UInt8], _ orientation: Orientation) {
        let facts = EXIFBlock.Facts(
            orientation: orientation, density: PixelDensity(123), isDensityToldElsewhere: false,
            size: PixelSize(width: 5, height: 6), isStandardColor: true)
        let bytes = EXIFBlock.bytes(block, facts)
        #expect(EXIFBlock(bytes)?.orientation == orientation)
        #expect(bytes.count <= block.count + 66_000 * 12)
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: part) }
    }
}
