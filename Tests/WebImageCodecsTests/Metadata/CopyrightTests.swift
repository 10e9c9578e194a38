import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

/// Only the metadata that states the picture's copyright is kept.
@Suite struct CopyrightTests {
    private static let rdf = #"xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#""#

    private func packet(_ descriptions: String) -> [UInt8] {
        Array(
            """
            <?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><!-- <a> --><rdf:RDF \(Self.rdf)>\(descriptions)</rdf:RDF></x:xmpmeta>
            <?xpacket end="w"?>
            """.utf8)
    }

    private func kept(_ descriptions: String) -> String? {
        ImageMetadata(xmp: packet(descriptions)).copyrightOnly.xmp.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Each name was once taken apart for every element within it: a packet of a few megabytes took hours.
    @Test func longNamesAreRefused() {
        func packet(_ length: Int) -> [UInt8] {
            let name = String(repeating: "a", count: length)
            let own = #"<r:Marked xmlns:r="http://ns.adobe.com/xap/1.0/rights/">True</r:Marked>"#
            return Array(
                "<rdf:RDF \(Self.rdf)><\(name)/><rdf:Description>\(own)</rdf:Description></rdf:RDF>".utf8)
        }
        #expect(XMPCopyright.packet(in: packet(1024)) != nil && XMPCopyright.packet(in: packet(1025)) == nil)
        let name = String(repeating: "a", count: 1 << 20)
        let children = String(repeating: "<b/>", count: 1 << 18)
        #expect(XMPCopyright.packet(in: Array("<x><\(name)>\(children)</\(name)></x>".utf8)) == nil)
    }

    @Test func copyrightElementsOfXMPAreKeptUnchanged() throws {
        let rights = #"<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">© Ada &amp; Co</rdf:li></rdf:Alt></dc:rights>"#
        let own = #"<r:Marked>True</r:Marked>"#
        let text = try #require(
            kept(
                """
                <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
                  xmlns:xmp='http://ns.adobe.com/xap/1.0/' xmlns:r="http://ns.adobe.com/xap/1.0/rights/">
                <xmp:CreatorTool>secret</xmp:CreatorTool>\(rights)<dc:subject><rdf:Bag><rdf:li>secret</rdf:li></rdf:Bag></dc:subject>
                \(own)<xmp:Rating/></rdf:Description>
                """))
        #expect(text.contains(rights) && text.contains(own) && !text.contains("secret") && !text.contains("Rating"))
        #expect(text.contains(#"xmlns:r="http://ns.adobe.com/xap/1.0/rights/""#))
        // Everything that was kept is kept a second time.
        #expect(XMPCopyright.packet(in: Array(text.utf8)) == Array(text.utf8))
    }

    @Test func attributesOfXMPAreKept() throws {
        let text = try #require(
            kept(
                """
                <rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Label="secret"
                  xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/" xmpRights:WebStatement='https://example.com/a'/>
                <rdf:Description xmlns:cc="http://creativecommons.org/ns#" cc:license="by"/>
                """))
        #expect(text.contains(#"xmpRights:WebStatement="https://example.com/a""#) && text.contains(#"cc:license="by""#))
        #expect(!text.contains("secret"))
    }

    /// The rights of other pictures from which this one was made are not its own.
    @Test func copyrightOfSourcePicturesIsNotKept() {
        let dc = #"xmlns:dc="http://purl.org/dc/elements/1.1/""#
        let other = "<rdf:Description><dc:creator>secret</dc:creator></rdf:Description>"
        let from = #"<m:DerivedFrom xmlns:m="http://ns.adobe.com/xap/1.0/mm/">\#(other)</m:DerivedFrom>"#
        #expect(kept("<rdf:Description \(dc)>\(from)</rdf:Description>") == nil)
    }

    @Test(arguments: [
        "", "<rdf:Description", "<rdf:Description></rdf:Other>", #"<rdf:Description dc:rights="a"/>"#,
        #"<!DOCTYPE a><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:rights="a"/>"#,
        #"<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:rights="a"><b>"#,
        #"<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:rights="<"/>"#,
        String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100),
    ]) func damagedXMPGivesNoCopyright(_ descriptions: String) { #expect(kept(descriptions) == nil) }

    private func dataset(_ record: UInt8, _ number: UInt8, _ text: String) -> [UInt8] {
        [0x1C, record, number, 0, UInt8(text.utf8.count)] + Array(text.utf8)
    }

    @Test func creatorAndCopyrightOfIPTCAreKept() {
        let all =
            dataset(1, 90, "\u{1B}%G") + dataset(2, 5, "secret") + dataset(2, 80, "Ada") + dataset(2, 116, "© Ada")
        let own = dataset(1, 90, "\u{1B}%G") + dataset(2, 80, "Ada") + dataset(2, 116, "© Ada")
        #expect(ImageMetadata(iptc: all).copyrightOnly.iptc == own)
        #expect(ImageMetadata(iptc: dataset(1, 90, "\u{1B}%G") + dataset(2, 5, "secret")).copyrightOnly.isEmpty)
        // A block that is cut off anywhere gives the fields before the cut.
        for count in all.indices {
            let part = ImageMetadata(iptc: Array(all.prefix(count))).copyrightOnly.iptc ?? []
            #expect(own.starts(with: part) && part.count <= count)
        }
    }

    @Test func iptcGoesThroughAJPEG() throws {
        let iptc = dataset(2, 5, "A title") + dataset(2, 80, "Ada")
        var image = try Image(size: PixelSize(width: 8, height: 8), alpha: .opaque) { bytes in
            for place in bytes.indices { bytes[place] = 255 }
        }
        image = image.replacingMetadata(ImageMetadata(iptc: iptc))
        let coders = CoderRegistry.standard
        let kept = try coders.encode(image, as: .jpeg, EncodeOptions(keepsMetadata: true))
        #expect(try header(kept).metadata.iptc == iptc)
        let plain = try coders.encode(image, as: .jpeg, EncodeOptions())
        #expect(try header(plain).metadata.iptc == nil && plain.count < kept.count)
        let long = image.replacingMetadata(ImageMetadata(iptc: [UInt8](repeating: 0, count: 70_000)))
        #expect(throws: WebImageError.self) { try coders.encode(long, as: .jpeg, EncodeOptions(keepsMetadata: true)) }
    }

    /// Metadata from strangers is read without a trap, and the part that is kept can be read again.
    @Test func damageOfAnyKindIsRead() throws {
        let description = """
            <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:cc='http://creativecommons.org/ns#'
              cc:license="by"><![CDATA[ a ]]><dc:creator><rdf:Seq><rdf:li>Ada</rdf:li></rdf:Seq></dc:creator><dc:rights/></rdf:Description>
            """
        let iptc = dataset(1, 90, "\u{1B}%G") + dataset(2, 80, "Ada") + dataset(2, 116, "© Ada")
        let whole = [packet(description), iptc, PhotoshopResources.holding(iptc: iptc)]
        let marks = Array("<>/\"'=:! ?&-[]".utf8)
        var random = SeededGenerator(seed: 11)
        var kept = 0
        for round in 0..<30_000 {
            var bytes = whole[round % whole.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes[place] = marks.randomElement(using: &random) ?? 0
                case 2: bytes.remove(at: place)
                default: bytes = Array(bytes.prefix(place + 1))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            _ = bytes.withUnsafeBytes { PhotoshopResources.iptc(in: $0) }
            let metadata = ImageMetadata(xmp: bytes, iptc: bytes).copyrightOnly
            if let packet = metadata.xmp {
                kept += 1
                #expect(XMPCopyright.packet(in: packet) != nil, "\(String(decoding: bytes, as: UTF8.self))")
            }
        }
        #expect(kept > 100)
    }

    @Test func iptcIsFoundAmongOtherPhotoshopResources() {
        let iptc = dataset(2, 116, "© Ada")
        let own = PhotoshopResources.holding(iptc: iptc)
        // Another resource, with a name and an odd number of bytes.
        let other = Array("8BIM".utf8) + [4, 0x0C, 2, 65, 66, 0, 0, 0, 0, 3, 1, 2, 3, 0]
        let all = other + own + other
        #expect(all.withUnsafeBytes { PhotoshopResources.iptc(in: $0) } == iptc)
        for count in 0..<(other.count + own.count - 1) {
            let part = all.prefix(count).withUnsafeBytes { PhotoshopResources.iptc(in: $0) }
            #expect(part == nil || part == iptc)
        }
        #expect(other.withUnsafeBytes { PhotoshopResources.iptc(in: $0) } == nil)
    }

    private func header(_ file: [UInt8]) throws -> ImageHeader {
        let decoder = try JPEGCoder().makeDecoder(DecodeOptions()) { _ in DecodePlan(sink: nil) }
        _ = try file.withUnsafeBytes { try decoder.push($0) }
        return try #require(decoder.header)
    }
}
