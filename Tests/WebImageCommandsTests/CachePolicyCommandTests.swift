import Testing
import WebImage
import WebImageCore
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The command's use of the disk cache, from one process to the next.
struct CachePolicyCommandTests {
    private func entries(_ bench: CommandBench) async throws -> Int? {
        try await bench.run("cache", "stats", "--json").objects.first?.number("entries")
    }

    private func source(_ bench: CommandBench, _ arguments: String...) async throws -> String? {
        try await bench.run(["fetch"] + arguments + ["--json"]).objects.first?.text("source")
    }

    @Test func theSecondRunReadsTheDisk() async throws {
        let bench = try CommandBench()
        let jpeg = try Pictures.jpeg()
        let url = bench.serve("/a.jpg", jpeg)
        #expect(try await source(bench, url) == "network")
        #expect(try await source(bench, url, "-o", "a.jpg") == "disk")
        #expect(bench.read("a.jpg") == jpeg)
        #expect(bench.origin.hits("/a.jpg") == 1)
    }

    @Test func cacheOnlyMissesAndThenHits() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.jpeg())
        let miss = try await bench.run("fetch", url, "--policy", "cache-only", "--json")
        #expect(miss.code == 1)
        #expect(try miss.objects.first?.errorNames == ["cacheMiss"])
        #expect(bench.origin.hits("/a.jpg") == 0)
        _ = try await bench.run("fetch", url)
        #expect(try await source(bench, url, "--policy", "cache-only") == "disk")
        #expect(bench.origin.hits("/a.jpg") == 1)
    }

    @Test func reloadAsksTheOriginAgainAndStores() async throws {
        let bench = try CommandBench()
        let (first, second) = (try Pictures.png(), try Pictures.png(30, 40))
        bench.origin.serve("/a.png", .bytes(first), .bytes(second))
        let url = bench.origin.url("/a.png")
        _ = try await bench.run("fetch", url)
        #expect(try await source(bench, url, "--policy", "reload") == "network")
        #expect(bench.origin.hits("/a.png") == 2)
        #expect(try await source(bench, url, "-o", "a.png") == "disk")
        #expect(bench.read("a.png") == second)
    }

    @Test func noStoreLeavesNothing() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.jpeg())
        #expect(try await source(bench, url, "--policy", "no-store") == "network")
        #expect(try await entries(bench) == 0)
    }

    @Test func anAnswerThatForbidsStoringIsNotKept() async throws {
        let bench = try CommandBench()
        bench.origin.serve("/a.jpg", .bytes(try Pictures.jpeg(), cacheControl: "private, no-store"))
        let url = bench.origin.url("/a.jpg")
        #expect(try await source(bench, url) == "network")
        #expect(try await entries(bench) == 0)
        #expect(try await source(bench, url) == "network")
    }

    @Test func cacheDirChoosesTheCacheFolder() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.jpeg())
        _ = try await bench.run("fetch", url, "--cache-dir", "mine")
        #expect(try await entries(bench) == 0)
        #expect(
            try await bench.run("cache", "stats", "--cache-dir", "mine", "--json").objects.first?.number("entries") == 1
        )
        #expect(try await source(bench, url, "--cache-dir", bench.path("mine")) == "disk")
    }

    /// A user who clears an untrusted cache must not be told that it is empty.
    @Test func aCacheThatIsNotTrustedIsNotCalledEmpty() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.jpeg())
        _ = try await bench.run("fetch", url, "--cache-dir", "mine")
        try #require(chmod(bench.path("mine"), 0o775) == 0)
        for command in [["stats"], ["list"], ["verify"], ["clear"], ["trim", "--max-bytes", "1"]] {
            let run = try await bench.run(["cache"] + command + ["--cache-dir", "mine"])
            #expect(run.code == 1 && run.errors.contains("belongs to somebody else"), "\(command)")
        }
    }

    @Test func anUnusableCacheFolderDoesNotStopALoad() async throws {
        let bench = try CommandBench()
        try bench.write([1], to: "file")
        let url = bench.serve("/a.jpg", try Pictures.jpeg())
        #expect(try await source(bench, url, "--cache-dir", "file/cache") == "network")
    }

    @Test func statsCountHitsAndMissesOfEarlierRuns() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.jpeg())
        #expect(try await source(bench, url) == "network")
        #expect(try await source(bench, url) == "disk")
        let stats = try #require(try await bench.run("cache", "stats", "--json").objects.first)
        #expect((stats.number("hits") ?? 0) >= 1 && (stats.number("misses") ?? 0) >= 1)
        #expect(try await bench.run("cache", "stats").text.contains("% hits"))
    }

    @Test func aPictureFetchedWithHeadersIsRemovedByItsURL() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.jpeg())
        _ = try await bench.run("fetch", url, "--header", "X-Tenant: a")
        #expect(try await bench.run("cache", "path", url).code == 0)
        #expect(try await bench.run("cache", "remove", url).code == 0)
        #expect(try await entries(bench) == 0)
    }

    @Test func aPathThatIsNoCacheIsNamedInTheError() async throws {
        let bench = try CommandBench()
        try bench.write([1], to: "file")
        let stats = try await bench.run("cache", "stats", "--cache-dir", "file")
        #expect(stats.code == 1 && stats.errors.contains("[file]"))
        let gone = try await bench.run("cache", "import", "gone", "http://a.test/a.png")
        #expect(gone.code == 1 && gone.errors.contains("[gone]"))
    }

    /// In a cache that it could not read, `path` once said that there was no such entry.
    @Test(arguments: ["stats", "list", "path", "remove", "verify", "trim", "clear"])
    func aCacheThatCannotBeUsedIsNamed(command: String) async throws {
        let bench = try CommandBench()
        try bench.write([1], to: "file")
        let key = ["path", "remove"].contains(command) ? ["http://a.test/a.png"] : []
        let run = try await bench.run(["cache", command] + key + ["--cache-dir", "file/cache"])
        #expect(run.code == 1 && run.errors.contains("/file/cache") && run.errors.contains("Not a directory"))
    }

    /// One folder that could not be read once kept all others from being cleared, trimmed and listed.
    @Test(.enabled(if: geteuid() != 0, "an administrator may read every folder"))
    func anUnreadableFolderDoesNotKeepTheRest() async throws {
        let bench = try CommandBench()
        let urls = try (0..<4).map { bench.serve("/\($0).jpg", try Pictures.jpeg()) }
        _ = try await bench.run(["fetch"] + urls + ["--cache-dir", "mine"])
        var paths: [String] = []
        for url in urls { paths += try await bench.run("cache", "path", url, "--cache-dir", "mine").lines }
        let folder = String(try #require(paths.first).dropLast("/".utf8.count + 64))
        try #require(chmod(folder, 0) == 0)
        defer { chmod(folder, 0o700) }
        for (url, path) in zip(urls, paths) where !path.hasPrefix(folder) {
            #expect(try await bench.run("cache", "path", url, "--cache-dir", "mine").lines == [path])
        }
        for command in [["trim", "--max-bytes", "0"], ["clear"]] {
            let run = try await bench.run(["cache"] + command + ["--cache-dir", "mine"])
            #expect(run.code == 1 && run.errors.contains("[\(folder)]"))
            #expect(paths.allSatisfy { $0.hasPrefix(folder) || access($0, F_OK) != 0 })
        }
    }

    /// The cache was once made in the root folder.
    @Test(arguments: ["cache stats", "prefetch https://example.com/a.png"])
    func aRelativeCacheNeedsAWorkingDirectory(command: String) async throws {
        let bench = try CommandBench()
        let line = "mkdir gone && cd gone && rmdir ../gone && '\(try bench.command)' \(command) --cache-dir cache"
        let run = try await bench.run(["-c", line], program: "/bin/sh")
        #expect(run.code == 1, "\(run.errors)")
        #expect(run.errors.contains("cacheIO: the working directory does not exist any more"), "\(run.errors)")
    }

    @Test func withoutAHomeTheCacheIsMissedInOneLine() async throws {
        let bench = try CommandBench()
        let run = try await bench.run(["cache", "stats"], environment: ["HOME=", "XDG_CACHE_HOME="])
        #expect(run.code == 1 && run.errors.hasPrefix("error: cacheIO: there is no cache directory"))
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test func statsCountsPathFindsAndClearEmpties() async throws {
        let bench = try CommandBench()
        let jpeg = try Pictures.jpeg()
        let urls = [bench.serve("/a.jpg", jpeg), bench.serve("/b.png", try Pictures.png())]
        _ = try await bench.run(["fetch"] + urls)
        let stats = try #require(try await bench.run("cache", "stats", "--json").objects.first)
        #expect(stats.keys == ["entries", "bytes", "limit_bytes", "hits", "misses", "oldest", "by_format"])
        #expect(stats.number("entries") == 2)
        #expect((stats.number("bytes") ?? 0) > jpeg.count && (stats.number("oldest") ?? 0) > 1_700_000_000)
        #expect(stats.object("by_format")?.number("jpeg") == 1 && stats.object("by_format")?.number("png") == 1)
        #expect(try await bench.run("cache", "stats").text.hasPrefix("2 entries"))

        let found = try await bench.run("cache", "path", urls[0] + "#fragment")
        let path = try #require(found.lines.first)
        #expect(path.hasPrefix(bench.folder))
        // The entry's file can be opened as a picture.
        let info = try #require(try await bench.run("info", path, "--json").objects.first)
        #expect(info.text("format") == "jpeg" && info.number("width") == 200)
        let named = try #require(try await bench.run("cache", "path", urls[0], "--json").objects.first)
        #expect(named.text("path") == path && named.text("key") == urls[0])

        #expect(try await bench.run("cache", "clear").text == "2 entries removed\n")
        #expect(try await entries(bench) == 0)
        let gone = try await bench.run("cache", "path", urls[0])
        #expect(gone.code == 1 && gone.text == "" && gone.errors.contains("cacheMiss"))
        let goneJSON = try await bench.run("cache", "path", urls[0], "--json")
        #expect(try goneJSON.objects.first?.errorNames == ["cacheMiss"])
        #expect(goneJSON.errors == "")
    }

    @Test func aFolderOfSDWebImagesIsTakenOver() async throws {
        let bench = try CommandBench()
        let url = "http://pictures.test/old/a.jpg"
        // The MD5 of the URL.
        try bench.write(try Pictures.jpeg(), to: "902660b2cbb1990bcb1994d03d193c0a.jpg")
        let run = try await bench.run("cache", "import", ".", url, "http://pictures.test/unknown.jpg", "--json")
        let told = try #require(run.objects.first)
        #expect(told.keys == ["imported", "asked", "missing"])
        #expect(told.number("imported") == 1 && told.number("asked") == 2 && run.code == 1)
        #expect(try await source(bench, url, "--policy", "cache-only") == "disk")
        try bench.write(Array(url.utf8), to: "urls.txt")
        let again = try await bench.run("cache", "import", ".", "--input-list", "urls.txt")
        #expect(again.text == "0 of 1 imported, 1 already in the cache\n" && again.code == 0)
        #expect(try await bench.run("cache", "import", ".").code == 2)
    }

    /// SDWebImage's keys are URLs as the app wrote them; this cache normalizes them.
    @Test func importedPicturesAreFoundAndOthersAreNamed() async throws {
        let bench = try CommandBench()
        let urls = ["HTTP://Pictures.test/a.jpg", "http://pictures.test/b.jpg#top"]
        let ofAnna = "http://anna:secret@pictures.test/c.jpg"
        for key in urls + [ofAnna, "avatar-42"] {
            try bench.write(try Pictures.jpeg(), to: SDWebImageNaming.fileName(for: key))
        }
        let unknown = "http://pictures.test/unknown.jpg"
        let run = try await bench.run(["cache", "import", "."] + urls + [ofAnna, "avatar-42", unknown])
        #expect(run.code == 1 && run.text == "3 of 5 imported\n")
        #expect(run.errors.split(separator: "\n").count == 2 && !run.errors.contains("secret"))
        #expect(run.errors.contains(unknown) && run.errors.contains("which user"))
        for url in urls { #expect(try await source(bench, url, "--policy", "cache-only") == "disk") }
        #expect(try await bench.run("cache", "path", "avatar-42").code == 0)
    }

    @Test func aPictureIsRemovedInEverySize() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.jpeg())
        let other = bench.serve("/a.jpgs", try Pictures.jpeg())
        _ = try await bench.run("fetch", url, other)
        var configuration = ImageManager.Configuration()
        configuration.disk = DiskCacheConfiguration(directory: bench.path(".cache/webimage"))
        let manager = ImageManager(configuration: configuration)
        var request = ImageRequest(url, size: TargetSize(width: 16))
        request.caching.store = .all
        _ = try await manager.image(for: request)
        await manager.finishStores()
        try await manager.diskCache?.flush()
        #expect(try await bench.run("cache", "remove", url).text == "2 entries removed\n")
        #expect(try await bench.run("cache", "path", other).code == 0)
    }

    @Test func entriesAreListedVerifiedTrimmedAndRemoved() async throws {
        let bench = try CommandBench()
        let jpeg = try Pictures.jpeg()
        let urls = ["/a.jpg", "/b.jpg", "/c.jpg"].map { bench.serve($0, jpeg) }
        _ = try await bench.run(["fetch"] + urls)
        let listed = try await bench.run("cache", "list", "--json").objects
        #expect(listed.count == 3 && Set(listed.compactMap { $0.text("key") }) == Set(urls))
        let first = try #require(listed.first)
        #expect(first.keys == ["key", "path", "bytes", "format", "stored", "used", "expires"])
        #expect(first.number("bytes") == jpeg.count && first.text("format") == "jpeg")
        #expect(try await bench.run("cache", "list").text.contains(urls[0]))

        let well = try await bench.run("cache", "verify", "--json")
        #expect(try well.code == 0 && well.objects.first?.keys == ["checked", "bad", "orphans", "repaired"])
        let path = try #require(first.text("path"))
        try bench.write([1, 2, 3], to: String(path.dropFirst(bench.path("").count)))
        let damaged = try await bench.run("cache", "verify", "--json")
        #expect(try damaged.code == 1 && damaged.objects.first?.number("bad") == 1)
        #expect(try await entries(bench) == 2)

        let left = try #require(try await bench.run("cache", "list", "--json").objects.first?.text("key"))
        #expect(try await bench.run("cache", "remove", left).code == 0)
        #expect(try await bench.run("cache", "remove", left).code == 1)
        #expect(try await bench.run("cache", "trim", "--json").objects.first?.number("removed") == 0)
        #expect(
            try await bench.run("cache", "trim", "--max-bytes", "0", "--json").objects.first?.number("removed") == 1)
        #expect(try await entries(bench) == 0)
    }
}
