import ServerGrammar
import Testing
import WebImage

@testable import ServerImages

@Suite struct LongestSideTests {
    /// A JPEG with sides from 65 501 to 65 535 pixels was once refused instead of being made smaller.
    @Test(arguments: ResultFormat.allCases.filter { $0.longestSide != nil })
    func aPictureOfTheLongestSideIsWritten(_ format: ResultFormat) throws {
        guard CoderRegistry.standard.encodableFormats.contains(format.imageFormat) else { return }
        let size = PixelSize(width: try #require(format.longestSide), height: 64)
        let image = try Image(size: size, alpha: .opaque) { bytes in for at in bytes.indices { bytes[at] = 255 } }
        #expect(throws: Never.self) { try image.encoded(as: format.imageFormat) }
    }
}
