import Foundation
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

@testable import WebImageCommands

/// `webimage show`.
struct ShowCommandTests {
    private static let color = ["COLORTERM=truecolor", "TERM=xterm-256color"]

    /// The lines of the output: those of the drawing and its caption.
    private static func lines(_ run: CommandRun) -> [[UInt8]] {
        run.output.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    }

    @Test func aPipeGetsHalfBlocksEightyColumnsWide() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(400, 240), to: "a.png")
        let run = try await bench.run(["show", "a.png"], environment: Self.color + ["KITTY_WINDOW_ID=1"])
        #expect(run.code == 0 && run.errors == "")
        let lines = Self.lines(run)
        #expect(lines.count == 25 && String(decoding: lines[24], as: UTF8.self).hasPrefix("a.png: png 400x240, "))
        let drawn = try DrawingReader.blocks(Array(lines.prefix(24).joined(separator: [UInt8(ascii: "\n")])))
        var request = ImageRequest(path: bench.path("a.png"))
        request.size = TargetSize(width: 80)
        let image = try await ImageManager().image(for: request).image
        let wanted = image.withPixels { pixels in
            stride(from: 0, to: pixels.count, by: 4).map { Array(pixels[$0..<$0 + 3]) }
        }
        #expect(drawn.width == 80 && drawn.height == 48 && drawn.pixels == wanted)
    }

    @Test func filesURLsAndStandardInputAreShownInOrderAndAFailureStopsNone() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        try bench.write(Array("no picture".utf8), to: "text.png")
        let gate = Gate()
        bench.origin.serve("/slow.jpg", .bytes(try Pictures.jpeg()).with(.hold(gate, at: .byte(100))))
        bench.origin.serve("/fast.jpg") { _ in
            gate.open()
            return .bytes((try? Pictures.jpeg(100, 50)) ?? [])
        }
        let (slow, fast) = (bench.origin.url("/slow.jpg"), bench.origin.url("/fast.jpg"))
        let run = try await bench.run(
            ["show", slow, "a.png", "gone.png", fast, "text.png", "-"], input: try Pictures.logo())
        #expect(run.code == 1)
        let captions = run.lines.filter { !$0.hasPrefix("\u{1B}") && !$0.hasPrefix(" ") }
        #expect(
            captions.map { $0.components(separatedBy: ", ")[0] } == [
                "\(slow): jpeg 200x120", "a.png: png 90x60", "\(fast): jpeg 100x50", "-: png 64x64",
            ])
        #expect(run.errors.contains("fileNotFound") && run.errors.contains("unknownFormat"))
    }

    @Test func aTruncatedPictureIsShownAndFails() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.cut(), to: "cut.jpg")
        let run = try await bench.run("show", "cut.jpg")
        #expect(run.code == 1 && run.errors.contains("truncatedData"))
        #expect(run.lines.count > 20 && run.text.contains("cut.jpg: jpeg 400x300, ") && run.text.contains("cut short"))
    }

    @Test func withJSONNothingIsDrawn() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        let run = try await bench.run("show", "a.png", "gone.png", "--json")
        #expect(run.code == 1 && run.errors == "" && run.lines.count == 2)
        #expect(try run.objects.map { $0.text("status") } == ["ok", "error"])
        #expect(try run.objects[0].number("width") == 90 && !run.text.contains("\u{1B}"))
    }

    @Test func theProtocolAndTheSizeCanBeChosen() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        let sixel = try await bench.run("show", "a.png", "--protocol", "sixel", "--size", "30x")
        let drawn = try DrawingReader.sixel(sixel.output)
        #expect(drawn.width == 30 && drawn.height == 20 && drawn.pixels.allSatisfy { $0 != nil })
        let kitty = try await bench.run("show", "a.png", "--protocol", "kitty", "--first-frame")
        #expect(kitty.text.hasPrefix("\u{1B}_Ga=T,f=100,q=2,c=9,") && kitty.text.contains("\u{1B}\\\na.png: png 90x60"))
        let blocks = try await bench.run("show", "a.png", "--protocol", "blocks", "--size", "10x10")
        #expect(blocks.lines.count == 5)
    }

    @Test func namesCannotSteerTheTerminal() async throws {
        let bench = try CommandBench()
        let name = "a\u{1B}[31m\u{7}\u{9B}2J\n\u{202E}é.png"
        try bench.write(try Pictures.png(), to: name)
        let run = try await bench.run("show", name, "\u{1B}]0;gone\u{7}.png", "http://127.0.0.1:1/\u{1B}[2J")
        #expect(run.code == 1)
        #expect(run.lines.last?.hasPrefix("a?[31m??2J??é.png: png 90x60") ?? false, "\(run.lines.last ?? "")")
        // The drawing contains no escape sequences except those that set colours.
        #expect(
            run.lines.dropLast().allSatisfy { line in
                line.components(separatedBy: "\u{1B}").dropFirst().allSatisfy {
                    $0.hasPrefix("[") && $0.dropFirst().first { !$0.isNumber && $0 != ";" } == "m"
                }
            })
        let isClean = run.errors.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }
        #expect(isClean && run.errors.contains("?]0;gone?.png"), "\(run.errors)")
    }

    @Test func aTerminalThatReportsSixelsGetsThem() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        let terminal = try PseudoTerminal(pixels: PixelSize(width: 800, height: 480))
        let flags = terminal.flags
        // The answer is sent before the question, so that the test does not depend on time, and after text that a user
        // has typed.
        terminal.type("ls c\u{1B}[?62;4;22c")
        let run = try await terminal.run(bench, ["show", "a.png"], Self.color)
        #expect(run.code == 0 && run.text.hasPrefix("\u{1B}[c"))
        let start = try #require(run.output.firstRange(of: Array("\u{1B}P".utf8))?.lowerBound)
        let drawn = try DrawingReader.sixel(Array(run.output[start...]))
        #expect(drawn.width == 90 && drawn.height == 60)
        #expect(terminal.flags == flags)
    }

    @Test func aTerminalThatHasNoneGetsBlocksThatFit() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        let terminal = try PseudoTerminal(columns: 40, rows: 12)
        terminal.type("\u{1B}[?1;2c")
        let run = try await terminal.run(bench, ["show", "a.png"], Self.color)
        let blocks = run.text.components(separatedBy: "\n").filter { $0.contains("\u{2580}") }
        #expect(run.code == 0 && blocks.count == 10)
        #expect(blocks.allSatisfy { $0.count { $0 == "\u{2580}" } == 30 })
    }

    @Test func underTmuxTheTerminalIsNotAsked() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        let terminal = try PseudoTerminal()
        let run = try await terminal.run(
            bench, ["show", "a.png"], ["TERM=tmux-256color", "TMUX=x", "KITTY_WINDOW_ID=1"])
        #expect(run.code == 0 && !run.text.contains("\u{1B}[c") && run.text.contains("\u{2580}"))
    }

    @Test func aSignalLeavesTheTerminalAsItWas() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        let terminal = try PseudoTerminal()
        let flags = terminal.flags
        let process = try bench.start(["show", "a.png"], environment: Self.color, terminal: terminal.path)
        // The command has asked the terminal and now waits for an answer.
        _ = await terminal.read(until: "\u{1B}[c")
        kill(process, SIGTERM)
        let code = await bench.end(of: process)
        #expect(terminal.flags == flags)
        // The code is 0 only if this test did not run during the second for which the command waits.
        #expect(code == -SIGTERM || code == 0)
    }

    @Test func aTerminalIsAskedAndAnswers() async throws {
        let terminal = try PseudoTerminal()
        let flags = terminal.flags
        let pool = ThreadPool(name: "question", width: 1)
        async let attributes = withCheckedContinuation { continuation in
            pool.run(.normal) {
                continuation.resume(
                    returning: TerminalQuestion.deviceAttributes(
                        input: terminal.follower, output: terminal.follower, milliseconds: 60_000))
            }
        }
        #expect(await terminal.read(until: "\u{1B}[c") == Array("\u{1B}[c".utf8))
        #expect(terminal.settings.c_lflag & tcflag_t(ICANON) == 0)
        terminal.type("\u{1B}\u{1B}[?64;1;4")
        terminal.type(";22cq")
        #expect(await attributes == [64, 1, 4, 22])
        #expect(terminal.flags == flags)
    }

    @Test func aTerminalWithoutAValidAnswerIsGivenUp() throws {
        let terminal = try PseudoTerminal()
        let flags = terminal.flags
        terminal.type("hello \u{1B}[")
        #expect(
            TerminalQuestion.deviceAttributes(
                input: terminal.follower, output: terminal.follower, milliseconds: 1) == nil)
        terminal.type("\u{1B}[?" + String(repeating: "1;", count: 500))
        #expect(
            TerminalQuestion.deviceAttributes(
                input: terminal.follower, output: terminal.follower, milliseconds: 60_000) == nil)
        #expect(terminal.flags == flags)
        #expect(TerminalQuestion.deviceAttributes(input: -1, output: -1, milliseconds: 60_000) == nil)
    }
}
