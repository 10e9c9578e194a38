import Testing
import WebImage
import WebImageCore
import WebImageTesting

/// `webimage info --placeholder`.
struct PlaceholderCommandTests {
    @Test func hashesAndColoursAreTold() async throws {
        let bench = try CommandBench()
        let bytes = try Pictures.png(90, 60)
        try bench.write(bytes, to: "a.png")
        let line = try #require(try await bench.run("info", "--placeholder", "a.png", "--json").objects.first)
        let image = try SamplePictures.testCard(PixelSize(width: 90, height: 60))
        // The picture is so small that the command does not scale it.
        #expect(line.text("blurhash") == (try BlurHash(of: image).text))
        #expect(line.text("thumbhash") == (try ThumbHash(of: image).base64))
        let colors = try ImageColors(of: image)
        let texts = [colors.average, colors.dominant].map { Self.text($0) }
        #expect([line.text("average_color"), line.text("dominant_color")] == texts)
        #expect(line.texts("palette") == colors.palette.map { Self.text($0.color) })
        #expect(line.number("width") == 90 && line.number("bytes") == bytes.count && line.text("source") == "file")
        let run = try await bench.run("info", "--placeholder", "a.png")
        #expect(run.lines.count == 2 && run.lines[0].hasPrefix("a.png: png 90x60"))
        #expect(run.lines[1].contains("blurhash \(line.text("blurhash") ?? "?"), thumbhash "))
        #expect(run.lines[1].contains(", dominant \(texts[1]), palette #"))
    }

    private static func text(_ color: RGBColor?) -> String {
        let digits = [color?.red, color?.green, color?.blue].compactMap(\.self).map { level in
            (level < 16 ? "0" : "") + String(level, radix: 16)
        }
        return "#" + digits.joined()
    }

    @Test func withoutTheOptionNoPlaceholdersAreReported() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        let line = try #require(try await bench.run("info", "a.png", "--json").objects.first)
        for name in ["blurhash", "thumbhash", "average_color", "dominant_color", "palette"] {
            #expect(line.isNull(name))
        }
        #expect(try await bench.run("info", "a.png").lines.count == 1)
    }

    @Test func aLargePictureOfAServerIsFetchedOnceAndTurned() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.jpeg(400, 600, orientation: .right))
        let line = try #require(try await bench.run("info", "--placeholder", url, "--json").objects.first)
        #expect(bench.origin.hits("/a.jpg") == 1)
        #expect(line.text("source") == "network" && line.number("width") == 600 && line.number("orientation") == 6)
        let hash = try ThumbHash(base64: try #require(line.text("thumbhash")))
        #expect(hash.aspectRatio < 1)
    }

    @Test func standardInputAndTransparencyAreTaken() async throws {
        let bench = try CommandBench()
        let run = try await bench.run("info", "--placeholder", "-", "--json", input: try Pictures.logo())
        let line = try #require(try run.objects.first)
        #expect(try ThumbHash(base64: try #require(line.text("thumbhash"))).hasAlpha)
        #expect(line.text("path") == "-")
    }

    /// A local file of more than 64 MiB, the limit for downloads. That limit once held for local files, too, even with
    /// `--max-bytes`.
    @Test func aLocalFileOver64MiBHasPlaceholders() async throws {
        let bench = try CommandBench()
        var bytes = try SamplePictures.testCard(PixelSize(width: 8, height: 8)).encoded(as: .bmp)
        // Inserts 65 MiB between the header and the pixels. The offset of the pixels is in the four bytes from offset
        // 10.
        bytes.insert(contentsOf: [UInt8](repeating: 0, count: 65 << 20), at: Int(bytes[10]))
        (bytes[12], bytes[13]) = (0x10, 0x04)
        try bench.write(bytes, to: "long.bmp")
        let line = try #require(try await bench.run("info", "--placeholder", "long.bmp", "--json").objects.first)
        #expect(line.text("status") == "ok" && line.text("blurhash") != nil && line.number("bytes") == bytes.count)
    }

    @Test func theOptionThatAnErrorNamesIsThere() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(90, 60), to: "a.png")
        let run = try await bench.run("info", "--placeholder", "a.png", "--max-pixels", "5000", "--json")
        let line = try #require(try run.objects.first)
        #expect(run.code == 1 && line.errorNames == ["badImageData", "limitExceeded"] && line.number("width") == 90)
        #expect(try await bench.run("info", "--placeholder", "a.png", "--max-pixels", "5400").code == 0)
        #expect(try await bench.run("info", "a.png", "--max-pixels", "1").code == 0)
    }

    /// Placeholders of an incomplete picture would be wrong.
    @Test func aPictureThatIsCutShortHasAHeaderAndNoPlaceholders() async throws {
        let bench = try CommandBench()
        let whole = try Pictures.png(300, 200)
        try bench.write(Array(whole.prefix(whole.count * 2 / 3)), to: "cut.png")
        let run = try await bench.run("info", "--placeholder", "cut.png", "--json")
        let line = try #require(try run.objects.first)
        #expect(run.code == 1 && line.text("status") == "partial" && line.number("width") == 300)
        #expect(line.errorNames == ["truncatedData"] && line.isNull("blurhash") && line.isNull("palette"))
        let plain = try await bench.run("info", "--placeholder", "cut.png")
        #expect(plain.code == 1 && plain.text == "" && plain.errors.hasPrefix("partial  png 300x200"))
    }

    @Test func aPictureThatCannotBeDecodedFailsAndTheOthersAreTold() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.broken(), to: "broken.png")
        try bench.write(try Pictures.png(), to: "a.png")
        let run = try await bench.run("info", "--placeholder", "broken.png", "gone.png", "a.png", "--json")
        #expect(run.code == 1)
        let objects = try run.objects
        #expect(objects.map { $0.text("status") } == ["error", "error", "ok"])
        #expect(objects[0].number("width") == 300 && objects[0].isNull("blurhash"))
        #expect(objects[2].texts("palette")?.isEmpty == false)
    }
}
