import Testing
import WebImageCodecs
import WebImageCore

@Suite struct ICOTests {
    private let coder = ICOCoder()

    private func icon(_ data: [UInt8], kind: Int = 1) -> [UInt8] {
        IconMaker(kind: kind, entries: [IconMaker.Entry(data: data)]).bytes()
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16], [AlphaMode.opaque, .straight])
    func anEncodedPictureDecodesAsFromPNG(_ layout: PixelLayout, _ alpha: AlphaMode) throws {
        let image = try Drawings.picture(37, 21, layout: layout, alpha: alpha)
        let bytes = try coder.encode(image, as: .ico, EncodeOptions())
        let result = decode(bytes, with: coder)
        #expect(result.error == nil && result.header?.format == .ico && result.header?.size == image.size)
        let wanted = try PNGCoder().encode(image, as: .png, EncodeOptions())
        #expect(result.pixels == decode(wanted, with: PNGCoder()).pixels)
    }

    @Test func largePicturesAreScaledDownToFit() throws {
        let image = try Drawings.picture(600, 300).with { $0.orientation = .right }
        let result = decode(try coder.encode(image, as: .ico, EncodeOptions()), with: coder)
        #expect(result.error == nil && result.header?.size == PixelSize(width: 128, height: 256))
        #expect(throws: WebImageError.self) { try coder.encode(image, as: .cur, EncodeOptions()) }
    }

    @Test func rowsComeFromTheBottomAndTheMaskHides() {
        // A picture of two by two: the bottom row comes first, each row is padded to four bytes, and the mask follows.
        let rows: [[UInt8]] = [
            [1, 2, 3, 4, 5, 6, 0, 0], [7, 8, 9, 10, 11, 12, 0, 0], [0x40, 0, 0, 0], [0x80, 0, 0, 0],
        ]
        let result = decode(icon(IconMaker.bitmap(2, 2, bits: 24, rows: rows)), with: coder)
        #expect(result.error == nil && result.wasComplete)
        #expect(result.pixels == Pixels([9, 8, 7, 0, 12, 11, 10, 255, 3, 2, 1, 255, 6, 5, 4, 0]))
        #expect(result.header?.size == PixelSize(width: 2, height: 2) && result.header?.format == .ico)
    }

    @Test(arguments: [(1, [0b0100_0000]), (4, [0x01]), (8, [0, 1])])
    func paletteIndicesAreColours(_ bits: Int, _ packed: [UInt8]) {
        let row = packed + [UInt8](repeating: 0, count: 4 - packed.count)
        let data = IconMaker.bitmap(
            2, 1, bits: bits, palette: [[1, 2, 3], [4, 5, 6]], rows: [row, [0, 0, 0, 0]])
        #expect(decode(icon(data), with: coder).pixels == Pixels([3, 2, 1, 255, 6, 5, 4, 255]))
    }

    @Test func alphaCountsUnlessItIsZeroEverywhere() {
        let mask: [UInt8] = [0x80, 0, 0, 0]
        let alpha = IconMaker.bitmap(2, 1, bits: 32, rows: [[1, 2, 3, 0, 4, 5, 6, 99], mask])
        #expect(decode(icon(alpha), with: coder).pixels == Pixels([3, 2, 1, 0, 6, 5, 4, 99]))
        let none = IconMaker.bitmap(2, 1, bits: 32, rows: [[1, 2, 3, 0, 4, 5, 6, 0], mask])
        #expect(decode(icon(none), with: coder).pixels == Pixels([3, 2, 1, 0, 6, 5, 4, 255]))
        let bare = IconMaker.bitmap(2, 1, bits: 32, rows: [[1, 2, 3, 0, 4, 5, 6, 99]])
        #expect(decode(icon(bare), with: coder).error == nil)
    }

    @Test func theLargestEntryIsTakenThenTheDeepest() {
        let entry = { (width: Int, depth: Int, blue: UInt8) in
            IconMaker.Entry(width: width, height: width, depth: depth, data: IconMaker.pixel(blue))
        }
        let blue = { (entries: [IconMaker.Entry], kind: Int) in
            let bytes = IconMaker(kind: kind, entries: entries).bytes()
            return decode(bytes, with: coder, length: { 7 }).pixels.bytes[2]
        }
        #expect(blue([entry(16, 32, 1), entry(48, 4, 2), entry(32, 32, 3)], 1) == 2)
        #expect(blue([entry(16, 32, 1), entry(0, 4, 2), entry(48, 32, 3)], 1) == 2)
        #expect(blue([entry(16, 8, 1), entry(16, 32, 2), entry(16, 24, 3)], 1) == 2)
        #expect(blue([entry(16, 8, 1), entry(16, 8, 2)], 1) == 1)
        // The table of a cursor file has hot spots instead of depths. The depth is read from the entries.
        var shallow = entry(16, 99, 1)
        shallow.data = IconMaker.pixel(1, bits: 24)
        #expect(blue([shallow, entry(16, 5, 2)], 2) == 2)
        #expect(blue([entry(16, 5, 2), shallow], 2) == 2)
    }

    @Test func anEntryMayBeAPNG() throws {
        let image = try Drawings.picture(60, 50, alpha: .straight)
        let png = try PNGCoder().encode(image, as: .png, EncodeOptions())
        let small = IconMaker.Entry(data: IconMaker.pixel(1))
        let bytes = IconMaker(
            kind: 2, entries: [small, IconMaker.Entry(width: 60, height: 50, data: png), small]
        ).bytes()
        for most in [1, 40, 5000] {
            let result = decode(bytes, with: coder, length: randomLengths(seed: 2, most: most))
            #expect(result.error == nil && result.wasComplete && result.pixels == image.bytes)
            #expect(result.header?.format == .cur && result.header?.size == image.size)
            #expect(result.header?.frameCount == 1)
        }
        let cut = decode(Array(bytes.prefix(bytes.count / 2)), with: coder)
        #expect(cut.error?.code == .truncatedData && cut.rows > 0)
        #expect(cut.pixels == image.bytes.prefix(cut.rows * 240))
    }

    @Test func channelMasksOfTheUsualKindsAreRead() {
        func result(_ bits: Int, _ masks: [UInt32], _ pixel: [UInt8], first count: Int = .max) -> CoderDecode {
            // The masks lie where a palette would.
            let bytes = masks.flatMap { mask in (0..<4).map { UInt8(truncatingIfNeeded: mask >> ($0 * 8)) } }
            let rows = [bytes, pixel, [0, 0, 0, 0]]
            let file = icon(IconMaker.bitmap(1, 1, bits: bits, compression: 3, rows: rows))
            return decode(Array(file.prefix(count)), with: coder)
        }
        #expect(result(32, [0xFF_0000, 0xFF00, 0xFF], [1, 2, 3, 200]).pixels == Pixels([3, 2, 1, 200]))
        #expect(result(16, [0x7C00, 0x3E0, 0x1F], [0x1F, 0x42, 0, 0]).pixels == Pixels([132, 132, 255, 255]))
        #expect(result(16, [0xF800, 0x7E0, 0x1F], [0x1F, 0x84, 0, 0]).pixels == Pixels([132, 130, 255, 255]))
        #expect(result(32, [0xFF, 0xFF00, 0xFF_0000], [1, 2, 3, 200]).error?.code == .unsupportedFeature)
        #expect(result(24, [0xFF_0000, 0xFF00, 0xFF], [1, 2, 3, 0]).error?.code == .unsupportedFeature)
        #expect(result(32, [0xFF_0000, 0xFF00, 0xFF], [1, 2, 3, 4], first: 22 + 45).error?.code == .truncatedData)
    }

    @Test func missingRowsOfABitmapAreTransparent() {
        let rows: [[UInt8]] = [[1, 2, 3, 255], [4, 5, 6, 255], [0, 0, 0, 0], [0, 0, 0, 0]]
        let bytes = icon(IconMaker.bitmap(1, 2, bits: 32, rows: rows))
        let cut = decode(Array(bytes.prefix(bytes.count - 12)), with: coder)
        #expect(cut.error?.code == .truncatedData && cut.pixels == Pixels([0, 0, 0, 0, 3, 2, 1, 255]))
    }

    /// Two cursors of Pillow's own tests state a length of 8 in their tables, whatever the length of their bitmaps.
    @Test(arguments: [1, 8], [0, 1, 8, 50]) func aLengthThatIsTooShortIsIgnored(_ bits: Int, _ length: Int) {
        let palette = (0..<1 << bits).map { [UInt8]($0 == 1 << bits - 1 ? [255, 255, 255] : [0, 0, 0]) }
        // The picture is one pixel wide. From the bottom: white, black, and the mask, which hides the upper pixel.
        let rows: [[UInt8]] = [[bits == 1 ? 0x80 : 255, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0x80, 0, 0, 0]]
        // The bytes of the second entry do not replace what the first one lacks.
        let entries = [
            IconMaker.Entry(
                width: 1, height: 2, data: IconMaker.bitmap(1, 2, bits: bits, palette: palette, rows: rows),
                length: length),
            IconMaker.Entry(data: IconMaker.pixel(9)),
        ]
        let bytes = IconMaker(kind: 2, entries: entries).bytes()
        for most in [1, 30, 5000] {
            let result = decode(bytes, with: coder, length: randomLengths(seed: 4, most: most))
            #expect(result.error == nil && result.wasComplete)
            #expect(result.pixels == Pixels([0, 0, 0, 0, 255, 255, 255, 255]))
        }
        let cut = decode(Array(bytes.prefix(6 + 32 + 40 + palette.count * 4 + 4)), with: coder)
        #expect(cut.error?.code == .truncatedData && cut.pixels == Pixels([0, 0, 0, 0, 255, 255, 255, 255]))
    }

    /// One that is not chosen no longer matters either.
    @Test(arguments: [0, 1 << 31, Int(UInt32.max)]) func aWrongLengthOfAnEntryDoesNotMatter(length: Int) {
        let rows: [[UInt8]] = [[9, 8, 7, 255], [0, 0, 0, 0]]
        let large = IconMaker.Entry(
            width: 2, height: 1, data: IconMaker.bitmap(2, 1, bits: 32, rows: [rows[0] + rows[0], rows[1]]))
        let small = { (length: Int?) in
            IconMaker.Entry(data: IconMaker.bitmap(1, 1, bits: 32, rows: rows), length: length)
        }
        let beside = decode(IconMaker(entries: [large, small(length)]).bytes(), with: coder)
        #expect(beside.error == nil && beside.pixels == Pixels([7, 8, 9, 255, 7, 8, 9, 255]))
        let alone = decode(IconMaker(entries: [small(length)]).bytes(), with: coder)
        #expect(alone.error == nil && alone.pixels == Pixels([7, 8, 9, 255]))
    }

    @Test func contradictionsInTheTableAreCorrupt() {
        let data = IconMaker.pixel(1)
        let code = { (entry: IconMaker.Entry) in
            decode(IconMaker(entries: [entry]).bytes(), with: coder).error?.code
        }
        #expect(decode(IconMaker().bytes(), with: coder).error?.code == .corruptData)
        #expect(code(IconMaker.Entry(data: data, offset: 21)) == .corruptData)
        #expect(code(IconMaker.Entry(data: data, offset: 0)) == .corruptData)
        #expect(code(IconMaker.Entry(data: data, offset: 5000)) == .truncatedData)
        #expect(code(IconMaker.Entry(data: data, offset: Int(UInt32.max))) == .limitExceeded)
        #expect(code(IconMaker.Entry(data: Array(data.prefix(30)), length: 10)) == .truncatedData)
        #expect(code(IconMaker.Entry(data: data, length: 30)) == .truncatedData)
        #expect(code(IconMaker.Entry(data: [UInt8](repeating: 7, count: 60))) == .corruptData)
        #expect(code(IconMaker.Entry(data: IconMaker.bitmap(1, 1, bits: 7, rows: []))) == .corruptData)
        #expect(
            code(IconMaker.Entry(data: IconMaker.bitmap(1, 1, bits: 8, compression: 1, rows: [])))
                == .unsupportedFeature)
        #expect(code(IconMaker.Entry(data: IconMaker.bitmap(60_000, 60_000, bits: 8, rows: []))) == .limitExceeded)
        // An icon within an icon is neither a bitmap nor a PNG.
        #expect(code(IconMaker.Entry(data: icon(data))) == .corruptData)
    }

    @Test func aHeaderNeedsNoPixels() throws {
        let bytes = icon(IconMaker.bitmap(20, 30, bits: 32, rows: []))
        #expect(try header(of: bytes, with: coder)?.size == PixelSize(width: 20, height: 30))
        let many = [0, 0, 1, 0, 255, 255] + [UInt8](repeating: 0, count: 40)
        #expect(decode(many, with: coder).error?.code == .limitExceeded)
        let options = DecodeOptions(limits: DecodeLimits(bytes: 60))
        #expect(decode(icon(IconMaker.pixel(1)), with: coder, options: options).error?.code == .limitExceeded)
    }

    @Test func damagedIconsGiveATypedAnswer() throws {
        let rows = (0..<24).map { row in (0..<(row < 12 ? 12 : 4)).map { UInt8(($0 * 37 + row * 11) & 255) } }
        let palette = (0..<200).map { [UInt8($0), UInt8(255 - $0), 7] }
        let bitmap = IconMaker.bitmap(12, 12, bits: 8, palette: palette, rows: rows)
        let png = try PNGCoder().encode(Drawings.noise(9, 20), as: .png, EncodeOptions())
        let both = [
            IconMaker.Entry(width: 12, height: 12, data: bitmap), IconMaker.Entry(width: 9, height: 20, data: png),
        ]
        expectToSurviveDamage(icon(bitmap), coder, seed: 1)
        expectToSurviveDamage(IconMaker(entries: both).bytes(), coder, seed: 2, stride: 3)
        expectToSurviveDamage(IconMaker(kind: 2, entries: both.reversed()).bytes(), coder, seed: 3, stride: 3)
    }
}
