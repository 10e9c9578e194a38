import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing

@testable import WebImage

@Suite struct DecodeGroupTests {
    private struct Order: PictureOrder {
        var recipe: PictureRecipe
        let place = "a picture"
        let isAbandoned = false
        let isWatched = false
    }

    /// The announced bytes per stored pixel, without the bytes of the result.
    private func share(_ header: ImageHeader, side: Int) throws -> Double {
        let recipe = PictureRecipe(size: TargetSize(PixelSize(width: side, height: side)))
        let groups = DecodeGroup.grouping([Order(recipe: recipe)], header: header, coder: JPEGCoder())
        let result = side * (side * 3 / 4) * 4
        let stored = try #require(header.size.pixelCount)
        return Double(try #require(groups.first).memory - result) / Double(stored)
    }

    /// The less memory a decode announces, the more pictures are decoded at once.
    @Test func aReducedProgressiveJPEGReservesLessDecodeMemory() throws {
        let size = PixelSize(width: 4000, height: 3000)
        var header = ImageHeader(format: .jpeg, size: size, isProgressive: true)
        #expect(try share(header, side: 900) == 6)
        header.isDividedByFrequencies = true
        #expect(try [4000, 900, 300, 100].map { try share(header, side: $0) } == [6, 2.5, 1.25, 0.625])
        header.isProgressive = false
        #expect(try share(header, side: 300) < 0.2)
        // Several scans, though it is not progressive.
        header.isDividedByFrequencies = false
        #expect(try share(header, side: 300) < 0.2)
        header.keepsWholePicture = true
        #expect(try share(header, side: 300) == 6)
    }
}
