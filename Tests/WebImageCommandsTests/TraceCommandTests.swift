import Testing
import WebImage
import WebImageCore
import WebImageTesting

@testable import WebImageCommands

/// The trace of a load, in a terminal and as a file, and prefetching within a budget.
struct TraceCommandTests {
    @Test func theTraceIsDrawnOnStandardError() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.png())
        let run = try await bench.run("fetch", url, "--trace", "--transform", "blur:2")
        #expect(run.code == 0 && run.lines.count == 1)
        for part in [
            url, "load ", "├ download", "│ └ transfer", "decode", "└ transform", "it came from the origin", "█",
        ] {
            #expect(run.errors.contains(part), "\(part) is missing:\n\(run.errors)")
        }
        let again = try await bench.run("fetch", url, "--trace")
        #expect(again.errors.contains("the disk cache had it") && !again.errors.contains("download"))
        // Traces of failed loads are drawn, too.
        #expect(try await bench.run("fetch", "nowhere.png", "--trace").errors.contains("it failed with fileNotFound"))
    }

    /// Text from outside must reach the terminal without control characters, as in the command's other output.
    @Test func aTraceSteersNoTerminal() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "e\u{1B}[31m.png")
        let run = try await bench.run("fetch", "e\u{1B}[31m.png", "--trace")
        #expect(run.code == 0 && run.errors.contains("e?[31m.png") && !run.errors.contains("\u{1B}[31m.png"))
    }

    @Test func theTraceFileHoldsAllLoads() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.png())
        let run = try await bench.run("fetch", url, url + "?2", "--trace-file", "trace.json", "--json")
        #expect(run.code == 0 && run.lines.count == 2)
        let text = String(decoding: try #require(bench.read("trace.json")), as: UTF8.self)
        #expect(text.hasPrefix("{") && text.contains("\"traceEvents\""))
        #expect(text.split(separator: "\n").count { $0.contains("\"name\":\"load\"") } == 2)
        #expect(text.contains("\"ph\":\"X\"") && text.contains(url + "?2"))
        let failed = try await bench.run("fetch", url, "--trace-file", "no/such/folder/trace.json")
        #expect(failed.code == 1 && failed.errors.hasPrefix("error: cannotWrite: "))
    }

    @Test func aBudgetLeavesTheRestForTheNextTime() async throws {
        let bench = try CommandBench()
        let picture = try Pictures.png()
        let url = bench.serve("/a.png", picture)
        let urls = (0..<40).map { "\(url)?\($0)" }
        let run = try await bench.run(["prefetch", "--budget", "\(picture.count * 10)", "--concurrency", "1"] + urls)
        #expect(run.code == 0 && run.lines.count == 10)
        #expect(run.errors.contains("10 from the network, 30 left for the next time"))
        let rest = try await bench.run(["prefetch", "--rate", "1G"] + urls)
        #expect(rest.code == 0 && rest.errors.contains("30 from the network, 10 from disk"))
    }
}
