import Testing

@testable import WebImageCommands

@Suite struct ToldWarningsTests {
    @Test func aWarningIsShownOnce() {
        var told = ToldWarnings()
        #expect(told.line(for: "the disk is full") == "the disk is full")
        #expect(told.line(for: "the disk is full") == nil)
        #expect(told.line(for: "the disk is full: /a") == "the disk is full: /a")
    }

    /// A hundred warnings of one kind once hid all that followed.
    @Test func manyOfOneKindEndWithALineThatSaysSoAndHideNoOtherKind() {
        var told = ToldWarnings()
        let lines = (0..<300).compactMap { told.line(for: "an entry is damaged: \($0)") }
        #expect(lines.count == 101)
        #expect(lines.last == "an entry is damaged: there are more, which are not shown")
        #expect(told.line(for: "a store failed: full") == "a store failed: full")
    }
}
