import Testing
import WebImageCore
import WebImageDownload
import WebImageTesting

/// Wrong usage exits with 2 and a message; help and completions exit with 0.
struct UsageTests {
    /// A command whose output cannot be written fails, as `cat` does.
    @Test func outputThatCannotBeWrittenIsAFailure() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        for arguments in ["info a.png", "convert a.png - --format png"] {
            let run = try await bench.run(["-c", "\(try bench.command) \(arguments) >&-"], program: "/bin/sh")
            #expect(run.code == 1 && run.errors.contains("standard output"), "\(arguments): \(run.errors)")
        }
    }

    /// The command once crashed.
    @Test(arguments: ["fetch", "prefetch", "cache import ."], ["<&-", "< ."])
    func aListThatCannotBeReadIsWrongUsage(command: String, input: String) async throws {
        let bench = try CommandBench()
        let line = "\(try bench.command) \(command) --input-list - \(input)"
        let run = try await bench.run(["-c", line], program: "/bin/sh")
        #expect(run.code == 2 && run.errors.contains("standard input cannot be read"), "\(run.errors)")
    }

    /// The invalid bytes were once replaced, and the URL that they made was loaded.
    @Test(arguments: ["fetch", "prefetch", "cache import .", "convert out"])
    func aListThatIsNotUTF8IsWrongUsage(command: String) async throws {
        let bench = try CommandBench()
        try bench.write(Array("# \u{FC}\r\na\r\n\r\n".utf8) + [0x62, 0xFC, 0x0A], to: "list")
        let run = try await bench.run(command.split(separator: " ").map(String.init) + ["--input-list", "list"])
        #expect(run.code == 2 && run.errors.contains("--input-list list: line 4 is not valid UTF-8"), "\(run.errors)")
    }

    @Test func standardInputInAPrefetchListIsWrongUsage() async throws {
        let run = try await CommandBench().run("prefetch", "--input-list", "-", input: Array("a\n-\n".utf8))
        #expect(run.code == 2 && run.errors.contains("standard input cannot be prefetched"), "\(run.errors)")
    }

    @Test func theVersionIsThatOfTheLibrary() async throws {
        let run = try await CommandBench().run("--version")
        #expect(run.code == 0 && run.lines == [WebImageVersion.text])
        #expect(DownloadConfiguration.userAgent.hasPrefix("webimage/\(WebImageVersion.text) "))
    }

    @Test(arguments: [
        (["info", "-half.png"], "write './-half.png'"), (["convert", "-h.png", "b.png"], "write './-h.png'"),
        (["fetch"], "give a URL"), (["fetch", "a", "--size", "0x0"], "--size takes"),
        (["fetch", "a", "--size", "x"], "--size takes"), (["fetch", "a", "--size", "axb"], "--size takes"),
        (["fetch", "a", "--size", "1x2x3"], "--size takes"), (["fetch", "a", "--size", "+5x5"], "--size takes"),
        (["fetch", "a", "--size", "99999999999999999999x"], "--size takes"),
        (["fetch", "a", "--fit", "cover"], "need --size"), (["fetch", "a", "--upscale"], "need --size"),
        (["fetch", "a", "--size", "4x", "--fit", "foo"], "--fit takes contain, cover or fill"),
        (["fetch", "a", "--quality", "0"], "--quality takes 1 to 100"),
        (["fetch", "a", "--quality", "101"], "--quality"),
        (["fetch", "a", "--quality", "high"], "'high' is invalid"),
        (["fetch", "a", "--format", "bogus"], "no such format"),
        (["fetch", "a", "--concurrency", "0"], "--concurrency takes"),
        (["fetch", "a", "--priority", "now"], "--priority takes"),
        (["fetch", "a", "--timeout=-1"], "--timeout takes"), (["fetch", "a", "--timeout", "inf"], "--timeout takes"),
        (["fetch", "a", "--timeout", "nan"], "--timeout takes"),
        (["fetch", "a", "--timeout", "1e300"], "--timeout takes"),
        (["fetch", "a", "--header", "novalue"], "--header takes"),
        (["fetch", "a", "--header", "a b: c"], "--header takes"),
        (["fetch", "a", "--user", "nopassword"], "--user takes NAME:PASSWORD"),
        (["fetch", "a", "--max-bytes", "0"], "--max-bytes takes"),
        (["fetch", "a", "--max-pixels=-5"], "--max-pixels takes"),
        (["fetch", "a", "--policy", "always"], "--policy takes"),
        (["fetch", "a", "--cache-dir", ""], "--cache-dir takes"),
        (["fetch", "a", "-o", ""], "-o takes"), (["fetch", "a", "b", "-o", "-"], "-o - takes one input"),
        (["fetch", "a", "-o", "-", "--json"], "both need standard output"), (["fetch", "a", "--what"], "--what"),
        (["fetch", "--input-list", "nowhere.txt"], "cannot be read"), (["prefetch"], "--input-list"),
        (["prefetch", "a", "--rate", "0"], "--rate takes"), (["prefetch", "a", "--budget", "0"], "--budget takes"),
        (["fetch", "a", "--trace-file", "-"], "--trace-file takes a file"),
        (["fetch", "a", "-o", "b", "--check", "header", "--trace"], "does not decode"),
        (["prefetch", "a", "--policy", "no-store"], "keeps nothing"), (["fetch", "a", "--retries", "-1"], "--retries"),
        (["fetch", "a", "--policy", "sometimes"], "cache-only or no-store"),
        (["fetch", "a", "--netrc", "--user", "a:b"], "--netrc"),
        (["fetch", "-", "--input-list", "-"], "both need standard input"), (["info"], "inputs"),
        (["convert", "a"], "output"), (["info", "a", "--max-bytes", "0"], "--max-bytes takes"),
        (["info", "a", "--max-pixels", "0"], "--max-pixels takes"),
        (["convert", "a", "b.png", "--max-bytes", "0"], "--max-bytes takes"),
        (["convert", "a", "b.png", "--timeout=-1"], "--timeout takes"), (["info", "a", "--timeout", "x"], "--timeout"),
        (["convert", "a", "b.png", "--orientation", "turn"], "--orientation takes"),
        (["convert", "a", "b.png", "--color", "red"], "--color takes"),
        (["convert", "a", "b.png", "--metadata", "some"], "--metadata takes"),
        (["convert", "a", "b.png", "--chroma", "411"], "--chroma takes"),
        (["convert", "a", "b.png", "--compression", "10"], "--compression takes"),
        (["convert", "a", "b.webp", "--effort", "10"], "--effort takes"),
        (["convert", "a", "b.png", "--background", "12345"], "--background takes"),
        (["convert", "a", "b.png", "--background", "+0ff00"], "--background takes"),
        (["convert", "a", "-", "--json"], "both need standard output"), (["cache", "path"], "key"),
        (["show"], "inputs"), (["show", "a", "--protocol", "ascii"], "--protocol takes"),
        (["show", "a", "--size", "0x"], "--size takes"), (["show", "-", "-"], "standard input"),
        (["cache", "frobnicate"], "frobnicate"), (["frobnicate"], "frobnicate"),
        (["fetsh", "a"], "did you mean 'webimage fetch'?"), (["fecth"], "did you mean 'webimage fetch'?"),
        (["cache", "stat"], "did you mean 'webimage cache stats'?"), (["frobnicate"], "there are fetch, prefetch"),
        (["https://example.com/a.jpg"], "webimage fetch https://example.com/a.jpg"),
        (["fetch", "a", "--max-bytes", "1x"], "--max-bytes"), (["fetch", "a", "--max-bytes", "k"], "--max-bytes"),
        (["cache", "trim", "--max-bytes=-1"], "--max-bytes"),
        (["fetch", "a", "--transform", "crop:square|blurr:3"], "crop:square|blurr:3\n            ^^^^^"),
        (["convert", "a", "b", "--transform", "blur:x"], "a blur's sigma must be a number from 0 to 1000"),
    ])
    func wrongUsageEndsWithTwoAndSaysWhy(arguments: [String], message: String) async throws {
        let bench = try CommandBench()
        let run = try await bench.run(arguments)
        #expect(run.code == 2 && run.text == "")
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    /// The message once said that the format was missing in this build.
    @Test(arguments: ["cur", "svg", "svgz", "pdf", "heif"])
    func aFormatThatNothingWritesSaysSo(format: String) async throws {
        let bench = try CommandBench()
        for arguments in [["fetch", "a"], ["convert", "a", "b"]] {
            let run = try await bench.run(arguments + ["--format", format])
            #expect(run.code == 2 && run.text == "")
            #expect(run.errors.contains("--format \(format): pictures of this format are read, but not written"))
            #expect(run.errors.contains("jpeg") && !run.errors.contains("build"), "\(run.errors)")
        }
    }

    @Test func helpMentionsDemoAndTransform() async throws {
        let bench = try CommandBench()
        #expect(try await bench.run("--help").text.contains("demo"))
        for command in ["fetch", "convert"] {
            #expect(try await bench.run(command, "--help").text.contains("--transform"))
        }
    }

    @Test(arguments: [
        [], ["--help"], ["fetch", "--help"], ["prefetch", "--help"],
        ["info", "-h"], ["convert", "--help"], ["show", "--help"],
        ["cache", "--help"],
        ["cache", "stats", "--help"], ["help", "fetch"], ["--version"], ["--generate-completion-script", "bash"],
        ["--generate-completion-script", "zsh"], ["--generate-completion-script", "fish"],
    ])
    func helpAndCompletionsGoToStandardOutput(arguments: [String]) async throws {
        let bench = try CommandBench()
        let run = try await bench.run(arguments)
        #expect(run.code == 0 && !run.text.isEmpty && run.errors == "")
    }

    #if canImport(Glibc)
        /// With `LD_TRACE_LOADED_OBJECTS`, glibc's loader lists a program's libraries instead of starting it.
        @Test(arguments: ["libavif", "libheif", "libde265", "libjxl", "librsvg", "libpoppler", "libglib"])
        func noLibraryThatTakesLongToLoadIsLoadedAtTheStart(library: String) async throws {
            let bench = try CommandBench()
            let listed = try await bench.run(["--version"], environment: ["LD_TRACE_LOADED_OBJECTS=1"]).text
            #expect(listed.contains("libjpeg.so") && !listed.contains(library))
        }
    #endif
}
