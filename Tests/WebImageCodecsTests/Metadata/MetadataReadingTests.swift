import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Metadata in files of kinds that our encoders do not write.
@Suite struct MetadataReadingTests {
    private static let xmp = XMPMaker.packet(orientation: 1)

    private static func png(
        before: [(name: String, data: [UInt8])] = [], after: [(name: String, data: [UInt8])] = []
    ) -> PNGMaker {
        var maker = PNGMaker.random(.rgb, depth: 8, size: (5, 4), isInterlaced: false, isKeyed: false, seed: 1)
        maker.before = before
        maker.after = after
        return maker
    }

    private static func text(_ packet: [UInt8], isCompressed: Bool = false, name: String = "XML:com.adobe.xmp")
        -> [UInt8]
    {
        Array(name.utf8) + [0, isCompressed ? 1 : 0, 0, 0, 0] + (isCompressed ? PNGMaker.zlib(packet) : packet)
    }

    @Test(arguments: [true, false], [true, false])
    func aPNGsXMPMayBeCompressedAndComeLast(isCompressed: Bool, isLast: Bool) {
        let chunk = (name: "iTXt", data: Self.text(Self.xmp, isCompressed: isCompressed))
        let file = (isLast ? Self.png(after: [chunk]) : Self.png(before: [chunk])).file()
        for length in [Int.max, 1] {
            let result = decode(file, length: { length })
            #expect(result.error == nil && result.header?.metadata == ImageMetadata(xmp: Self.xmp))
        }
    }

    @Test func compressedXMPThatInflatesBeyondTheLimitIsLeftOut() {
        // The chunk is far below both limits; only the inflated packet exceeds the second one. The name of the chunk
        // counts, too.
        let long = [UInt8](repeating: 0x20, count: 1 + 258 * 232)
        let chunk = Array("XML:com.adobe.xmp".utf8) + [0, 1, 0, 0, 0] + DeflateWriter.zlib([0x20], repeats: 232)
        #expect(chunk.count < 500)
        let file = Self.png(before: [("iTXt", chunk)]).file()
        for length in [Int.max, 1] {
            for (limit, xmp) in [(long.count + 100, long), (long.count - 1, nil)] {
                let options = DecodeOptions(limits: DecodeLimits(metadata: ByteCount(limit)))
                let result = decode(file, options: options, length: { length })
                #expect(result.error == nil && result.header?.metadata == ImageMetadata(xmp: xmp), "\(limit)")
            }
        }
    }

    @Test func otherTextAndDamagedChunksAreLeftOut() {
        let others = [
            ("iTXt", Self.text(Self.xmp, name: "XML:com.adobe.xmq")), ("tEXt", Self.text(Self.xmp)), ("iTXt", []),
            ("iTXt", Array("XML:com.adobe.xmp".utf8) + [0]), ("eXIf", []), ("eXIf", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
            ("pHYs", [0, 0, 1]), ("pHYs", big(0, 4) + big(72, 4) + [1]), ("pHYs", big(3000, 4) + big(3000, 4) + [0]),
        ]
        for (name, data) in others {
            let result = decode(Self.png(before: [(name, data)]).file())
            #expect(result.error == nil && result.header?.metadata == ImageMetadata(), "\(name) \(data.count)")
        }
        let exif = EXIFMaker(orientation: 6).block()
        var file = Self.png(before: [("eXIf", exif)]).file()
        #expect(decode(file).header?.orientation == .right)
        let place = file.indices.first { file[$0...].starts(with: "cam".utf8) }
        file[place ?? 0] ^= 1
        #expect(decode(file).header?.metadata == ImageMetadata() && decode(file).header?.orientation == .up)
    }

    @Test func aPNGsDensityIsInMetres() throws {
        let chunk = big(11_811, 4) + big(5906, 4) + [1]
        let density = try #require(decode(Self.png(before: [("pHYs", chunk)]).file()).header?.metadata.density)
        #expect(abs(density.horizontal - 300) < 0.01 && abs(density.vertical - 150) < 0.02)
        #expect(decode(Self.png(after: [("pHYs", chunk)]).file()).header?.metadata.density == nil)
    }

    @Test(arguments: [(UInt8(0), nil), (1, 118.0), (2, 118 * 2.54), (3, nil)] as [(UInt8, Double?)])
    func aJPEGsDensityHasAUnit(_ unit: UInt8, _ expected: Double?) throws {
        var jpeg = try Drawings.jpeg(16, 8)
        let place = try #require(jpeg.indices.first { jpeg[$0...].starts(with: Array("JFIF".utf8) + [0]) })
        jpeg.replaceSubrange(place + 7..<place + 12, with: [unit, 0, 118, 0, 118])
        #expect(decode(jpeg).header?.metadata.density == expected.flatMap { PixelDensity($0) })
        // The density in EXIF has precedence, as in other libraries.
        let exif = Array("Exif".utf8) + [0, 0] + EXIFMaker(density: (240, 240)).block()
        jpeg.insert(contentsOf: JPEGMaker.marker(0xE1, exif), at: 2)
        #expect(decode(jpeg).header?.metadata.density == PixelDensity(240))
    }

    @Test func theFirstOfSeveralBlocksCounts() throws {
        var jpeg = try Drawings.jpeg(16, 8)
        let name = Array("http://ns.adobe.com/xap/1.0/".utf8) + [0]
        let blocks = [
            name, Array("Exif".utf8), name + Self.xmp, name + Array("<second/>".utf8),
            Array("http://ns.adobe.com/xmp/extension/".utf8) + [0] + Self.xmp,
        ]
        jpeg.insert(contentsOf: blocks.flatMap { JPEGMaker.marker(0xE1, $0) }, at: 2)
        for length in [Int.max, 1] {
            #expect(decode(jpeg, length: { length }).header?.metadata.xmp == Self.xmp)
        }
    }

    private static let guid = String(repeating: "0123456789ABCDEF", count: 2)

    private static func extended(_ packet: [UInt8], pieces: [Range<Int>], name: String = guid) -> [[UInt8]] {
        pieces.map { piece in
            Array("http://ns.adobe.com/xmp/extension/".utf8) + [0] + Array(name.utf8) + big(packet.count, 4)
                + big(piece.lowerBound, 4) + packet[piece]
        }
    }

    private static func long(_ title: String) -> [UInt8] {
        Array("<x:xmpmeta><rdf:RDF xmlns:rdf='r'><rdf:Description dc:t='\(title)'/></rdf:RDF></x:xmpmeta>".utf8)
    }

    @Test(arguments: [
        ("<rdf:Description xmpNote:HasExtendedXMP=\"\(guid)\" a='b'/>", "<rdf:Description  a='b'/>"),
        ("<xmpNote:HasExtendedXMP>\(guid)</xmpNote:HasExtendedXMP>", ""),
        // A reference to a part that does not exist, and no reference.
        ("<rdf:Description xmpNote:HasExtendedXMP='\(guid.lowercased())'/>", nil), ("<rdf:Description/>", nil),
    ])
    func extendedXMPOfAJPEGIsJoined(_ inside: String, _ joined: String?) throws {
        let packet = Array("<x:xmpmeta><rdf:RDF xmlns:rdf='r'>\(inside)</rdf:RDF></x:xmpmeta>".utf8)
        let longer = Self.long("x")
        let whole = joined.map { Array(("<x:xmpmeta><rdf:RDF xmlns:rdf='r'>" + $0).utf8) + longer[34...] }
        let name = Array("http://ns.adobe.com/xap/1.0/".utf8) + [0]
        let pieces = Self.extended(longer, pieces: [0..<10, 40..<longer.count, 10..<40])
        let other = Self.extended([1, 2, 3], pieces: [0..<3], name: String(repeating: "F", count: 32))
        for blocks in [[name + packet] + pieces + other, pieces + [name + packet]] {
            var jpeg = try Drawings.jpeg(16, 8)
            jpeg.insert(contentsOf: blocks.flatMap { JPEGMaker.marker(0xE1, $0) }, at: 2)
            for length in [Int.max, 1] {
                let result = decode(jpeg, length: { length })
                #expect(result.error == nil && result.header?.metadata.xmp == whole ?? packet)
            }
            let tight = DecodeOptions(limits: DecodeLimits(metadata: ByteCount(packet.count + longer.count - 1)))
            #expect(decode(jpeg, options: tight).header?.metadata.xmp == packet)
        }
    }

    @Test func damagedPiecesOfXMPAreLeftOut() throws {
        let packet = Array("<rdf:RDF xmpNote:HasExtendedXMP='\(Self.guid)'></rdf:RDF>".utf8)
        let longer = Self.long("x")
        var lying = Self.extended(longer, pieces: [0..<longer.count])
        lying[0].replaceSubrange(67..<71, with: [0xFF, 0xFF, 0xFF, 0xFF])
        var outside = Self.extended(longer, pieces: [0..<longer.count])
        outside[0].replaceSubrange(71..<75, with: big(1, 4))
        let missing = Self.extended(longer, pieces: [0..<20, 21..<longer.count])
        let bare = Self.extended(Array("<rdf:RDF".utf8), pieces: [0..<8])
        for pieces in [lying, outside, missing, bare, Self.extended([], pieces: [0..<0])] {
            var jpeg = try Drawings.jpeg(16, 8)
            let blocks = [Array("http://ns.adobe.com/xap/1.0/".utf8) + [0] + packet] + pieces
            jpeg.insert(contentsOf: blocks.flatMap { JPEGMaker.marker(0xE1, $0) }, at: 2)
            let result = decode(jpeg)
            #expect(result.error == nil && result.header?.metadata.xmp == packet)
        }
    }

    @Test func longXMPComesBackFromAJPEG() throws {
        for length in [65_504, 65_505, 200_000] {
            let title = String(repeating: "t", count: length - Self.long("").count)
            let image = try Drawings.picture(8, 8).with { $0.metadata = ImageMetadata(xmp: Self.long(title)) }
            let jpeg = try JPEGCoder().encode(image, as: .jpeg, EncodeOptions(keepsMetadata: true))
            let found = try #require(decode(jpeg).header?.metadata.xmp)
            let text = String(decoding: found, as: UTF8.self)
            #expect(text.contains("dc:t='\(title)'") && !text.contains("xmpNote:HasExtendedXMP"))
            #expect(length > 65_504 || found == Self.long(title))
            #expect(text.hasSuffix("</rdf:RDF></x:xmpmeta>"))
        }
    }

    /// The examples of RFC 1321, appendix A.5.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a"
        ),
    ])
    func theDigestIsTheStandards(_ message: String, _ digest: String) {
        let hex = MD5.digest(of: Array(message.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hex == digest)
    }

    @Test func aGIFsXMPStandsWhereBlocksShouldBe() {
        let trailer: [UInt8] = [1] + (0...255).reversed().map { UInt8($0) } + [0]
        let start = Array("GIF89a".utf8) + [2, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let image: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x0A, 0, 0x3B]
        let xmp: [UInt8] = [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + Self.xmp
        for length in [Int.max, 1, 7] {
            let result = decode(start + xmp + trailer + image, length: { length })
            #expect(result.error == nil && result.header?.metadata == ImageMetadata(xmp: Self.xmp))
        }
        // Without the row of decreasing numbers after it, the block is not an XMP packet.
        let other: [UInt8] = [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + [3, 65, 66, 67, 0]
        #expect(decode(start + other + image).header?.metadata == ImageMetadata())
        let limits = DecodeLimits(metadata: ByteCount(Self.xmp.count - 1))
        let short = decode(start + xmp + trailer + image, options: DecodeOptions(limits: limits))
        #expect(short.error == nil && short.header?.metadata == ImageMetadata())
    }

    @Test func aBitmapTellsItsDensity() throws {
        var bytes = try CoderRegistry.standard.encoder(for: .bmp).encode(
            Drawings.picture(6, 4), as: .bmp, EncodeOptions())
        bytes.replaceSubrange(38..<46, with: WebPMaker.little(3780, 4) + WebPMaker.little(3780, 4))
        let density = try #require(decode(bytes).header?.metadata.density)
        #expect(abs(density.horizontal - 96) < 0.02)
        bytes.replaceSubrange(38..<42, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(decode(bytes).header?.metadata.density == nil)
    }

    #if JXL
        @Test func aJPEGXLsBoxesMayComeLastAndBeWithoutLength() throws {
            let bare = try CoderRegistry.standard.encoder(for: .jxl).encode(
                Drawings.picture(16, 8), as: .jxl, EncodeOptions())
            func box(_ name: String, _ contents: [UInt8]) -> [UInt8] {
                big(contents.count + 8, 4) + Array(name.utf8) + contents
            }
            let start =
                box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + box("ftyp", Array("jxl ".utf8) + big(0, 4) + Array("jxl ".utf8))
            let exif = EXIFMaker(orientation: 6, density: (50, 50)).block()
            let boxes = box("jumb", [1, 2, 3]) + box("Exif", big(2, 4) + [9, 9] + exif) + box("xml ", Self.xmp)
            let picture = box("jxlc", bare)
            for file in [start + boxes + picture, start + picture + boxes] {
                for length in [Int.max, 1, 50] {
                    let result = decode(file, length: { length })
                    #expect(result.error == nil && result.header?.orientation == .up)
                    let expected = ImageMetadata(exif: exif, xmp: Self.xmp, density: PixelDensity(50))
                    #expect(result.header?.metadata == expected)
                }
            }
            // A probe finds the boxes, too, however far after the picture they are.
            let far = start + picture + box("jumb", [UInt8](repeating: 7, count: 300_000)) + boxes
            let probe = ImageProbe()
            var header: ImageHeader?
            for place in stride(from: 0, to: far.count, by: 1000) {
                header = try Array(far[place...].prefix(1000)).withUnsafeBytes { try probe.push($0) }
                let isOver = place + 1000 >= far.count
                #expect(
                    probe.mayFindLateMetadata != isOver && !probe.mayExtendHeader
                        && (header?.metadata.exif == exif) == isOver)
            }
            #expect(header?.metadata.xmp == Self.xmp)
            // A file that is cut off after the picture still gives the picture.
            let cut = decode(Array((start + picture + boxes).dropLast(5)))
            #expect(cut.error == nil && cut.rows == 8 && cut.header?.metadata.exif == exif)
        }
    #endif
}
