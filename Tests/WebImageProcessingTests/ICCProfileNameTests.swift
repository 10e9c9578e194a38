import Testing

@testable import WebImageProcessing

@Suite struct ICCProfileNameTests {
    /// Found by fuzzing: a description that said it had 33 million texts took 400 MB of memory for them.
    @Test func aDescriptionHasRoomForItsTexts() {
        #expect(ICCProfile.descriptionsFit(profile(texts: 1)))
        #expect(!ICCProfile.descriptionsFit(profile(texts: 2)))
        #expect(!ICCProfile.descriptionsFit(profile(texts: 0x0200_0000)))
        #expect(ICCProfile.name(of: profile(texts: 0x0200_0000)) == nil)
        #expect(!ICCProfile.descriptionsFit(Array(profile(texts: 1).prefix(140))))
        #expect(!ICCProfile.descriptionsFit([]))
    }

    /// One tag, with room for one text.
    private func profile(texts: UInt32) -> [UInt8] {
        func big(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        let head = [UInt8](repeating: 0, count: 128) + big(1) + Array("desc".utf8) + big(144) + big(30)
        return head + Array("mluc".utf8) + big(0) + big(texts) + big(12) + Array("enUS".utf8) + big(2) + big(28) + [
            0, 65,
        ]
    }
}
