import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@Suite(.enabled(if: Corpus.isAvailable)) struct WebPCorpusTests {
    private static let sound = Corpus.rows.filter { $0.format == "webp" && $0.expected == "ok" }

    private static let animations: [String: (frames: Int, loops: Int)] = [
        "animated/anim.webp": (6, 0), "animated/pan-12f-loop5-mixed-delays.webp": (12, 5),
        "animated/random_lossy.webp": (4, 0),
    ]

    @Test(arguments: sound)
    func thePictureIsAsTheManifestSays(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        let whole = decodeWebP(bytes)
        let header = try #require(whole.header)
        #expect(whole.error == nil)
        #expect(header.size == PixelSize(width: row.width, height: row.height) && whole.rows == row.height)
        #expect(header.orientation == Orientation(tag: row.orientation))
        #expect(header.hasAlpha == row.hasAlpha)
        let animation = Self.animations[row.path]
        #expect(header.frameCount == animation?.frames ?? 1 && header.loopCount == animation?.loops)
        if let count = row.profileCount { #expect(header.iccProfile?.count == count) }
        let means = whole.pixels.premultipliedMeans
        #expect(
            row.accepted.contains { zip($0, means).allSatisfy { abs($0 - $1) <= 2 } },
            "\(means) is none of \(row.accepted)")
    }

    @Test(arguments: sound.filter { $0.byteCount < 400_000 })
    func piecesGiveTheSamePixels(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        let whole = decodeWebP(bytes)
        let pieces = decodeWebP(bytes, keepsWhole: false, length: randomLengths(seed: 3, most: 5000))
        #expect(pieces.error == nil && pieces.pixels == whole.pixels && pieces.header == whole.header)
    }

    @Test(arguments: Corpus.rows.filter { $0.format == "webp" && $0.expected != "ok" })
    func damagedFilesGiveATypedAnswer(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        let error = try #require(decodeWebP(bytes).error)
        #expect(error.code == (row.expected == "partial" ? .truncatedData : .limitExceeded), "\(error)")
    }
}
