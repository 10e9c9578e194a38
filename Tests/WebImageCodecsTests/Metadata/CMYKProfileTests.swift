import Testing
import WebImageCodecs
import WebImageCore

@Suite struct CMYKProfileTests {
    /// L* of the paper and of full cyan, from 0 to 255. Every other mixture of full inks is black.
    private static let (paper, cyan) = (UInt8(255), UInt8(128))

    @Test(arguments: [false, true]) func inksBecomeWhatTheirProfileSays(hasAdobeMarker: Bool) {
        for (inks, grey) in [([0, 0, 0, 0], 255), ([255, 0, 0, 0], 119), ([0, 0, 0, 255], 0)] as [([UInt8], Int)] {
            // Inks are stored inverted, with and without Adobe's marker.
            let plain = JPEGMaker.flatCMYK(inks.map { 255 - $0 }, width: 19, height: 9, hasAdobeMarker: hasAdobeMarker)
            let file = withProfile(Self.profile, plain)
            for (scale, length) in [(1, Int.max), (1, 50), (8, Int.max)] {
                let result = decode(file, scale: scale, length: { length })
                #expect(result.error == nil && result.header?.iccProfile == Self.profile)
                let isGrey = result.pixels.bytes.enumerated().allSatisfy { index, value in
                    abs(Int(value) - (index % 4 == 3 ? 255 : grey)) <= 3
                }
                #expect(isGrey, "\(inks): \(result.pixels)")
            }
        }
    }

    #if TIFF
        @Test func inksOfATIFFBecomeWhatTheirProfileSays() {
            var maker = TIFFMaker(
                width: 3, height: 1, photometric: 5, samples: 4, values: [0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255])
            maker.profile = Self.profile
            let result = decode(maker.file())
            let greys = [255, 119, 0].flatMap { [$0, $0, $0, 255] }
            #expect(zip(result.pixels.bytes, greys).allSatisfy { abs(Int($0) - $1) <= 1 }, "\(result.pixels)")
        }
    #endif

    @Test func aProfileThatCannotBeUsedIsLeftAlone() {
        let plain = JPEGMaker.flatCMYK([255, 0, 0, 0], width: 8, height: 8, hasAdobeMarker: false)
        let expected = decode(plain).pixels
        for cut in [0, 127, 128, 140, Self.profile.count / 2] {
            #expect(decode(withProfile(Array(Self.profile.prefix(cut)), plain)).pixels == expected)
        }
        var ofRGB = Self.profile
        ofRGB.replaceSubrange(16..<20, with: "RGB ".utf8)
        #expect(decode(withProfile(ofRGB, plain)).pixels == expected)
    }

    private func withProfile(_ profile: [UInt8], _ jpeg: [UInt8]) -> [UInt8] {
        let marker = JPEGMaker.marker(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile)
        return Array(jpeg.prefix(2)) + marker + jpeg.dropFirst(2)
    }

    /// A printer's profile (ICC.1:2001, 6.5.7), which is a table with two points for each ink.
    private static let profile: [UInt8] = {
        var table = Array("mft1".utf8) + [0, 0, 0, 0, 4, 3, 2, 0]
        for index in 0..<9 { table += index % 4 == 0 ? [0, 1, 0, 0] : [0, 0, 0, 0] }
        for _ in 0..<4 { table += (0...255).map { UInt8($0) } }
        for point in 0..<16 { table += [point == 0 ? paper : point == 8 ? cyan : 0, 128, 128] }
        for _ in 0..<3 { table += (0...255).map { UInt8($0) } }
        var header = [UInt8](repeating: 0, count: 128)
        let length = 128 + 4 + 12 + table.count
        header.replaceSubrange(0..<4, with: big(length))
        header.replaceSubrange(8..<12, with: [2, 0x10, 0, 0])
        header.replaceSubrange(12..<24, with: "prtrCMYKLab ".utf8)
        header.replaceSubrange(36..<40, with: "acsp".utf8)
        // The white point D50.
        header.replaceSubrange(68..<80, with: [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D])
        return header + big(1) + Array("A2B0".utf8) + big(144) + big(table.count) + table
    }()

    private static func big(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - $0 * 8) & 255) } }
}
