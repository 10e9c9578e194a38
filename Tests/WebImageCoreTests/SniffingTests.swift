import Testing
import WebImageCore
import WebImageTesting

@Suite struct SniffingTests {
    private static func box(_ type: String, _ brands: [String]) -> [UInt8] {
        let body =
            Array(type.utf8) + Array(brands[0].utf8) + [0, 0, 0, 0] + brands.dropFirst().flatMap { Array($0.utf8) }
        return [0, 0, 0, UInt8(body.count + 4)] + body
    }

    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let ihdr: [UInt8] = [0, 0, 0, 13] + Array("IHDR".utf8) + [UInt8](repeating: 0, count: 17)
    /// `<svg xmlns="http://www.w3.org/2000/svg"/>`, compressed by `gzip -9`.
    private static let svgz: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xB3, 0x29, 0x2E, 0x4B, 0x57, 0xA8, 0xC8, 0xCD,
        0xC9, 0x2B, 0xB6, 0x55, 0xCA, 0x28, 0x29, 0x29, 0xB0, 0xD2, 0xD7, 0x2F, 0x2F, 0x2F, 0xD7, 0x2B, 0x37, 0xD6,
        0xCB, 0x2F, 0x4A, 0xD7, 0x37, 0x32, 0x30, 0x30, 0xD0, 0x07, 0xAA, 0x50, 0xD2, 0xB7, 0x03, 0x00, 0xC4, 0xF7,
        0x91, 0x93, 0x29, 0x00, 0x00, 0x00,
    ]

    static let cases: [(label: String, bytes: [UInt8], format: ImageFormat?)] = [
        ("JPEG", [0xFF, 0xD8, 0xFF, 0xE0], .jpeg),
        ("PNG", png + ihdr + [0, 0, 0, 0] + Array("IDAT".utf8), .png),
        ("PNG, signature only", png, .png),
        ("APNG: acTL before IDAT", png + ihdr + [0, 0, 0, 8] + Array("acTL".utf8), .apng),
        (
            "PNG: acTL after IDAT is none",
            png + ihdr + [0, 0, 0, 0] + Array("IDAT".utf8) + [0, 0, 0, 0] + Array("acTL".utf8), .png
        ),
        ("PNG with a chunk of an absurd length", png + [0xFF, 0xFF, 0xFF, 0xFF] + Array("IHDR".utf8), .png),
        ("GIF87a", Array("GIF87a".utf8), .gif), ("GIF89a", Array("GIF89a....".utf8), .gif),
        ("WebP", Array("RIFF....WEBPVP8 ".utf8), .webp), ("a wave file", Array("RIFF....WAVEfmt ".utf8), nil),
        ("AVIF", box("ftyp", ["avif", "mif1"]), .avif),
        ("AVIF behind mif1", box("ftyp", ["mif1", "miaf", "avif"]), .avif),
        ("AVIF sequence", box("ftyp", ["avis", "avif"]), .avifSequence),
        ("HEIC sequence", box("ftyp", ["hevc", "mif1"]), .heicSequence),
        ("HEIC sequence behind msf1", box("ftyp", ["msf1", "hevc", "mif1"]), .heicSequence),
        ("HEIC still with a sequence", box("ftyp", ["heic", "hevc", "msf1"]), .heic),
        ("AVIF sequence behind msf1", box("ftyp", ["msf1", "avis"]), .avifSequence),
        ("HEIC", box("ftyp", ["heic", "mif1"]), .heic), ("HEIC, 10 bit", box("ftyp", ["heix", "mif1"]), .heic),
        ("HEIF", box("ftyp", ["mif1", "heic"]), .heif), ("a film", box("ftyp", ["isom", "mp42"]), nil),
        ("JPEG XL, bare", [0xFF, 0x0A, 0x00], .jxl),
        ("JPEG XL, boxed", [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jxl),
        ("TIFF, little endian", [0x49, 0x49, 0x2A, 0], .tiff), ("TIFF, big endian", [0x4D, 0x4D, 0, 0x2A], .tiff),
        ("BigTIFF, little endian", [0x49, 0x49, 0x2B, 0, 8, 0, 0, 0], .bigTIFF),
        ("BigTIFF, big endian", [0x4D, 0x4D, 0, 0x2B, 0, 8, 0, 0], .bigTIFF),
        ("BMP", Array("BM".utf8) + [UInt8](repeating: 0, count: 12) + [40, 0, 0, 0], .bmp),
        ("text that begins with BM", Array("BMW is a car maker, not a bitmap".utf8), nil),
        ("ICO", [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 40, 4, 0, 0, 22, 0, 0, 0], .ico),
        ("ICO of .NET", [0, 0, 1, 0, 1, 0, 16, 16, 0, 255, 1, 0, 32, 0, 40, 4, 0, 0, 22, 0, 0, 0], .ico),
        ("CUR", [0, 0, 2, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 40, 4, 0, 0, 22, 0, 0, 0], .cur),
        ("zeros", [UInt8](repeating: 0, count: 64), nil),
        ("QOI", Array("qoif".utf8), .qoi), ("PNM", Array("P6\n3 2\n".utf8), .pnm),
        ("PNM with a comment", Array("P3#x\n3 2\n".utf8), .pnm), ("PAM", Array("P7\nWIDTH".utf8), .pnm),
        ("Pascal source", Array("Program".utf8), nil), ("PDF", Array("%PDF-1.7".utf8), .pdf),
        ("PDF behind empty lines", Array("\r\n \n%PDF-1.7".utf8), .pdf),
        ("PDF behind a BOM", [0xEF, 0xBB, 0xBF] + Array("\n%PDF-1.7".utf8), .pdf),
        ("PDF behind more than readers skip", [UInt8](repeating: 0x20, count: 1020) + Array("%PDF-1.7".utf8), nil),
        ("a text about PDF", Array("begins with %PDF-1.7".utf8), nil),
        ("SVG", Array("<svg xmlns='x'>".utf8), .svg),
        ("SVG behind a BOM", [0xEF, 0xBB, 0xBF] + Array("<svg/>".utf8), .svg),
        ("SVG behind a prolog", Array("<?xml version=\"1.0\"?>\n<!-- a -- b -->\n<svg>".utf8), .svg),
        ("SVG behind a document type", Array("<!DOCTYPE svg [<!ENTITY a \">\">]>\n<svg >".utf8), .svg),
        ("SVG with a prefix", Array("<s:svg xmlns:s='x'>".utf8), .svg),
        ("SVG in UTF-16", [0xFF, 0xFE] + "<svg/>".utf8.flatMap { [$0, 0] }, .svg),
        ("SVGZ", svgz, .svgz), ("gzip of nothing", [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 3, 3, 0], nil),
        ("HTML", Array("<!DOCTYPE html><html><svg>".utf8), nil), ("an element like svg", Array("<svgfoo>".utf8), nil),
        ("JSON", Array("{\"error\": 404}".utf8), nil), ("nothing", [], nil),
    ]

    @Test(arguments: cases.map(\.label)) func aFormatIsKnownByItsContent(label: String) throws {
        let (_, bytes, format) = try #require(Self.cases.first { $0.label == label })
        #expect(ImageFormat(sniffing: bytes) == format)
    }

    @Test func everyPrefixCanBeSniffed() {
        for (_, bytes, format) in Self.cases {
            for length in 0...bytes.count {
                let answer = ImageFormat(sniffing: Array(bytes.prefix(length)))
                if length == bytes.count { #expect(answer == format) }
            }
        }
    }

    /// A file that begins with an XML comment or declaration can only be an SVG.
    @Test(arguments: ["", "<?xml version=\"1.0\"?>\n", "<!-- short -->"])
    func anSVGBehindACommentLongerThanTheSniffedBytesIsKnown(_ before: String) {
        let head = Array((before + "<!-- ").utf8)
        let drawing = head + [UInt8](repeating: 0x41, count: 5000) + Array(" --><svg/>".utf8)
        #expect(ImageFormat(sniffing: drawing) == .svg)
        // With fewer bytes than sniffing needs, the format is still unknown.
        #expect(ImageFormat(sniffing: Array(drawing.prefix(ImageFormat.sniffingLength - 1))) == nil)
        let page = head + [UInt8](repeating: 0x41, count: 3000) + Array(" --><html><svg/>".utf8)
        #expect(ImageFormat(sniffing: page + [UInt8](repeating: 0x41, count: 3000)) == nil)
    }

    @Test func randomBytesBehindEverySignatureAreSurvived() {
        var random = SeededGenerator(seed: 7)
        for (_, bytes, _) in Self.cases {
            for _ in 0..<200 {
                var mutated = bytes + (0..<64).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                for _ in 0..<4 {
                    mutated[Int(random.next() % UInt64(mutated.count))] = UInt8(truncatingIfNeeded: random.next())
                }
                _ = ImageFormat(sniffing: mutated)
            }
        }
    }

    @Test func namesAndExtensionsLeadToFormats() {
        #expect(ImageFormat(name: "JPG") == .jpeg)
        #expect(ImageFormat(name: "jpeg") == .jpeg)
        #expect(ImageFormat(name: "tif") == .tiff)
        #expect(ImageFormat(name: "avif-sequence") == .avifSequence)
        #expect(ImageFormat(name: "exe") == nil)
        #expect(ImageFormat.png.fileExtension == "png" && ImageFormat.png.mimeType == "image/png")
    }
}
