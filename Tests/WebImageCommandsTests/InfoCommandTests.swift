import Testing
import WebImageCore
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// `webimage info`.
struct InfoCommandTests {
    @Test func filesURLsAndStandardInputAreInputs() async throws {
        let bench = try CommandBench()
        let (jpeg, deep) = (try Pictures.jpeg(orientation: .down), try Pictures.deep())
        try bench.write(deep, to: "deep.png")
        let url = bench.serve("/a.jpg", jpeg)
        let run = try await bench.run("info", "deep.png", url, "-", "--json", input: try Pictures.logo())
        #expect(run.code == 0 && run.errors == "")
        let objects = try run.objects
        try #require(objects.count == 3)
        #expect(objects[0].text("path") == "deep.png" && objects[0].text("source") == "file")
        #expect(objects[0].number("bit_depth") == 16 && objects[0].number("bytes") == deep.count)
        #expect(objects[1].text("url") == url && objects[1].text("source") == "network")
        #expect(objects[1].number("orientation") == 3 && objects[1].number("bytes") == jpeg.count)
        #expect(objects[2].text("path") == "-" && objects[2].flag("has_alpha") == true)
        #expect(objects.allSatisfy { $0.isNull("output") && $0.text("status") == "ok" })
    }

    @Test func standardInputIsReadOnce() async throws {
        let bench = try CommandBench()
        for command in [["info", "-", "-"], ["fetch", "-", "-"], ["show", "-", "-"], ["prefetch", "-"]] {
            #expect(try await bench.run(command, input: try Pictures.png()).code == 2, "\(command)")
        }
    }

    /// The sender keeps the pipe open, or sends much more than the picture. The command reads no more than it needs.
    @Test(arguments: ["sleep 600", "cat /dev/zero", "sh -c 'while printf x; do sleep 0.03; done'"])
    func aPipeIsReadNoFurtherThanNeeded(_ rest: String)
        async throws
    {
        let bench = try CommandBench()
        try bench.write(try Pictures.logo(), to: "a.png")
        let command =
            "mkfifo pipe; (cat a.png; exec \(rest)) > pipe & \(try bench.command) info pipe --max-bytes 100M --json; "
            + "code=$?; kill $! 2>&-; exit $code"
        let run = try await bench.run(["-c", command], program: "/bin/sh")
        #expect(run.code == 0)
        let object = try #require(try run.objects.first)
        #expect(object.text("source") == "file" && object.isNull("bytes"))
    }

    @Test func metadataBehindThePixelsIsFoundInAPipe() async throws {
        let bench = try CommandBench()
        let picture = try Pictures.turnedAtTheEnd()
        try bench.write(picture, to: "a.png")
        let run = try await bench.run(["-c", "cat a.png | \(try bench.command) info - --json"], program: "/bin/sh")
        let object = try #require(try run.objects.first)
        #expect(object.number("orientation") == 6 && object.number("exif_bytes") ?? 0 > 0)
        #expect(object.number("bytes") == picture.count)
    }

    /// The command does not wait for metadata after the pixels, and a limit or damage there does not hide what is
    /// known.
    @Test(arguments: ["sleep 600", "cat /dev/zero"])
    func aPipeMayBreakOffBeforeMetadataBehindThePixels(_ rest: String) async throws {
        let bench = try CommandBench()
        let picture = try Pictures.turnedAtTheEnd()
        try bench.write(Array(picture.prefix(picture.count / 2)), to: "a.png")
        let command =
            "mkfifo pipe; (cat a.png; exec \(rest)) > pipe & \(try bench.command) info pipe --max-bytes 300k --json; "
            + "code=$?; kill $! 2>&-; exit $code"
        let run = try await bench.run(["-c", command], program: "/bin/sh")
        let object = try #require(try run.objects.first)
        #expect(run.code == 0 && object.number("width") == 60 && object.number("orientation") == 1)
        #expect(object.isNull("bytes"))
    }

    @Test func theLengthOfAPipeThatEndsIsTold() async throws {
        let bench = try CommandBench()
        let picture = try Pictures.logo()
        // The picture is followed by so much that the pipe is read in several pieces.
        try bench.write(picture + [UInt8](repeating: 0, count: 700_000), to: "a.png")
        let command = "cat a.png | \(try bench.command) info - --json"
        let run = try await bench.run(["-c", command], program: "/bin/sh")
        #expect(try run.objects.first?.number("bytes") == picture.count + 700_000)
    }

    @Test func aPipeWithoutAWriterMeetsTheTimeout() async throws {
        let bench = try CommandBench()
        try #require(mkfifo(bench.path("pipe"), 0o600) == 0)
        let run = try await bench.run("info", "pipe", "--timeout", "0.05", "--json")
        #expect(run.code == 1 && run.text.contains("deadlineExceeded"))
    }

    @Test func anUnknownOrMissingFileDoesNotStopTheOthers() async throws {
        let bench = try CommandBench()
        try bench.write(Array("no picture at all".utf8), to: "text.jpg")
        try bench.write(try Pictures.png(), to: "a.png")
        let run = try await bench.run("info", "text.jpg", "gone.png", ".", "a.png")
        #expect(run.code == 1)
        #expect(run.lines.count == 1 && run.text.hasPrefix("a.png: png 90x60"))
        #expect(run.errors.contains("unknownFormat") && run.errors.contains("fileNotFound"))
        #expect(run.errors.contains("notAFile: this is a folder, not a file"))
        let json = try await bench.run("info", "text.jpg", "gone.png", "a.png", "--json")
        #expect(json.code == 1 && json.errors == "")
        #expect(try json.objects.map { $0.text("status") } == ["error", "error", "ok"])
        #expect(try json.objects.allSatisfy { $0.text("isolation") != nil })
    }

    /// The words must be those of the guide TheCommandsJSON.
    @Test(arguments: [("none", "off"), ("automatic", "unused")])
    func theObjectTellsHowDecodersAreIsolated(option: String, state: String) async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        let run = try await bench.run("info", "a.png", "--isolation", option, "--json")
        #expect(try run.objects.first?.text("isolation") == state)
    }

    @Test func aLongPictureIsNotReadToItsEnd() async throws {
        let bench = try CommandBench()
        let bytes = try Pictures.progressive()
        bench.origin.serve("/a.jpg", .bytes(bytes).with(.stall(at: .byte(2000))))
        let line = try #require(try await bench.run("info", bench.origin.url("/a.jpg"), "--json").objects.first)
        #expect(line.number("width") == 640 && line.number("bytes") == bytes.count)
        #expect(bench.origin.bodyBytesSent("/a.jpg") == 2000)
    }

    @Test func framesAreCountedToTheEndOfTheFile() async throws {
        let bench = try CommandBench()
        let bytes = try Pictures.animatedWebP()
        try #require(bytes.count > 200_000)
        let url = bench.serve("/a.webp", bytes)
        let line = try #require(try await bench.run("info", url, "--json").objects.first)
        #expect(line.text("format") == "webp" && line.number("frames") == 3 && line.number("loop_count") == 7)
        #expect(bench.origin.bodyBytesSent("/a.webp") == bytes.count)
    }

    @Test func infoLeavesTheCacheAlone() async throws {
        let bench = try CommandBench()
        _ = try await bench.run("info", bench.serve("/a.jpg", try Pictures.jpeg()))
        #expect(try await bench.run("cache", "stats", "--json").objects.first?.number("entries") == 0)
    }
}
