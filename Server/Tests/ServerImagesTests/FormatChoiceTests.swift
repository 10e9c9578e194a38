import ServerConfiguration
import ServerGrammar
import Testing
import WebImage

@testable import ServerImages

@Suite struct FormatChoiceTests {
    private func format(of side: Int, asked: ResultFormat? = nil) throws -> ResultFormat {
        var output = try ServerSettings(
            environment: ["WEBIMAGE_ALLOW_UNSIGNED": "true"], readFile: { _ in nil }, now: { 0 }
        )
        .output
        output.automatic = [.webp, .avif, .jxl]
        output.enforced = [.avif]
        var options = ProcessingOptions()
        options.format = asked
        let choice = FormatChoice(
            options, output, AcceptedFormats(accept: "image/avif,image/webp,image/jxl"),
            writable: Set(ResultFormat.allCases))
        return try choice.format(
            for: FormatChoice.Picture(
                format: .jpeg, size: PixelSize(width: side, height: 1000), expectsAlpha: false, hasAlpha: false,
                isAnimated: false))
    }

    /// An AVIF that the URL does not ask for could only end at the limit of time.
    @Test func aLargeResultIsNotMadeInASlowFormatUnlessAskedFor() throws {
        #expect(
            try [8000, 16_000, 16_001, 40_000, 40_001].map { try format(of: $0) } == [.jxl, .jxl, .webp, .webp, .jpeg])
        #expect(try format(of: 8000, asked: .png) == .avif && format(of: 8001, asked: .png) == .png)
        #expect(try format(of: 50_000, asked: .avif) == .avif)
    }
}
