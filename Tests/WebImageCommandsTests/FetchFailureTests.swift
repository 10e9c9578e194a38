import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

/// `webimage fetch` with pictures, origins and outputs that fail.
struct FetchFailureTests {
    @Test func aBrokenPictureLeavesNoFile() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.broken())
        let run = try await bench.run("fetch", url, "-o", "a.png", "--json")
        let line = try #require(try run.objects.first)
        #expect(run.code == 1 && run.errors == "")
        #expect(line.text("status") == "error" && line.errorNames.first == "badImageData")
        #expect(line.isNull("output"))
        #expect(bench.names() == [])
    }

    /// The second picture was once overwritten before it was read, and both were reported as successful.
    @Test func noOutputReplacesAnotherInput() async throws {
        let bench = try CommandBench()
        let (one, other) = (try Pictures.png(30, 40), try Pictures.png(40, 30))
        for folder in ["a", "b"] { try PosixFileSystem().makeDirectory(bench.path(folder)) }
        try bench.write(one, to: "a/x.png")
        try bench.write(other, to: "b/x.png")
        let run = try await bench.run("fetch", "a/x.png", "b/x.png", "-o", "b/")
        #expect(run.code == 1 && run.errors.contains("' is one of the inputs"))
        #expect(bench.read("b/x.png") == other && bench.names(in: "b") == ["x.png"])
        let traced = try await bench.run("fetch", "a/x.png", "--trace-file", "a/x.png")
        #expect(traced.code == 1 && bench.read("a/x.png") == one)
        // A changed picture does not replace the original.
        for change in [["--size", "10x"], ["--transform", "flip:x"], ["--first-frame"]] {
            let changed = try await bench.run(["fetch", "b/x.png", "-o", "b/"] + change)
            #expect(changed.code == 1 && changed.errors.contains("' is one of the inputs"), "\(change)")
            #expect(bench.read("b/x.png") == other)
        }
        // A picture's own output may replace its input.
        #expect(try await bench.run("fetch", "b/x.png", "-o", "b/").code == 0)
        #expect(bench.read("b/x.png") == other)
    }

    @Test func checkHeaderAcceptsAPictureWithBrokenPixels() async throws {
        let bench = try CommandBench()
        let broken = try Pictures.broken()
        let url = bench.serve("/a.png", broken)
        let run = try await bench.run("fetch", url, "-o", "a.png", "--check", "header", "--json")
        #expect(run.code == 0 && bench.read("a.png") == broken)
        #expect(try run.objects.first?.text("status") == "ok")
        let text = bench.serve("/b.png", Array("<html>not found</html>".utf8))
        #expect(try await bench.run("fetch", text, "-o", "b.png", "--check", "header").code == 1)
        #expect(bench.names() == ["a.png"])
        #expect(try await bench.run("fetch", url, "--check", "none").code == 2)
    }

    @Test func everyFrameOfAnAnimationIsLookedAt() async throws {
        let bench = try CommandBench()
        var bytes = BlinkingGIF.file(width: 40, height: 30, frames: 3)
        // Damages the codes of the last frame, which follow its descriptor and the length of the codes.
        let last = try #require(bytes.lastIndex(of: 0x2C))
        bytes.replaceSubrange(last + 12..<last + 16, with: [255, 255, 255, 255])
        let url = bench.serve("/a.gif", bytes)
        let run = try await bench.run("fetch", url, "-o", "a.gif", "--json")
        #expect(try run.code == 1 && run.objects.first?.errorNames.contains("corruptData") == true)
        #expect(bench.names() == [])
        #expect(try await bench.run("fetch", url, "-o", "a.gif", "--check", "header").code == 0)
        #expect(try await bench.run("cache", "clear").code == 0)
        let prefetch = try await bench.run("prefetch", url, "--check", "full")
        #expect(prefetch.code == 1 && prefetch.errors.contains("badImageData"))
        #expect(try await bench.run("cache", "stats", "--json").objects.first?.number("entries") == 0)
    }

    #if TIFF
        /// Only the first page was once looked at.
        @Test func everyPageOfATIFFIsLookedAt() async throws {
            let bench = try CommandBench()
            let size = PixelSize(width: 60, height: 40)
            let whole = try Pictures.pages([size, size, size])
            func entries() async throws -> Int? {
                try await bench.run("cache", "stats", "--json").objects.first?.number("entries")
            }
            for (number, part) in [whole.count * 2 / 3, whole.count - 60, whole.count].enumerated() {
                let url = bench.serve("/\(number).tif", Array(whole.prefix(part)))
                let run = try await bench.run("prefetch", url, "--check", "full")
                let isWhole = part == whole.count
                #expect(run.code == (isWhole ? 0 : 1) && run.errors.contains("truncatedData") != isWhole)
                #expect(try await entries() == (isWhole ? 1 : 0))
            }
        }
    #endif

    @Test func prefetchDecodesOnlyWithCheckFull() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.broken())
        func entries() async throws -> Int? {
            try await bench.run("cache", "stats", "--json").objects.first?.number("entries")
        }
        let full = try await bench.run("prefetch", url, "--check", "full")
        #expect(full.code == 1 && full.errors.contains("badImageData"))
        #expect(try await entries() == 0)
        #expect(try await bench.run("prefetch", url).code == 0)
        #expect(try await entries() == 1)
    }

    @Test func bytesThatAreNoPictureLeaveNoFile() async throws {
        let bench = try CommandBench()
        bench.origin.serve("/a.jpg", .text("<html>not found</html>", contentType: "image/jpeg"))
        let run = try await bench.run("fetch", bench.origin.url("/a.jpg"), "-o", "a.jpg")
        #expect(run.code == 1 && run.text == "")
        #expect(run.errors.contains("badImageData") && run.errors.contains("unknownFormat"))
        #expect(bench.names() == [])
    }

    @Test(arguments: [[], ["--size", "100x"]])
    func aCutPictureIsPartialAndLeavesNoFile(options: [String]) async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.cut())
        let run = try await bench.run(["fetch", url, "-o", "a.jpg", "--json"] + options)
        let line = try #require(try run.objects.first)
        #expect(run.code == 1)
        #expect(line.text("status") == "partial")
        #expect(line.errorNames.contains("truncatedData"))
        #expect(line.number("width") == 400 && line.number("height") == 300 && line.text("format") == "jpeg")
        #expect(line.isNull("output") && bench.names() == [])
    }

    @Test func aCutPictureIsWrittenWhenThatIsAllowed() async throws {
        let bench = try CommandBench()
        let cut = try Pictures.cut()
        let url = bench.serve("/a.jpg", cut)
        let run = try await bench.run("fetch", url, "-o", "a.jpg", "--allow-partial", "--json")
        let line = try #require(try run.objects.first)
        #expect(run.code == 1 && line.text("status") == "partial" && line.text("output") == "a.jpg")
        #expect(bench.read("a.jpg") == cut)
        let scaled = try await bench.run("fetch", url, "-o", "b.png", "--size", "100x", "--allow-partial", "--json")
        #expect(try scaled.objects.first?.number("output_width") == 100)
        #expect(try await bench.run("info", "b.png").code == 0)
    }

    @Test func aCutPictureIsNotKeptInTheCache() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.cut())
        _ = try await bench.run("fetch", url, "--allow-partial")
        #expect(try await bench.run("cache", "stats", "--json").objects.first?.number("entries") == 0)
    }

    @Test func limitsOfBytesAndPixelsHold() async throws {
        let bench = try CommandBench()
        let jpeg = try Pictures.jpeg()
        let url = bench.serve("/a.jpg", jpeg)
        let tooLong = try await bench.run("fetch", url, "--max-bytes", "\(jpeg.count - 1)", "--json")
        #expect(tooLong.code == 1)
        #expect(try tooLong.objects.first?.errorNames == ["bodyTooLarge"])
        let tooLarge = try await bench.run("fetch", url, "--max-pixels", "\(200 * 120 - 1)", "--json")
        #expect(tooLarge.code == 1)
        #expect(try tooLarge.objects.first?.errorNames == ["badImageData", "limitExceeded"])
        let fitting = ["--max-bytes", "\(jpeg.count)", "--max-pixels", "\(200 * 120)"]
        #expect(try await bench.run(["fetch", url] + fitting).code == 0)
    }

    /// Local files may be longer than downloads: scans of 100 MB are common.
    @Test func aLocalFileMayBeLong() async throws {
        let bench = try CommandBench()
        // A sparse file of 75 MB of black, which takes no room on disk.
        let head = Array("P6 5000 5000 255\n".utf8)
        try bench.write(head, to: "long.ppm")
        let files = PosixFileSystem()
        let file = try files.open(bench.path("long.ppm"), .readWrite)
        try files.truncate(file, to: Int64(head.count + 5000 * 5000 * 3))
        files.close(file)
        #expect(try await bench.run("info", "long.ppm").code == 0)
        #expect(try await bench.run("convert", "long.ppm", "a.png", "--size", "10x10").code == 0)
        #expect(try await bench.run("fetch", "long.ppm", "-o", "b.png", "--size", "10x10").code == 0)
        for command in [
            ["info", "long.ppm"], ["convert", "long.ppm", "c.png"], ["fetch", "long.ppm", "-o", "c.png"],
        ] {
            let run = try await bench.run(command + ["--max-bytes", "70M"])
            #expect(run.code == 1 && run.errors.contains("--max-bytes"), "\(command)")
        }
        let input = try await bench.run(["info", "-", "--max-bytes", "10"], input: head)
        #expect(input.code == 1 && input.errors.contains("--max-bytes"))
    }

    @Test func aStalledOriginMeetsTheTimeout() async throws {
        let bench = try CommandBench()
        bench.origin.serve("/a.jpg", .bytes(try Pictures.jpeg()).with(.stall(at: .byte(1000))))
        let run = try await bench.run("fetch", bench.origin.url("/a.jpg"), "--timeout", "0.3", "-o", "a.jpg", "--json")
        #expect(run.code == 1)
        #expect(try run.objects.first?.errorNames == ["deadlineExceeded"])
        #expect(bench.names() == [])
    }

    @Test func failuresGoToStandardErrorAndTheRestIsDone() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.png())
        let dead = "http://127.0.0.1:\(try OriginServer.closedPort())/x.png"
        let run = try await bench.run("fetch", dead, url, "nowhere.png")
        #expect(run.code == 1)
        #expect(run.lines.count == 1 && run.text.contains("/a.png"))
        #expect(run.errors.contains("connectionRefused") && run.errors.contains("fileNotFound"))
    }

    @Test(arguments: ["file/a.png", "file/deep/"])
    func anUnwritablePlaceIsAnErrorOfTheInput(place: String) async throws {
        let bench = try CommandBench()
        try bench.write([1], to: "file")
        let url = bench.serve("/a.png", try Pictures.png())
        let run = try await bench.run("fetch", url, "-o", place, "--json")
        let line = try #require(try run.objects.first)
        #expect(run.code == 1 && run.errors == "")
        #expect(line.text("status") == "error" && line.errorNames == ["cannotWrite"] && line.isNull("output"))
        #expect(bench.read("file") == [1])
    }

    @Test func severalOutputsDoNotFitIntoAFile() async throws {
        let bench = try CommandBench()
        try bench.write([1], to: "file")
        let url = bench.serve("/a.png", try Pictures.png())
        let run = try await bench.run("fetch", url, url, "-o", "file", "--json")
        #expect(run.code == 1 && bench.read("file") == [1])
        #expect(try run.objects.map(\.errorNames) == [["cannotWrite"], ["cannotWrite"]])
    }

    @Test func anExistingFolderTakesTheOutputUnderItsOwnName() async throws {
        let bench = try CommandBench()
        try PosixFolder.make(bench.path("out"))
        let url = bench.serve("/a.png", try Pictures.png())
        #expect(try await bench.run("fetch", url, "-o", "out").code == 0)
        #expect(bench.names(in: "out") == ["a.png"])
    }

    @Test func anOutputThatNamesAFormatWithoutAnEncoderIsRefused() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.png())
        let run = try await bench.run("fetch", url, "-o", "a.svg", "--size", "10x", "--json")
        #expect(run.code == 1 && bench.names() == [])
        #expect(try run.objects.first?.errorNames == ["formatNotBuilt"])
    }

    /// A JPEG was once written into such a file.
    @Test(arguments: [("a.xyz", "cannotEncode"), ("a", "cannotEncode")])
    func anOutputThatNamesNoFormatIsRefusedAsConvertDoes(name: String, code: String) async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "in.png")
        for arguments in [["fetch", "in.png", "--size", "10x", "-o", name], ["convert", "in.png", name]] {
            let run = try await bench.run(arguments + ["--json"])
            #expect(run.code == 1 && bench.names() == ["in.png"])
            #expect(try run.objects.first?.errorNames == [code])
        }
        // The original bytes may be written under any name, and a device needs no extension.
        #expect(try await bench.run("fetch", "in.png", "-o", name).code == 0)
        #expect(try await bench.run("fetch", "in.png", "--size", "10x", "-o", "/dev/null").code == 0)
    }

    @Test func anAddressWithoutASchemeGetsAHint() async throws {
        let bench = try CommandBench()
        let run = try await bench.run("fetch", "www.example.com/a.jpg")
        #expect(run.code == 1 && run.errors.contains("write https:// before it"))
    }

    @Test func limitsTakeUnitsAndTheirErrorNamesTheFlag() async throws {
        let bench = try CommandBench()
        let jpeg = try Pictures.jpeg()
        let url = bench.serve("/a.jpg", jpeg)
        let tooLong = try await bench.run("fetch", url, "--max-bytes", "1k")
        #expect(tooLong.code == 1 && jpeg.count > 1024)
        #expect(tooLong.errors.contains("1.0 KiB") && tooLong.errors.contains("--max-bytes"))
        #expect(try await bench.run("fetch", url, "--max-bytes", "1M").code == 0)
    }

    @Test func passwordsAndControlCharactersStayOutOfMessages() async throws {
        let bench = try CommandBench()
        let port = try OriginServer.closedPort()
        let run = try await bench.run("fetch", "http://me:secret@127.0.0.1:\(port)/x", "a\u{1B}[31mb")
        #expect(run.code == 1)
        #expect(!run.errors.contains("secret") && !run.errors.contains("\u{1B}"))
    }
}
