import Testing
import WebImage
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCommands

/// The progress lines that users see while they wait.
struct ProgressDisplayTests {
    private func columns(_ text: String) -> Int { text.reduce(0) { $0 + Console.columns(of: $1) } }

    @Test(arguments: ["a.jpg", String(repeating: "long", count: 50), String(repeating: "写真", count: 30), "😀.png", ""])
    func aBarFitsTheTerminal(name: String) {
        for width in [1, 2, 3, 5, 6, 7, 12, 30, 41, 42, 43, 60, 80, 100, 200] {
            for received in [0, 1, 500, 999, 1000, 2000] {
                let progress = LoadProgress(received: ByteCount(received), expected: ByteCount(1000))
                let line = ProgressDisplay.line(name, progress, width: width)
                #expect(columns(line) < max(width, 2), "\(line)")
            }
            #expect(columns(ProgressDisplay.line(name, nil, width: width)) < max(width, 2))
        }
    }

    @Test func aBarIsFullAtTheEndAndNotBefore() {
        func line(_ received: Int) -> String {
            ProgressDisplay.line("a", LoadProgress(received: ByteCount(received), expected: ByteCount(1000)), width: 80)
        }
        #expect(line(1000).contains("100%") && !line(1000).contains("·"))
        #expect(line(999).contains("99%") && line(0).contains("  0%"))
    }

    @Test(arguments: ["fetch", "convert"]) func aTransferShowsABarOnATerminal(command: String) async throws {
        let bench = try CommandBench()
        let picture = try Pictures.png()
        let gate = Gate()
        bench.origin.serve("/a.png", .bytes(picture).with(.hold(gate, at: .byte(picture.count / 2))))
        let terminal = try PseudoTerminal()
        let url = bench.origin.url("/a.png")
        let arguments = command == "fetch" ? [url, "-o", "out.png"] : [url, "out.png"]
        let process = try bench.start([command] + arguments, environment: ["TERM=xterm"], terminal: terminal.path)
        let shown = String(decoding: await terminal.read(until: "waiting\n"), as: UTF8.self)
        gate.open()
        #expect(await bench.end(of: process) == 0)
        #expect(shown.contains("/a.png ") && shown.contains("···") && bench.read("out.png") != nil)
    }
}

/// The names of outputs in a folder.
struct OutputNamesTests {
    @Test(arguments: [
        ("http://h/a/b.png?x=/c.gif#d", "b.png"), ("http://h", "image"), ("http://h/", "image"),
        ("http://h?a/b", "image"),
        ("http://h/a%2Fb.png", "a_b.png"), ("http://h/..", "image"), ("http://h/%2e%2e", "image"),
        ("http://h/...", "..."), ("http://h/....", "...."), ("http://h/a.", "a"),
        ("http://h/%00a%1B.png", "_a_.png"), ("http://h/.hidden", ".hidden"), ("http://h/a.b.c", "a.b.c"),
        ("http://h/%FF.png", "%FF.png"), ("/tmp/a%20b.png", "a%20b.png"), ("a b/c?d.png", "c?d.png"), ("-", "stdin"),
        ("data:image/svg+xml;base64,AA==", "data.svg"), ("data:,x", "data"),
        ("data:image/jpeg;q=\"a/b\",x", "data.jpg"),
        ("http://h/dir.d/", "dir.d"), ("http://h/a.extension-that-is-none", "a.extension-that-is-none"),
        ("http://h/a\\b.png", "a_b.png"), ("file:///x/y.png", "y.png"),
    ])
    func aNameIsTheLastPartOfTheInput(input: String, name: String) {
        var names = OutputNames()
        #expect(names.next(for: input, fileExtension: nil) == name)
    }

    @Test func aLongNameFitsAFileSystem() {
        var names = OutputNames()
        for text in [
            String(repeating: "a", count: 5000), String(repeating: "ü", count: 300), String(repeating: "👨‍👩‍👧", count: 99),
        ] {
            for _ in 0..<3 {
                let name = names.next(for: "http://h/\(text).jpeg", fileExtension: nil)
                #expect(name.utf8.count < 255 && name.hasSuffix(".jpeg"))
            }
        }
    }

    /// If each name were searched from the first number on, this would take 450 million lookups.
    @Test func equalNamesOfALongListAreNumberedQuickly() {
        var names = OutputNames()
        let made = (0..<30_000).map { names.next(for: "https://h/\($0)/image.jpg", fileExtension: nil) }
        #expect(Set(made).count == made.count && made.last == "image-30000.jpg")
    }

    @Test func namesStayUniqueBesideNumberedOnes() {
        var names = OutputNames()
        let inputs = ["/a-2.png", "/a.png", "/A.png", "/a.png", "/a-2.png", "/a-2-2.png"]
        let made = inputs.map { names.next(for: $0, fileExtension: nil).lowercased() }
        #expect(Set(made).count == inputs.count)
    }
}

/// One JSON object a line.
struct JSONLineTests {
    @Test func anyTextSurvivesAJSONLine() throws {
        let texts = ["", "\"\\/", "\u{0}\u{1F}\u{7F}\n\r\t", "ü 写真 😀", "\u{2028}", "a\u{1B}[31m"]
        var line = JSONLine()
        for (index, text) in texts.enumerated() { line.add("\(index)", text) }
        line.add("none", String?.none)
        line.add("time", milliseconds: .microseconds(1_234_005))
        let object = try JSONObject(line.text)
        for (index, text) in texts.enumerated() { #expect(object.text("\(index)") == text) }
        #expect(object.isNull("none"))
        #expect(line.text.hasSuffix("\"time\":1234.005}") && !line.text.contains("\n"))
    }
}
