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

@testable import WebImageCommands

/// Long lists, whose output users do not read line by line.
struct LongListTests {
    private func list(_ bench: CommandBench, _ count: Int) throws -> [String] {
        let url = bench.serve("/a.png", try Pictures.png())
        return (0..<count).map { "\(url)?\($0)" }
    }

    @Test func aLongListEndsWithASummary() async throws {
        let bench = try CommandBench()
        let urls = try list(bench, 12)
        let run = try await bench.run(["fetch"] + urls + ["nowhere.png"])
        #expect(run.code == 1 && run.lines.count == 12)
        let summary = try #require(run.errors.split(separator: "\n").last)
        #expect(summary.hasPrefix("13 pictures in ") && summary.contains("12 from the network, 1 failed; "))
        let again = try await bench.run(["prefetch"] + urls)
        #expect(again.code == 0 && again.errors.contains("12 from disk; "), "\(again.errors)")
    }

    @Test func aShortListAndJSONHaveNoSummary() async throws {
        let bench = try CommandBench()
        let urls = try list(bench, 12)
        #expect(try await bench.run(["fetch"] + urls + ["--json"]).errors == "")
        #expect(try await bench.run(["fetch"] + urls.prefix(9)).errors == "")
    }

    @Test func quietTellsFailuresOnly() async throws {
        let bench = try CommandBench()
        let urls = try list(bench, 12)
        for command in ["fetch", "prefetch"] {
            let well = try await bench.run([command, "--quiet"] + urls)
            #expect(well.code == 0 && well.text == "" && well.errors == "")
            let run = try await bench.run([command, "-q", "nowhere.png"] + urls)
            #expect(run.code == 1 && run.text == "")
            #expect(run.errors.contains("nowhere.png") && run.errors.split(separator: "\n").count == 1)
        }
        #expect(try await bench.run(["fetch", "--quiet", "--json"] + urls).lines.count == 12)
    }

    /// `fetch --input-list huge | head -3` once went on through all pictures.
    @Test(arguments: ["fetch", "prefetch"])
    func aReaderThatHasGoneEndsTheCommand(command: String) async throws {
        let bench = try CommandBench()
        let urls = try list(bench, 3000)
        try bench.write(Array(urls.joined(separator: "\n").utf8), to: "list.txt")
        try bench.write([], to: ".stdin")
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        let process = try bench.start([command, "--concurrency", "6", "--input-list", "list.txt"], output: ends[1])
        close(ends[1])
        #expect(await bench.end(of: process) == 0)
        // Six loads run when the first line is lost. More may have begun by the time the command notices, especially on
        // a busy machine.
        #expect(bench.origin.hits("/a.png") <= 300)
        let errors = String(decoding: bench.read(".stderr") ?? [], as: UTF8.self)
        #expect(errors == "", "nobody waits for what was left, nor for the numbers")
    }

    @Test func theCounterCountsListsOnly() {
        #expect(ProgressDisplay.count(0, of: 1, failed: 0) == nil)
        #expect(ProgressDisplay.count(37, of: 20_000, failed: 0) == "37 of 20000 done")
        #expect(ProgressDisplay.count(37, of: 20_000, failed: 2) == "37 of 20000 done, 2 failed")
    }

    @Test func theSummaryCountsEveryPicture() {
        var tally = ListTally()
        var report = PictureReport(input: "a")
        (report.source, report.byteCount) = (.network, 1 << 20)
        tally.add(report)
        tally.add(report)
        report.source = .disk
        report.status = .partial
        tally.add(report)
        report.status = .error
        tally.add(report)
        #expect(!tally.isAllWell && tally.done == 4)
        let line = "4 pictures in 34 s: 2 from the network, 1 from disk, 1 cut short, 1 failed; 3.0 MiB"
        #expect(tally.summary(in: .seconds(34)) == line)
    }
}

/// Pictures that `webimage prefetch` cannot store on disk.
struct PrefetchKeptTests {
    @Test func aPictureThatCannotBeStoredIsAFailure() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.png())
        try bench.write([1], to: "file")
        let run = try await bench.run("prefetch", url, "--cache-dir", "file/cache", "--json")
        let line = try #require(try run.objects.first)
        #expect(run.code == 1 && line.text("status") == "error")
        #expect(["cacheIO", "readOnly", "noSpace"].contains(line.errorNames.first))
        // `fetch` only needs the picture, so it succeeds.
        #expect(try await bench.run("fetch", url, "--cache-dir", "file/cache").code == 0)
    }

    @Test func aNoStoreAnswerIsAFailure() async throws {
        let bench = try CommandBench()
        bench.origin.serve(
            "/a.png", .bytes(try Pictures.png(), contentType: "image/png", cacheControl: "no-store"))
        let run = try await bench.run("prefetch", bench.origin.url("/a.png"))
        #expect(run.code == 1 && run.text == "")
        #expect(run.errors.contains("cacheMiss") && run.errors.contains("not kept"))
    }

    /// A list that is longer than the cache once ended with "ok" for every picture, and only the last ones were there.
    @Test func picturesThatMadeRoomForLaterOnesAreCounted() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.png())
        var configuration = ImageManager.Configuration()
        var disk = DiskCacheConfiguration(directory: bench.path("small"))
        disk.limits.bytes = .kibibytes(100)
        configuration.disk = disk
        let manager = ImageManager(configuration: configuration)
        let requests = (0..<60).map { ImageRequest("\(url)?\($0)") }
        for request in requests.prefix(3) { _ = try await manager.keepOriginal(for: request) }
        #expect(await PrefetchCommand.countEvicted(requests.prefix(3), by: manager) == 0)
        for request in requests { _ = try await manager.keepOriginal(for: request) }
        await manager.finishStores()
        let count = await PrefetchCommand.countEvicted(requests, by: manager)
        let kept = try #require(manager.diskCache?.usage.count)
        #expect(count > 0 && count == requests.count - kept)
    }

    @Test func aStoredPictureIsASuccess() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.png())
        for _ in 0..<2 { #expect(try await bench.run("prefetch", url, url).code == 0) }
        #expect(bench.origin.hits("/a.png") == 1)
    }

    @Test func withoutAHomePrefetchFailsAndFetchStoresNothing() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.png())
        let homeless = ["HOME=", "XDG_CACHE_HOME="]
        let prefetch = try await bench.run(["prefetch", url], environment: homeless)
        #expect(prefetch.code == 1 && prefetch.errors.contains("set HOME or XDG_CACHE_HOME"))
        #expect(bench.origin.hits("/a.png") == 0)
        let fetch = try await bench.run(["fetch", url], environment: homeless)
        #expect(fetch.code == 0 && fetch.errors.hasPrefix("note: nothing is cached"))
        #expect(fetch.errors.split(separator: "\n").count == 1)
        for silent in ["--quiet", "--json"] {
            #expect(try await bench.run(["fetch", url, silent], environment: homeless).errors == "")
        }
        #expect(try await bench.run(["fetch", url, "--policy", "no-store"], environment: homeless).errors == "")
    }
}

struct ByteCountArgumentTests {
    @Test(arguments: [
        ("0", 0), ("1000", 1000), ("1k", 1024), ("1K", 1024), ("1KiB", 1024), ("1kB", 1000), ("1.5M", 1_572_864),
        ("2g", 2 << 30), ("1b", 1), ("3TB", 3_000_000_000_000), ("0.5k", 512),
    ])
    func aSizeMayHaveAUnit(text: String, bytes: Int) {
        #expect(ByteCount(argument: text) == ByteCount(bytes))
    }

    @Test(arguments: ["", "k", "-1", "1x", "1 k", "1kk", "1e9", "nan", "99999999999T", "1..5", ".", "0x10", "１k"])
    func aMalformedSizeIsRefused(text: String) { #expect(ByteCount(argument: text) == nil) }
}

struct CommandSuggestionTests {
    @Test(arguments: [
        ("fetch", "fetch", 0), ("fetsh", "fetch", 1), ("fecth", "fetch", 1), ("", "info", 4), ("a", "b", 1),
    ])
    func theDistanceCountsTypingErrors(one: String, other: String, distance: Int) {
        #expect(CommandSuggestion.distance(Array(one), Array(other)) == distance)
    }

    @Test(arguments: [
        ["fetch", "a"], ["cache", "stats"], ["--help"], ["help", "fetch"], [], ["cache"], ["cache", "--help"],
    ])
    func anExistingCommandGetsNoSuggestion(arguments: [String]) {
        #expect(CommandSuggestion.message(for: arguments) == nil)
    }
}
