import Testing

@testable import WebImageProcessing

@Suite struct ICCProfileNameTests {
    @Test func namesOfBothKinds() {
        #expect(ICCProfile.name(of: profile(texts("A\u{e9}\u{1F58C}"))) == "A\u{e9}\u{1F58C}")
        #expect(ICCProfile.name(of: profile(oldText("Adobe RGB (1998)"))) == "Adobe RGB (1998)")
        #expect(ICCProfile.name(of: profile(oldText(""))) == nil)
        #expect(ICCProfile.name(of: profile(Array("XYZ ".utf8) + [UInt8](repeating: 0, count: 16))) == nil)
        #expect(ICCProfile.name(of: profile(oldText("a"), tag: "cprt")) == nil)
        #expect(ICCProfile.name(of: []) == nil)
    }

    @Test func englishIsTakenWhereverItStands() {
        let german = texts("Farben", "deDE")
        #expect(ICCProfile.name(of: profile(german)) == "Farben")
        // Two records. The text of the second, English one begins after both.
        var both = Array("mluc".utf8) + big(0) + big(2) + big(12)
        both += Array("deDE".utf8) + big(2) + big(40) + Array("enGB".utf8) + big(4) + big(42)
        both += [0, 68, 0, 69, 0, 78]
        #expect(ICCProfile.name(of: profile(both)) == "EN")
    }

    /// Found by fuzzing: lcms2 took 400 MB of memory for a description that claimed to have 33 million texts.
    @Test func aDescriptionHasTheTextsThatItHasRoomFor() {
        #expect(ICCProfile.name(of: profile(texts("A", count: 0x0200_0000))) == "A")
        #expect(ICCProfile.name(of: profile(texts("A", count: 0))) == nil)
        let whole = profile(texts("A"))
        for count in 0..<whole.count { #expect(ICCProfile.name(of: Array(whole.prefix(count))) == nil) }
    }

    private func big(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private func texts(_ text: String, _ place: String = "enUS", count: UInt32 = 1) -> [UInt8] {
        let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let head = Array("mluc".utf8) + big(0) + big(count) + big(12)
        return head + Array(place.utf8) + big(UInt32(units.count)) + big(28) + units
    }

    private func oldText(_ text: String) -> [UInt8] {
        Array("desc".utf8) + big(0) + big(UInt32(text.utf8.count + 1)) + Array(text.utf8) + [0]
    }

    /// A profile with one tag.
    private func profile(_ tag: [UInt8], tag name: String = "desc") -> [UInt8] {
        var head = big(UInt32(144 + tag.count)) + [UInt8](repeating: 0, count: 124)
        head.replaceSubrange(36..<40, with: Array("acsp".utf8))
        return head + big(1) + Array(name.utf8) + big(144) + big(UInt32(tag.count)) + tag
    }
}
