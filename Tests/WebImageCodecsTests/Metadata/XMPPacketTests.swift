import Testing
import WebImageCore

@testable import WebImageCodecs
import WebImageTesting

@Suite struct XMPPacketTests {
    private func changing(_ packet: [UInt8], _ orientation: Orientation = .up, isStandardColor: Bool = false) -> [UInt8]
    {
        XMPPacket(
            orientation: orientation, size: PixelSize(width: 7, height: 12_345), isStandardColor: isStandardColor
        ).changing(packet)
    }

    private func changing(_ packet: String, isStandardColor: Bool = false) -> String {
        String(decoding: changing(Array(packet.utf8), isStandardColor: isStandardColor), as: UTF8.self)
    }

    @Test func bothWaysToSayTheOrientationAreChanged() {
        for orientation in Orientation.allCases {
            let changed = changing(XMPMaker.packet(orientation: 6), orientation)
            #expect(changed == XMPMaker.packet(orientation: Int(orientation.rawValue)))
        }
    }

    /// The packet of a rotated or scaled picture once stated the size of the original.
    @Test func theSizeIsThatOfTheNewFile() {
        let old = """
            <rdf:Description tiff:ImageWidth="320" tiff:ImageLength = '200'
            exif:PixelXDimension="320"><exif:PixelYDimension>200</exif:PixelYDimension></rdf:Description>
            """
        let new = """
            <rdf:Description tiff:ImageWidth="7" tiff:ImageLength = '12345'
            exif:PixelXDimension="7"><exif:PixelYDimension>12345</exif:PixelYDimension></rdf:Description>
            """
        #expect(changing(old) == new)
    }

    @Test func theColoursAreThoseOfTheNewFileWhereTheyAreConverted() {
        let old = #"<a exif:ColorSpace="65535" photoshop:ICCProfile="Adobe RGB (1998)"/>"#
        #expect(changing(old) == old)
        let new = #"<a exif:ColorSpace="1" photoshop:ICCProfile="sRGB IEC61966-2.1"/>"#
        #expect(changing(old, isStandardColor: true) == new)
    }

    /// The packet of a cropped picture once still had a thumbnail of the whole.
    @Test func picturesInThePacketAreEmptied() {
        let old = """
            <rdf:Description GImage:Data="/9j/4AAQ" xapGImg:image='/9j/4AAQ' dc:title="image">
            <xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType="Resource"><xmpGImg:width>160</xmpGImg:width>
            <xmpGImg:image>/9j/4AAQSkZJRg&#xA;ABAQEASABIAAD=</xmpGImg:image></rdf:li></rdf:Alt></xmp:Thumbnails>
            """
        let new = """
            <rdf:Description GImage:Data="" xapGImg:image='' dc:title="image">
            <xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType="Resource"><xmpGImg:width>160</xmpGImg:width>
            <xmpGImg:image></xmpGImg:image></rdf:li></rdf:Alt></xmp:Thumbnails>
            """
        #expect(changing(old) == new)
    }

    @Test func aFilesPacketTellsTheFilesSize() throws {
        let packet = Array(#"<a exif:PixelXDimension="4000" exif:ColorSpace="65535" tiff:Orientation="6"/>"#.utf8)
        let image = try Drawings.picture(40, 30).with { $0.metadata = ImageMetadata(xmp: packet) }
        let file = try PNGCoder().encode(image, as: .png, EncodeOptions(keepsMetadata: true))
        let read = try CoderRegistry.standard.decode(file).image.info.metadata.xmp ?? []
        let wanted = #"<a exif:PixelXDimension="40" exif:ColorSpace="1" tiff:Orientation="1"/>"#
        #expect(String(decoding: read, as: UTF8.self) == wanted)
    }

    @Test func cutPacketsKeepTheirLengthAndLookalikesTheirText() {
        let whole = XMPMaker.packet(orientation: 3)
        for length in 0...whole.count {
            let cut = Array(whole.prefix(length))
            #expect(changing(cut, .left).count == length)
        }
        for plain in [
            "tiff:Orientationtiff:Orientation=tiff:Orientation=\"66\"",
            #"< tiff:Orientation="66" tiff:ImageWidth="x"/>"#,
            #"<a dc:title="exif:PixelXDimension" b='320'/>"#, "</tiff:ImageWidth>320<", "<tiff:ImageWidth>",
        ] { #expect(changing(plain) == plain) }
    }
}
