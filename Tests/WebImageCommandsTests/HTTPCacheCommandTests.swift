import Testing
import WebImage
import WebImageCore
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// HTTP caching from one process to the next, over real sockets.
struct HTTPCacheCommandTests {
    private func source(_ bench: CommandBench, _ arguments: String...) async throws -> String? {
        try await bench.run(["fetch"] + arguments + ["--json"]).objects.first?.text("source")
    }

    @Test func aPictureThatHasNotChangedCostsAnAnswerWithoutABody() async throws {
        let bench = try CommandBench()
        bench.origin.serve("/a.png", .bytes(try Pictures.png(), etag: "\"1\"", cacheControl: "max-age=0"))
        let url = bench.origin.url("/a.png")
        #expect(try await source(bench, url) == "network")
        let sent = bench.origin.bodyBytesSent("/a.png")
        for policy in ["protocol", "revalidate", "refresh"] {
            #expect(try await source(bench, url, "--policy", policy, "-o", "a.png") == "disk", "\(policy)")
        }
        let plain = try #require(try await bench.run("fetch", url, "--policy", "refresh", "--json").objects.first)
        let length = try Pictures.png().count
        #expect(plain.text("source") == "disk" && plain.number("bytes") == length)
        #expect(bench.origin.hits("/a.png") == 5 && bench.origin.bodyBytesSent("/a.png") == sent)
        #expect(bench.read("a.png") == (try Pictures.png()))
    }

    @Test func aFreshEntryIsNotRevalidated() async throws {
        let bench = try CommandBench()
        bench.origin.serve("/a.png", .bytes(try Pictures.png(), cacheControl: "max-age=600"))
        let url = bench.origin.url("/a.png")
        #expect(try await source(bench, url, "--policy", "protocol") == "network")
        #expect(try await source(bench, url, "--policy", "protocol") == "disk")
        #expect(try await source(bench, url, "--policy", "reload-from-origin") == "network")
        #expect(bench.origin.requests("/a.png").map { $0.header("cache-control") } == [nil, "no-cache"])
    }

    @Test func refreshWaitsForTheNewPicture() async throws {
        let bench = try CommandBench()
        let newer = try Pictures.png(30, 40)
        bench.origin.serve("/a.png", .bytes(try Pictures.png(), etag: "\"1\""), .bytes(newer, etag: "\"2\""))
        let url = bench.origin.url("/a.png")
        _ = try await bench.run("fetch", url)
        #expect(try await source(bench, url, "--policy", "refresh", "-o", "a.png") == "network")
        #expect(bench.read("a.png") == newer)
    }

    @Test func refreshHasThePictureAlsoWhileTheOriginIsDown() async throws {
        let bench = try CommandBench()
        bench.origin.serve(
            "/a.png", .bytes(try Pictures.png(), etag: "\"1\""), .status(503), .status(503), .status(404))
        let url = bench.origin.url("/a.png")
        _ = try await bench.run("fetch", url)
        let refresh = ["fetch", url, "--policy", "refresh", "--retries", "0", "-o", "a.png"]
        let run = try await bench.run(refresh)
        #expect(run.code == 0 && run.errors.contains("not renewed"))
        #expect(bench.read("a.png") == (try Pictures.png()))
        #expect(try await bench.run(refresh + ["--json"]).code == 0)
        // The picture no longer exists at the origin.
        #expect(try await bench.run(refresh).code == 1)
    }

    /// Fetches a picture of 640x480 and kills the process (SIGKILL) in the middle of the body.
    ///
    /// - Returns: the body, which the origin serves to its end from now on.
    private func killMidway(_ bench: CommandBench, _ arguments: [String] = []) async throws -> [UInt8] {
        let body = try SamplePictures.testCard(PixelSize(width: 640, height: 480)).encoded(as: .bmp)
        let gate = Gate()
        let answer = OriginResponse.bytes(body, etag: "\"1\"")
        bench.origin.serve("/a.bmp", answer.with(.hold(gate, at: .byte(600_000))), answer)
        try bench.write([], to: ".stdin")
        let process = try bench.start(["fetch", bench.origin.url("/a.bmp")] + arguments)
        let partial = bench.path(".cache/webimage/default/v1/partial")
        let files = PosixFileSystem()
        let isKept = { () -> Bool in
            for name in (try? files.names(in: partial)) ?? [] where name.hasSuffix(".part") {
                if (try? files.status(at: "\(partial)/\(name)"))?.size ?? 0 > 500_000 { return true }
            }
            return false
        }
        let end = ContinuousClock.now + .seconds(120)
        while !isKept(), ContinuousClock.now < end { await Task.yield() }
        #expect(isKept())
        kill(process, SIGKILL)
        #expect(await bench.end(of: process) == -SIGKILL)
        gate.open()
        return body
    }

    /// The next process requests only the rest.
    @Test func aProcessThatWasKilledLeavesTheBeginningToTheNext() async throws {
        let bench = try CommandBench()
        let body = try await killMidway(bench)
        let second = try await bench.run("fetch", bench.origin.url("/a.bmp"), "-o", "a.bmp", "--json")
        #expect(second.code == 0 && bench.read("a.bmp") == body)
        let ranges = bench.origin.requests("/a.bmp").map { $0.header("range") }
        #expect(ranges.count == 2 && ranges[0] == nil && ranges[1]?.hasPrefix("bytes=") == true)
    }

    /// The partial body once stayed for a day.
    @Test(arguments: [[], ["--header", "X-Tenant: a"]])
    func cacheRemoveAlsoRemovesThePartialBody(_ more: [String]) async throws {
        let bench = try CommandBench()
        let body = try await killMidway(bench, more)
        let url = bench.origin.url("/a.bmp")
        #expect(try await bench.run("cache", "remove", url).text == "1 entry removed\n")
        #expect(try await bench.run("cache", "remove", url).code == 1)
        let second = try await bench.run(["fetch", url, "-o", "a.bmp"] + more)
        #expect(second.code == 0 && bench.read("a.bmp") == body)
        #expect(bench.origin.requests("/a.bmp").map { $0.header("range") } == [nil, nil])
    }

    // MARK: Other options of fetch and prefetch

    @Test func prefetchFillsTheCache() async throws {
        let bench = try CommandBench()
        let urls = [bench.serve("/a.png", try Pictures.png()), bench.serve("/b.jpg", try Pictures.jpeg())]
        let lines = urls + ["# a comment", "", bench.origin.url("/none")]
        try bench.write(Array(lines.joined(separator: "\n").utf8), to: "l")
        let run = try await bench.run("prefetch", "--input-list", "l", "--json")
        let objects = try run.objects
        #expect(run.code == 1 && objects.count == 3)
        #expect(objects.filter { $0.text("status") == "ok" }.count == 2)
        for url in urls { #expect(try await source(bench, url, "--policy", "cache-only") == "disk") }
        let again = try await bench.run(["prefetch"] + urls)
        #expect(again.code == 0 && again.lines.allSatisfy { $0.contains("from disk") })
        #expect(bench.origin.hits("/a.png") == 1)
    }

    @Test(arguments: [("0", 1, 1), ("2", 0, 3)])
    func retriesAreAsManyAsAsked(retries: String, code: Int, hits: Int) async throws {
        let bench = try CommandBench()
        bench.origin.serve("/a.png", .status(503), .status(503), .bytes(try Pictures.png()))
        let run = try await bench.run("fetch", bench.origin.url("/a.png"), "--retries", retries)
        #expect(Int(run.code) == code && bench.origin.hits("/a.png") == hits)
    }

    @Test func namesAndPasswordsComeFromNetrc() async throws {
        let bench = try CommandBench()
        let png = try Pictures.png()
        bench.origin.serve("/a.png") { request in
            // The Base64 of "anna:secret".
            request.header("authorization") == "Basic YW5uYTpzZWNyZXQ=" ? .bytes(png) : .status(401)
        }
        let url = bench.origin.url("/a.png")
        let without = try await bench.run("fetch", url, "--netrc")
        #expect(without.code == 2 && without.errors.contains(".netrc cannot be read"))
        let folder = bench.path(".netrc")
        #expect(mkdir(folder, 0o700) == 0)
        let withFolder = try await bench.run("fetch", url, "--netrc")
        #expect(withFolder.code == 2 && withFolder.errors.contains(".netrc is a folder"))
        #expect(rmdir(folder) == 0)
        try bench.write(Array("machine 127.0.0.1 login anna password secret\n".utf8), to: ".netrc")
        #expect(try await bench.run("fetch", url, "--retries", "0").code == 1)
        let run = try await bench.run("fetch", url, "--netrc")
        #expect(run.code == 0 && !run.text.contains("secret"))
    }

    /// The answer was once called invalid, although nothing had been asked. Newer versions of libcurl ignore the file.
    @Test func aDamagedNetrcIsNoFaultOfTheServer() async throws {
        let bench = try CommandBench()
        bench.origin.serve("/a.png", .status(401))
        try bench.write(Array("machine 127.0.0.1 login \"anna\n".utf8), to: ".netrc")
        let run = try await bench.run("fetch", bench.origin.url("/a.png"), "--netrc")
        #expect(run.code == 1 && !run.errors.contains("not valid HTTP"), "\(run.errors)")
        let isRefused = bench.origin.hits("/a.png") == 0
        #expect(!isRefused || run.errors.contains("authenticationFailed: the .netrc file cannot be read"))
    }
}
