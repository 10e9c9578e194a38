import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@Suite(.enabled(if: Corpus.isAvailable)) struct GIFAndBMPCorpusTests {
    private static let rows = Corpus.rows.filter { ["gif", "bmp"].contains($0.format) }

    @Test(arguments: Self.rows.filter { $0.expected == "ok" })
    func theFirstFrameIsAsTheManifestSays(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        let whole = decode(bytes)
        #expect(whole.error == nil && whole.wasComplete)
        let header = try #require(whole.header)
        #expect(header.format.rawValue == row.format)
        #expect(header.size == PixelSize(width: row.width, height: row.height))
        #expect(header.frameCount == row.frames && header.loopCount == row.playCount)
        // The manifest describes all frames. In this file only later frames have transparency.
        let isLate = row.path.hasSuffix("/dispose_bgnd.gif")
        #expect(header.hasAlpha == (row.hasAlpha && !isLate))
        let means = whole.pixels.premultipliedMeans
        let fits = row.accepted.contains { zip($0, means).allSatisfy { abs($0 - $1) <= 2 } }
        #expect(fits, "\(means) is none of \(row.accepted)")
        if whole.format?.alpha == .opaque { #expect(means[3] == 255) }
    }

    @Test(arguments: Self.rows.filter { $0.expected == "ok" })
    func piecesGiveTheSamePixels(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        let whole = decode(bytes)
        let lengths = randomLengths(seed: 3, most: row.byteCount < 5000 ? 30 : 3000)
        let pieces = decode(bytes, keepsWhole: false, previewEvery: 3, length: lengths)
        #expect(pieces.error == nil && pieces.pixels == whole.pixels && pieces.header == whole.header)
    }

    @Test(arguments: Self.rows.filter { $0.path.hasPrefix("malformed/") })
    func damagedFilesGiveATypedAnswer(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        let codes: Set<WebImageError.Code> = [.corruptData, .truncatedData, .limitExceeded, .unsupportedFeature]
        let result = decode(bytes)
        if let error = result.error { #expect(codes.contains(error.code), "\(error)") }
        #expect(row.expected == "partial" || result.error != nil)
    }
}
