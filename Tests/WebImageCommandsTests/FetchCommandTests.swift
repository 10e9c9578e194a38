import Testing
import WebImageCore
import WebImageTesting

/// The files and the output of `webimage fetch`.
struct FetchCommandTests {
    private static let keys = [
        "url", "status", "error", "source", "format", "width", "height", "frames", "loop_count", "orientation",
        "has_alpha", "bit_depth", "icc", "dpi", "exif_bytes", "xmp_bytes", "iptc_bytes", "taken", "camera",
        "latitude", "longitude", "bytes", "blurhash", "thumbhash",
        "average_color", "dominant_color", "palette", "output", "output_format", "output_width", "output_height",
        "output_bytes", "timings_ms",
    ]

    @Test func aFailedInputDoesNotKeepTheOthersFromBeingWritten() async throws {
        let bench = try CommandBench()
        let (jpeg, png) = (try Pictures.jpeg(), try Pictures.png())
        let urls = [bench.serve("/a.jpg", jpeg), bench.origin.url("/dead.jpg"), bench.serve("/b.png", png)]
        let run = try await bench.run(["fetch"] + urls + ["-o", "out", "--json"])
        #expect(run.code == 1)
        #expect(run.errors == "")
        #expect(bench.names(in: "out") == ["a.jpg", "b.png"])
        #expect(bench.read("out/a.jpg") == jpeg)
        #expect(bench.read("out/b.png") == png)
        let objects = try run.objects
        #expect(Set(objects.map { $0.text("url") }) == Set(urls))
        #expect(objects.allSatisfy { $0.keys == Self.keys })
        let dead = try #require(objects.first { $0.text("url") == urls[1] })
        #expect(dead.text("status") == "error" && dead.errorNames == ["badStatus"])
        #expect(dead.isNull("format") && dead.isNull("output") && dead.isNull("width"))
    }

    @Test func aJSONLineDescribesThePictureAndTheOutput() async throws {
        let bench = try CommandBench()
        let jpeg = try Pictures.jpeg(120, 200, orientation: .right)
        let url = bench.serve("/a.jpg", jpeg)
        let run = try await bench.run("fetch", url, "-o", "a.png", "--format", "png", "--json")
        let line = try #require(try run.objects.first)
        #expect(run.code == 0 && run.lines.count == 1 && run.errors == "")
        #expect(line.text("url") == url && line.text("status") == "ok" && line.isNull("error"))
        #expect(line.text("source") == "network" && line.text("format") == "jpeg")
        // The picture is stored on its side and shown upright.
        #expect(line.number("width") == 200 && line.number("height") == 120 && line.number("orientation") == 6)
        #expect(line.number("frames") == 1 && line.isNull("loop_count") && line.flag("has_alpha") == false)
        #expect(line.number("bit_depth") == 8 && line.isNull("icc") && line.number("bytes") == jpeg.count)
        #expect(line.text("output") == "a.png" && line.text("output_format") == "png")
        #expect(line.number("output_width") == 120 && line.number("output_height") == 200)
        #expect(line.number("output_bytes") == bench.read("a.png")?.count)
        let timings = try #require(run.text.firstRange(of: "\"timings_ms\":"))
        let inner = try JSONObject(String(run.lines[0][timings.upperBound...].dropLast()))
        #expect(
            inner.keys == [
                "queue", "connect", "first_byte", "transfer", "decode", "transform", "encode", "store", "total",
            ])
    }

    @Test func oneInputGoesToAFileWithItsOwnBytes() async throws {
        let bench = try CommandBench()
        let jpeg = try Pictures.jpeg()
        let run = try await bench.run("fetch", bench.serve("/a", jpeg), "-o", "picture.bin")
        #expect(run.code == 0 && run.errors == "" && run.text.hasPrefix("ok "))
        #expect(bench.read("picture.bin") == jpeg)
        #expect(bench.names() == ["picture.bin"])
    }

    @Test func standardOutputGetsTheBytesAndNothingElse() async throws {
        let bench = try CommandBench()
        let jpeg = try Pictures.jpeg()
        let run = try await bench.run("fetch", bench.serve("/a.jpg", jpeg), "-o", "-")
        #expect(run.code == 0 && run.output == jpeg && run.errors == "")
    }

    @Test func standardInputIsAnInput() async throws {
        let bench = try CommandBench()
        let jpeg = try Pictures.jpeg()
        let run = try await bench.run("fetch", "-", "-o", "in.jpg", input: jpeg)
        #expect(run.code == 0 && bench.read("in.jpg") == jpeg)
    }

    @Test func filesAndDataURLsAreInputsWhoseSourceIsFile() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a b.png")
        let pixel =
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        let inputs = ["a b.png", "file://\(bench.path("a%20b.png"))", pixel]
        let run = try await bench.run(["fetch"] + inputs + ["-o", "out/", "--json"])
        #expect(run.code == 0)
        let objects = try run.objects
        #expect(Set(objects.map { $0.text("path") ?? $0.text("url") }) == Set(inputs))
        #expect(objects.allSatisfy { $0.text("source") == "file" && $0.text("status") == "ok" })
        #expect(bench.names(in: "out") == ["a b-2.png", "a b.png", "data.png"])
    }

    @Test(arguments: [
        (["--size", "100x100"], "100x60"), (["--size", "100x"], "100x60"), (["--size", "x30"], "50x30"),
        (["--size", "50x50", "--fit", "cover"], "50x50"), (["--size", "50x80", "--fit", "fill"], "50x80"),
        (["--size", "400x400"], "200x120"), (["--size", "400x400", "--upscale"], "400x240"),
        (["--size", "400x400", "--fit", "cover"], "120x120"),
        (["--size", "400x400", "--fit", "cover", "--upscale"], "400x400"),
    ])
    func sizesComeOutAsAsked(options: [String], size: String) async throws {
        let bench = try CommandBench()
        let run = try await bench.run(
            ["fetch", bench.serve("/a.jpg", try Pictures.jpeg(200, 120)), "-o", "a.jpg", "--json"] + options)
        #expect(run.code == 0)
        let line = try #require(try await bench.run("info", "a.jpg", "--json").objects.first)
        #expect("\(line.number("width") ?? 0)x\(line.number("height") ?? 0)" == size)
        let told = try #require(try run.objects.first)
        #expect("\(told.number("output_width") ?? 0)x\(told.number("output_height") ?? 0)" == size)
    }

    @Test func theOutputHasTheRequestedFormat() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/pictures/a.jpg", try Pictures.jpeg())
        let run = try await bench.run("fetch", url, "--format", "png", "-o", "out/")
        #expect(run.code == 0 && bench.names(in: "out") == ["a.png"])
        #expect(bench.read("out/a.png")?.prefix(4) == [0x89, 0x50, 0x4E, 0x47])
    }

    @Test func equalNamesAreMadeUnique() async throws {
        let bench = try CommandBench()
        let png = try Pictures.png()
        let paths = ["/x/a.png", "/y/a.png?v=2", "/z/A.PNG", "/odd%2Fname%0A.png", "/", "/%C3%BC%20.png"]
        let urls = paths.map { bench.serve($0, png) }
        let run = try await bench.run(["fetch"] + urls + [urls[0], "-o", "out"])
        #expect(run.code == 0)
        let expected: Set = ["a.png", "a-2.png", "A-3.PNG", "odd_name_.png", "image", "ü .png", "a-4.png"]
        #expect(Set(bench.names(in: "out")) == expected)
    }

    @Test func aListGivesTheInputs() async throws {
        let bench = try CommandBench()
        let png = try Pictures.png()
        let list = "# pictures\n\(bench.serve("/a.png", png))\r\n\n  \(bench.serve("/b.png", png))  \n"
        try bench.write(Array(list.utf8), to: "list.txt")
        #expect(try await bench.run("fetch", "--input-list", "list.txt", "-o", "one").code == 0)
        #expect(bench.names(in: "one") == ["a.png", "b.png"])
        let piped = try await bench.run("fetch", "--input-list", "-", "-o", "two", input: Array(list.utf8))
        #expect(piped.code == 0)
        #expect(bench.names(in: "two") == ["a.png", "b.png"])
    }

    @Test func aQualityIsNotIgnoredWhereTheFormatStays() async throws {
        let bench = try CommandBench()
        let bytes = try Pictures.jpeg()
        try bench.write(bytes, to: "a.jpg")
        #expect(try await bench.run("fetch", "a.jpg", "-o", "b.jpg", "--quality", "5").code == 0)
        let written = try #require(bench.read("b.jpg"))
        #expect(written.count < bytes.count && written.starts(with: [0xFF, 0xD8]))
    }

    /// A vector picture that was drawn is a bitmap, and gets a bitmap's name.
    @Test func drawnVectorPicturesGetTheNameOfABitmap() async throws {
        let bench = try CommandBench()
        try bench.write(Array("<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'/>".utf8), to: "v.svg")
        #expect(try await bench.run("fetch", "v.svg", "-o", "as-it-is/").code == 0)
        #expect(bench.names(in: "as-it-is") == ["v.svg"])
        #expect(try await bench.run("fetch", "v.svg", "-o", "drawn/", "--size", "40x").code == 0)
        #expect(bench.names(in: "drawn") == ["v.png"])
    }

    @Test func anEmptyListIsNoFailure() async throws {
        let bench = try CommandBench()
        let run = try await bench.run("fetch", "--input-list", "-", "-o", "out", "--json")
        #expect(run.code == 0 && run.text == "" && run.errors == "")
    }

    @Test func headersAndCredentialsReachTheOrigin() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.png())
        let run = try await bench.run(
            "fetch", url, "--header", "X-One: 1", "--header", "X-Two: a: b", "--user", "me:pa:ss")
        #expect(run.code == 0)
        let request = try #require(bench.origin.requests("/a.png").first)
        #expect(request.header("X-One") == "1" && request.header("X-Two") == "a: b")
        #expect(request.header("Authorization") == "Basic bWU6cGE6c3M=")
    }

    @Test func previewsAreKeptWhileAPictureArrives() async throws {
        let bench = try CommandBench()
        let (bytes, gate) = (try Pictures.progressive(), Gate())
        bench.origin.serve("/a.jpg", .bytes(bytes).with(.hold(gate, at: .byte(bytes.count * 3 / 4))))
        try PosixFolder.make(bench.path("previews"))
        let arrival = try FileArrival(in: bench.path("previews"))
        async let run = bench.run("fetch", bench.origin.url("/a.jpg"), "--progressive", "previews", "-o", "a.jpg")
        #expect(await arrival.wait(), "no preview came while three quarters were there")
        #expect(bench.read("a.jpg") == nil)
        gate.open()
        #expect(try await run.code == 0)
        #expect(bench.read("a.jpg") == bytes)
        let previews = bench.names(in: "previews")
        let infos = try await bench.run(["info", "--json"] + previews.map { "previews/" + $0 }).objects
        #expect(!infos.isEmpty)
        #expect(infos.allSatisfy { $0.text("format") == "png" && $0.number("width") == 640 })
    }
}
