import Testing
import WebImageCodecs
import WebImageCore

@Suite struct PNMTests {
    private let coder = PNMCoder()

    private func grey(_ values: [UInt8]) -> Pixels { Pixels(values.flatMap { [$0, $0, $0, 255] }) }

    @Test(arguments: [
        ("P1\n3 2\n0 1 0\n1 0 1\n", [255, 0, 255, 0, 255, 0]),
        ("P1 3 2 010101", [255, 0, 255, 0, 255, 0]),
        ("P1#a\n3#b\n#c 1\n2#d\n01#e 1\n0 1#\n01#f", [255, 0, 255, 0, 255, 0]),
        ("P2\n2 2\n15\n0 5\n10 15", [0, 85, 170, 255]),
        ("P2 2 1 # most\n#\n3\r\n1#half\n\t2\n", [85, 170]),
    ])
    func textGivesItsPixels(_ text: String, _ expected: [UInt8]) {
        for most in [1, 2, 100] {
            let result = decode(Array(text.utf8), with: coder, length: randomLengths(seed: 1, most: most))
            #expect(result.error == nil && result.pixels == grey(expected))
        }
    }

    @Test(arguments: ["P6 120000000 1 255\n", "P4 120000000 1\n", "P3 120000000 1 255\n1 2 3 4"])
    func aRowThatIsNotThereTakesNoMemory(_ text: String) throws {
        let before = residentMemory()
        let sink = StrictSink()
        let decoder = try coder.makeDecoder(DecodeOptions()) { (_) throws(WebImageError) in DecodePlan(sink: sink) }
        try Array(text.utf8).withUnsafeBytes { _ = try decoder.push($0) }
        #expect(sink.format?.size == PixelSize(width: 120_000_000, height: 1))
        #expect(residentMemory() - before < 150 << 20)
        let error = #expect(throws: WebImageError.self) { try decoder.finish() }
        #expect(error?.code == .truncatedData)
    }

    @Test(arguments: [1, 2, 4095, 4096, 4097, 8200])
    func longRowsAreConvertedInRuns(_ width: Int) {
        let samples = (0..<width * 6).map { UInt8($0 * 7 & 255) }
        let expected = Pixels(stride(from: 0, to: samples.count, by: 3).flatMap { samples[$0..<$0 + 3] + [255] })
        let binary = decode(Array("P6 \(width) 2 255\n".utf8) + samples, with: coder, length: { 5000 })
        #expect(binary.error == nil && binary.pixels == expected)
        let digits = samples.map { String($0) }.joined(separator: " ")
        let text = decode(Array("P3 \(width) 2 255\n\(digits)\n".utf8), with: coder, length: { 5000 })
        #expect(text.error == nil && text.pixels == expected)
        let bits = (0..<(width + 7) / 8 * 2).map { UInt8($0 * 37 & 255) }
        let bitmap = decode(Array("P4 \(width) 2\n".utf8) + bits, with: coder)
        let row = (width + 7) / 8
        let levels = (0..<width * 2).map { index -> UInt8 in
            let (x, y) = (index % width, index / width)
            return bits[y * row + x / 8] >> UInt8(7 - x % 8) & 1 == 1 ? 0 : 255
        }
        #expect(bitmap.error == nil && bitmap.pixels == grey(levels))
    }

    @Test func coloursAreReadFromText() {
        let result = decode(Array("P3 2 1 255 1 2 3 255 0 7".utf8), with: coder)
        #expect(result.error == nil && result.pixels == Pixels([1, 2, 3, 255, 255, 0, 7, 255]))
    }

    @Test func rowsOfBitsBeginAByte() {
        let result = decode(Array("P4\n10 2\n".utf8) + [0b1010_0000, 0b0111_1111, 0, 0x80], with: coder)
        let expected: [UInt8] =
            [0, 255, 0, 255, 255, 255, 255, 255, 255, 0] + Array(repeating: 255, count: 8) + [0, 255]
        #expect(result.error == nil && result.wasComplete && result.pixels == grey(expected))
        #expect(result.header?.bitDepth == 1)
    }

    @Test func onlyOneSpaceStandsBeforeBytes() {
        // The first sample has the value of a line feed.
        #expect(decode(Array("P5 2 1 255\n".utf8) + [10, 32], with: coder).pixels == grey([10, 32]))
        #expect(decode(Array("P5 2 1 255#x\n".utf8) + [35, 48], with: coder).pixels == grey([35, 48]))
        // A comment may follow at once, as netpbm reads it too.
        #expect(decode(Array("P5#x\n2 1 255\n".utf8) + [10, 32], with: coder).pixels == grey([10, 32]))
    }

    @Test(arguments: [1, 2, 3, 15, 100, 254, 255, 256, 1000, 1023, 32_768, 65_534, 65_535])
    func everySampleIsScaledToTheNearest(_ most: Int) {
        let samples = most < 300 ? Array(0...most) : (0...300).map { $0 * most / 300 }
        var bytes = Array("P5\n\(samples.count) 1\n\(most)\n".utf8)
        for sample in samples { bytes += most > 255 ? [UInt8(sample >> 8), UInt8(sample & 255)] : [UInt8(sample)] }
        let nearest = { (sample: Int, limit: Int) in (Double(sample) * Double(limit) / Double(most)).rounded() }
        let narrow = decode(bytes, with: coder)
        #expect(narrow.error == nil && narrow.pixels == grey(samples.map { UInt8(nearest($0, 255)) }))
        #expect(narrow.header?.bitDepth == (1...16).first { 1 << $0 > most })
        let wide = decode(bytes, with: coder, options: DecodeOptions(keepsBitDepth: true))
        #expect(wide.format?.layout == (most > 255 ? .rgba16 : .rgba8))
        guard most > 255 else { return }
        let words = wide.pixels.bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) }
        #expect(words == samples.flatMap { [UInt16](repeating: UInt16(nearest($0, 65_535)), count: 3) + [65_535] })
    }

    @Test(arguments: [
        ("BLACKANDWHITE", 1, 1, [0, 1], [0, 0, 0, 255, 255, 255, 255, 255]),
        ("GRAYSCALE", 1, 255, [7, 9], [7, 7, 7, 255, 9, 9, 9, 255]),
        ("GRAYSCALE_ALPHA", 2, 255, [7, 9, 8, 0], [7, 7, 7, 9, 8, 8, 8, 0]),
        ("BLACKANDWHITE_ALPHA", 2, 1, [1, 0, 0, 1], [255, 255, 255, 0, 0, 0, 0, 255]),
        ("RGB", 3, 255, [1, 2, 3, 4, 5, 6], [1, 2, 3, 255, 4, 5, 6, 255]),
        ("RGB_ALPHA", 4, 15, [1, 2, 3, 4, 5, 6, 7, 8], [17, 34, 51, 68, 85, 102, 119, 136]),
    ])
    func everyTupleTypeIsRead(_ type: String, _ depth: Int, _ most: Int, _ data: [UInt8], _ expected: [UInt8]) {
        for line in ["TUPLTYPE \(type)\n", "# no type\n"] {
            let header = "P7\n#c\nWIDTH 2\n\nHEIGHT 1\nDEPTH  \(depth)\nMAXVAL \(most)\n\(line)ENDHDR\n"
            let result = decode(Array(header.utf8) + data, with: coder, length: { 3 })
            #expect(result.error == nil && result.pixels == Pixels(expected))
            #expect(result.header?.hasAlpha == (depth % 2 == 0))
            #expect(result.format?.alpha == (depth % 2 == 0 ? .straight : .opaque))
        }
    }

    @Test(arguments: [
        "P2 2 1 15 3 16", "P1 2 1 0 2", "P3 x", "P2 0 1 255 ", "P2 2 1 0 ", "P2 2 1 65536 ", "P2 99999999999 1 255 ",
        "P2 -1 1 255 ", "P8 1 1 ", "P7\nWIDTH 1\nENDHDR\n", "P7\nWIDTH 1\nWIDTH 1\n", "P7\nHUE 1\n",
        "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n",
    ])
    func contradictionsAreCorrupt(_ text: String) {
        #expect(decode(Array(text.utf8), with: coder).error?.code == .corruptData)
    }

    @Test func limitsHold() throws {
        #expect(decode(Array("P6 60000 60000 255 ".utf8), with: coder).error?.code == .limitExceeded)
        let long = Array("P7\n".utf8) + [UInt8](repeating: 65, count: 5000)
        #expect(decode(long, with: coder).error?.code == .corruptData)
        let options = DecodeOptions(limits: DecodeLimits(bytes: 12))
        #expect(decode(Array("P5 2 1 255\n00".utf8), with: coder, options: options).error?.code == .limitExceeded)
        let types = "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\n"
        #expect(decode(Array(types.utf8), with: coder).error?.code == .unsupportedFeature)
        #expect(try header(of: Array("P5 7 9 255\n".utf8), with: coder)?.size == PixelSize(width: 7, height: 9))
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16], [AlphaMode.opaque, .straight])
    func anEncodedPictureDecodesToTheSamePixels(_ layout: PixelLayout, _ alpha: AlphaMode) throws {
        let image = try Drawings.picture(37, 41, layout: layout, alpha: alpha)
        let bytes = try coder.encode(image, as: .pnm, EncodeOptions())
        #expect(bytes.starts(with: (alpha == .opaque ? "P6\n" : "P7\n").utf8))
        let result = decode(bytes, with: coder, options: DecodeOptions(keepsBitDepth: true), length: { 50 })
        #expect(result.error == nil && result.pixels == image.bytes && result.format?.layout == layout)
    }

    /// Four pixels: red, half-transparent white, black, and fully transparent.
    private func fourPixels() throws -> Image {
        try Image(size: PixelSize(width: 4, height: 1), alpha: .straight) {
            $0.copyBytes(from: [255, 0, 0, 255, 255, 255, 255, 128, 0, 0, 0, 255, 9, 9, 9, 0])
        }
    }

    @Test(
        arguments: [
            (
                .automatic, "P7\nWIDTH 4\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n",
                [255, 0, 0, 255, 255, 255, 255, 128, 0, 0, 0, 255, 9, 9, 9, 0]
            ),
            (
                .arbitrary, "P7\nWIDTH 4\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n",
                [255, 0, 0, 255, 255, 255, 255, 128, 0, 0, 0, 255, 9, 9, 9, 0]
            ),
            (.pixmap, "P6\n4 1\n255\n", [255, 0, 0, 128, 228, 128, 0, 0, 0, 0, 200, 0]),
            (.graymap, "P5\n4 1\n255\n", [76, 187, 0, 117]), (.bitmap, "P4\n4 1\n", [0b1011_0000]),
        ] as [(PortableAnymap, String, [UInt8])])
    func everyKindCanBeAskedFor(_ kind: PortableAnymap, _ header: String, _ samples: [UInt8]) throws {
        var options = EncodeOptions(background: RGBColor(red: 0, green: 200, blue: 0))
        options.anymap = kind
        #expect(try coder.encode(fourPixels(), as: .pnm, options) == Array(header.utf8) + samples)
    }

    @Test(arguments: PortableAnymap.allCases, [PixelLayout.rgba8, .rgba16])
    func everyKindIsReadAgain(_ kind: PortableAnymap, _ layout: PixelLayout) throws {
        let image = try Drawings.picture(13, 5, layout: layout, alpha: .opaque)
        var options = EncodeOptions()
        options.anymap = kind
        let result = decode(
            try coder.encode(image, as: .pnm, options), with: coder, options: DecodeOptions(keepsBitDepth: true))
        #expect(result.error == nil && result.header?.size == image.size)
        #expect(result.format?.layout == (kind == .bitmap ? .rgba8 : layout))
        let keepsColors = kind != .graymap && kind != .bitmap
        #expect((result.pixels == image.bytes) == keepsColors)
    }

    @Test func losslessRefusesKindsWithoutColoursOrAlpha() throws {
        var options = EncodeOptions(isLossless: true)
        for kind in PortableAnymap.allCases {
            options.anymap = kind
            let isRefused = errorCode { try coder.encode(fourPixels(), as: .pnm, options) } == .cannotEncode
            #expect(isRefused == (kind != .automatic && kind != .arbitrary), "\(kind)")
        }
    }

    /// A gray map is lossless for gray pictures and for no others.
    @Test(arguments: [true, false]) func grayIsKeptInAGrayMap(isGray: Bool) throws {
        let image = try Image(size: PixelSize(width: 4, height: 3), alpha: .opaque) { bytes in
            for index in bytes.indices {
                bytes[index] = index % 4 == 3 ? 255 : isGray ? UInt8(index / 4) : UInt8(index)
            }
        }
        var options = EncodeOptions(isLossless: true)
        options.anymap = .graymap
        let isRefused = errorCode { try coder.encode(image, as: .pnm, options) } == .cannotEncode
        #expect(isRefused != isGray)
        if isGray { #expect(CoderDecode(coder, try coder.encode(image, as: .pnm, options)).pixels == image.bytes) }
    }

    /// A bitmap is lossless for black and white pictures and for no others.
    @Test(arguments: [PixelLayout.rgba8, .rgba16], [0xFF, 0xFE, 0x00] as [UInt8])
    func blackAndWhiteIsKeptInABitmap(_ layout: PixelLayout, _ white: UInt8) throws {
        let image = try Image(size: PixelSize(width: 11, height: 3), layout: layout, alpha: .opaque) { bytes in
            let length = layout.bytesPerPixel
            for index in bytes.indices {
                let isAlpha = index % length >= length * 3 / 4
                bytes[index] = isAlpha ? 255 : index / length % 3 == 0 ? (index % (length / 4) == 0 ? white : 255) : 0
            }
        }
        var options = EncodeOptions(isLossless: true)
        options.anymap = .bitmap
        let isKept = white == 255 || white == 0 && layout == .rgba8
        let isRefused = errorCode { try coder.encode(image, as: .pnm, options) } == .cannotEncode
        #expect(isRefused != isKept)
        if isKept, layout == .rgba8 {
            #expect(CoderDecode(coder, try coder.encode(image, as: .pnm, options)).pixels == image.bytes)
        }
    }

    @Test func aFilesNameTellsTheKind() {
        let names = ["pnm", "PPM", "pgm", "pbm", "pam", "png"].map { PortableAnymap(fileExtension: $0) }
        #expect(names == [.automatic, .pixmap, .graymap, .bitmap, .arbitrary, nil])
    }

    private func floatMap(_ head: String, _ rows: [[Float]], isLittleEndian: Bool) -> [UInt8] {
        let values = rows.reversed().flatMap { $0 }.flatMap { value -> [UInt8] in
            let bits = isLittleEndian ? value.bitPattern.littleEndian : value.bitPattern.bigEndian
            return withUnsafeBytes(of: bits) { Array($0) }
        }
        return Array("\(head)\n\(isLittleEndian ? "-1.0" : "2e0")\n".utf8) + values
    }

    @Test(arguments: [true, false], [1, 5, Int.max])
    func floatsAreReadFromTheLastRowUpwards(isLittleEndian: Bool, most: Int) {
        let rows: [[Float]] = [[0, 0.25, 1], [7, -1, .nan], [0.5, .infinity, 0.75]]
        let gray = floatMap("Pf\n3 3", rows, isLittleEndian: isLittleEndian)
        let result = decode(gray, with: coder, length: randomLengths(seed: 7, most: most))
        #expect(result.error == nil && result.pixels == grey([0, 64, 255, 255, 0, 0, 128, 255, 191]))
        #expect(result.header?.bitDepth == 16 && result.header?.colorModel == .gray)
        // The last row comes first.
        #expect(result.header?.keepsWholePicture == true)
        // The samples are linear light, which is converted like other colours.
        #expect(result.header?.colorDescription == ColorDescription(primaries: 1, transfer: 8))
        let deep = decode(
            floatMap("PF 1 3", rows, isLittleEndian: isLittleEndian), options: DecodeOptions(keepsBitDepth: true))
        let words: [UInt16] = [0, 16_384, 65_535, 65_535, 65_535, 0, 0, 65_535, 32_768, 65_535, 49_151, 65_535]
        #expect(deep.error == nil && deep.pixels == Pixels(words.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }))
        #expect(deep.header?.colorModel == .rgb)
    }

    @Test func theMissingUpperRowsOfFloatsAreBlack() {
        let bytes = floatMap("Pf 2 3", [[1, 1], [1, 1], [0.5, 1]], isLittleEndian: true)
        let result = decode(Array(bytes.dropLast(9)), with: coder)
        #expect(result.error?.code == .truncatedData && result.pixels == grey([0, 0, 0, 0, 128, 255]))
        for scale in ["0", "a", "-", "nan", String(repeating: "1", count: 65)] {
            #expect(decode(Array("Pf 1 1 \(scale)\n0000".utf8), with: coder).error?.code == .corruptData)
        }
        expectToSurviveDamage(bytes, coder, seed: 9)
    }

    @Test func damagedPicturesGiveATypedAnswer() throws {
        expectToSurviveDamage(Array("P1#comment\n5 4\n01010 1 1 1 1 1#c\n 0 0 0 0 0 10101\n".utf8), coder, seed: 1)
        expectToSurviveDamage(Array("P3\n2 2\n#c\n200 1 22 133 4 5 66 77 8 9 10 11 12\n".utf8), coder, seed: 2)
        for (index, alpha) in [AlphaMode.opaque, .straight].enumerated() {
            let image = try Drawings.picture(9, 40, layout: .rgba16, alpha: alpha)
            let bytes = try coder.encode(image, as: .pnm, EncodeOptions())
            expectToSurviveDamage(bytes, coder, seed: UInt64(index + 3), stride: 7)
        }
    }
}
