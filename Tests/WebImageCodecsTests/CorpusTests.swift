import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@Suite(.enabled(if: Corpus.isAvailable)) struct CorpusTests {
    @Test(arguments: Corpus.rows.filter { $0.isOurs && $0.expected == "ok" })
    func thePictureIsAsTheManifestSays(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        let whole = try CoderRegistry.standard.decode(bytes)
        #expect(whole.error == nil)
        let header = try #require(whole.image.info.header)
        #expect(header.size == PixelSize(width: row.width, height: row.height))
        #expect(Int(whole.image.info.orientation.rawValue) == row.orientation)
        #expect(header.hasAlpha == row.hasAlpha || row.format == "apng")
        #expect(header.format.rawValue == row.format)
        let means = whole.image.withPixels { premultipliedMeans(of: $0) }
        let fits = row.accepted.contains { zip($0, means).allSatisfy { abs($0 - $1) <= 2 } }
        #expect(fits, "\(means) is none of \(row.accepted)")
        if let count = row.profileCount, !row.hasProfileThatIsNone { #expect(header.iccProfile?.count == count) }
    }

    @Test(arguments: Corpus.rows.filter { $0.isOurs && $0.expected == "ok" && $0.byteCount < 400_000 })
    func piecesGiveTheSamePixels(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        let whole = decode(bytes)
        let most = row.byteCount < 5000 ? 30 : 5000
        let pieces = decode(bytes, keepsWhole: false, previewEvery: 7, length: randomLengths(seed: 3, most: most))
        #expect(pieces.error == nil && pieces.pixels == whole.pixels)
    }

    @Test(
        arguments: Corpus.rows.filter {
            $0.isOurs && $0.expected == "ok" && $0.format == "jpeg" && $0.byteCount < 700_000
        })
    func scaledPicturesHaveTheSameMeans(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        // In smaller pictures the edges count too much.
        guard min(row.width, row.height) >= 300 else { return }
        for scale in [2, 4, 8] {
            let result = decode(bytes, scale: scale, length: { 10_000 })
            #expect(result.error == nil)
            let means = result.pixels.premultipliedMeans
            #expect(row.accepted.contains { zip($0, means).allSatisfy { abs($0 - $1) <= 2.5 } }, "1/\(scale): \(means)")
        }
    }

    @Test(arguments: Corpus.rows.filter { $0.path.hasPrefix("malformed/") && $0.expected != "ok" && $0.looksLikeOurs })
    func damagedFilesGiveATypedAnswer(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        let codes: Set<WebImageError.Code> = [.corruptData, .truncatedData, .limitExceeded, .unsupportedFeature]
        do throws(WebImageError) {
            let picture = try CoderRegistry.standard.decode(bytes)
            #expect(row.expected == "partial")
            if let error = picture.error { #expect(error.code == .truncatedData) }
        } catch {
            #expect(codes.contains(error.code), "\(error)")
        }
    }

    @Test func filesThatAreNoPicturesAreAnUnknownFormat() throws {
        for (path, word) in [("html-404.jpg", "HTML"), ("json-error.webp", "JSON"), ("zero-bytes.jpg", "no bytes")] {
            let bytes = try #require(Corpus.read("malformed/\(path)"))
            let error = #expect(throws: WebImageError.self) { try CoderRegistry.standard.decode(bytes) }
            #expect(error?.code == .unknownFormat && error?.message.contains(word) == true)
        }
    }

    @Test(arguments: Corpus.rows.filter { $0.isOurs && $0.expected == "ok" && $0.byteCount < 3000 })
    func everyCutGivesATypedAnswer(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        for length in stride(from: 0, to: bytes.count, by: row.byteCount < 800 ? 1 : 9) {
            let cut = decode(Array(bytes.prefix(length)), length: { 200 })
            guard let error = cut.error else { continue }
            #expect(error.code == .truncatedData || error.code == .unknownFormat, "at \(length): \(error)")
        }
    }
}

extension CorpusRow {
    fileprivate var isOurs: Bool { ["jpeg", "png", "apng"].contains(format) }
    /// libpng does not return a profile that cannot be valid.
    fileprivate var hasProfileThatIsNone: Bool { path.contains("garbage-icc") }

    /// Whether the file's first bytes say JPEG or PNG.
    fileprivate var looksLikeOurs: Bool {
        guard let bytes = Corpus.read(path), let format = ImageFormat(sniffing: bytes) else { return false }
        return [.jpeg, .png, .apng].contains(format)
    }
}
