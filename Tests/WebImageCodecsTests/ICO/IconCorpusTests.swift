import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@Suite(.enabled(if: Corpus.isAvailable)) struct IconCorpusTests {
    private static let rows = Corpus.rows.filter { ["ico", "cur"].contains($0.format) }

    @Test(arguments: rows.filter { $0.expected == "ok" })
    func thePictureIsAsTheManifestSays(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        let whole = decode(bytes, with: ICOCoder())
        #expect(whole.error == nil && whole.rows == row.height)
        let header = try #require(whole.header)
        #expect(header.size == PixelSize(width: row.width, height: row.height) && header.hasAlpha == row.hasAlpha)
        #expect(header.format.rawValue == row.format)
        var sums = [0, 0, 0, 0]
        for pixel in stride(from: 0, to: whole.pixels.count, by: 4) {
            let alpha = Int(whole.pixels.bytes[pixel + 3])
            for channel in 0..<3 { sums[channel] += Int(whole.pixels.bytes[pixel + channel]) * alpha }
            sums[3] += alpha * 255
        }
        let means = sums.map { Double($0) / 255 / Double(row.width * row.height) }
        // The reference decoders choose an entry of 8 bits and a smaller one. The deepest of the largest entries has
        // these means.
        let takesAnotherEntry = row.path.hasSuffix("multiple_entries_with_different_bit_depth.ico")
        let accepted = takesAnotherEntry ? [[116.27, 106.49, 113.02, 229.87]] : row.accepted
        let fits = accepted.contains { zip($0, means).allSatisfy { abs($0 - $1) <= 2 } }
        #expect(fits, "\(means) is none of \(accepted)")
        expectToSurviveDamage(bytes, ICOCoder(), seed: 1, stride: 97)
    }

    @Test(arguments: rows.filter { $0.expected == "partial" })
    func damagedFilesGiveATypedAnswer(_ row: CorpusRow) throws {
        let result = decode(try #require(Corpus.read(row.path)), with: ICOCoder())
        let codes: [WebImageError.Code] = [.corruptData, .truncatedData, .unsupportedFeature]
        if let error = result.error { #expect(codes.contains(error.code)) }
        #expect(result.header?.size == PixelSize(width: row.width, height: row.height))
    }
}
