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

/// Damaged files of every format that the registry reads. Each gives a picture, a part of one, or a typed error.
@Suite struct SweepTests {
    @Test(arguments: SmallPictures.all())
    func smallPicturesSurviveAllDamage(_ file: SmallPictures.File) throws {
        let sweep = try Sweep(file.name, file.bytes, SweepPlan(cuts: 50, flips: 40, pieces: 2, frames: 4))
        #expect(sweep.format == file.format)
        let report = sweep.run()
        #expect(report.decodes > 90)
        // A cut may leave the picture complete: end markers are a small part of a still, but in an animation the later
        // frames follow the picture.
        #expect(report.cutsByCode["complete", default: 0] < 35, "\(report.cutsByCode)")
    }

    /// A format that is added to the registry without a fixture would not be swept.
    @Test func everyFormatThatIsReadHasAFixture() {
        let formats = Set(SmallPictures.all().map(\.format)).union(
            Corpus.rows.filter { $0.expected == "ok" }.map { ImageFormat(rawValue: $0.format) })
        let missing = CoderRegistry.standard.decodableFormats.filter { !formats.contains($0) }
        #expect(missing.isEmpty || !Corpus.isAvailable, "\(missing)")
    }

    /// A sample of the sweep that `make soak` does with all files.
    @Test(
        .enabled(if: Corpus.isAvailable),
        arguments: SweepRows.readable.filter { $0.byteCount < 30_000 && $0.width * $0.height <= 50_000 })
    func aSampleOfTheCorpusSurvivesAFewCutsAndFlips(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        #expect(try Sweep(row.path, bytes, .sample).run().decodes >= 44)
    }
}

/// The sweep of the whole corpus, which `make soak` runs.
@Suite(.serialized, .enabled(if: Corpus.isAvailable && getenv("WEBIMAGE_SOAK") != nil)) struct SweepSoakTests {
    @Test func everyFileOfTheCorpusSurvivesAllCutsAndFlips() throws {
        var total = Sweep.Report()
        for row in SweepRows.readable {
            let bytes = try #require(Corpus.read(row.path))
            let report = try Sweep(row.path, bytes, .full(pixels: row.width * row.height)).run()
            // No file of the corpus may hold up a decoder, however damaged it is. Undamaged ones take less than a
            // second.
            #expect(report.slowest < .seconds(10), "\(row.path)")
            if report.slowest > .seconds(1) { print("\(row.path): \(report.slowest) for the slowest decode") }
            total.add(report)
        }
        // The limit holds whatever damaged headers state. The largest picture has 24 megapixels and is decoded twice.
        let peak = SweepRows.peakMemory
        #expect(peak < 1 << 30, "\(peak >> 20) MiB")
        print(
            "\(SweepRows.readable.count) files, \(total.decodes) decodes, slowest \(total.slowest), "
                + "peak \(peak >> 20) MiB; cuts: \(total.cutsByCode.sorted { $0.key < $1.key })")
    }
}

private enum SweepRows {
    /// The sound files that a coder of this build reads.
    static var readable: [CorpusRow] {
        let formats = Set(CoderRegistry.standard.decodableFormats)
        return Corpus.rows.filter { row in
            row.expected == "ok"
                && Corpus.read(row.path).flatMap { ImageFormat(sniffing: $0) }.map(formats.contains)
                    == true
        }
    }

    /// The peak resident memory of the process so far, in bytes.
    static var peakMemory: Int {
        var usage = rusage()
        // Linux states it in KiB.
        return getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 ? usage.ru_maxrss << 10 : 0
    }
}
