import Testing
import WebImageTesting

/// `webimage convert` with several inputs, or with a folder as its output.
@Suite struct ConvertListTests {
    @Test func severalInputsGoToAFolderUnderTheirNames() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.jpeg(), to: "a.jpg")
        try bench.write(try Pictures.png(), to: "b.png")
        let url = bench.serve("/a.png", try Pictures.png(40, 30))
        let run = try await bench.run("convert", "a.jpg", "b.png", url, "made/of/these", "--format", "webp", "--json")
        #expect(run.code == 0 && run.errors == "")
        let outputs = try run.objects.compactMap { $0.text("output") }.sorted()
        #expect(outputs == ["made/of/these/a-2.webp", "made/of/these/a.webp", "made/of/these/b.webp"])
        let info = try await bench.run("info", "made/of/these/b.webp", "--json").objects.first
        #expect(info?.text("format") == "webp" && info?.number("width") == 90)
    }

    /// Without `--format`, each picture keeps its own format, or gets another one if its own cannot be written.
    @Test func inAFolderEachPictureKeepsItsFormat() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.jpeg(), to: "a.jpg")
        try bench.write(try Pictures.png(), to: "b.png")
        #expect(try await bench.run("convert", "a.jpg", "b.png", "small", "--size", "20x").code == 0)
        for (name, format) in [("small/a.jpg", "jpeg"), ("small/b.png", "png")] {
            let info = try await bench.run("info", name, "--json").objects.first
            #expect(info?.text("format") == format && info?.number("width") == 20)
        }
        // A single input is also written into a folder, if the folder exists or its name ends with a slash.
        #expect(try await bench.run("convert", "b.png", "small", "--format", "qoi").code == 0)
        #expect(try await bench.run("convert", "b.png", "other/", "--format", "qoi").code == 0)
        #expect(bench.read("small/b.qoi") == bench.read("other/b.qoi") && bench.read("other/b.qoi") != nil)
    }

    /// The PNG made from a cursor once had the name of a cursor.
    @Test func anUnwritableFormatGetsTheExtensionOfItsReplacement() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.cursor(), to: "arrow.CUR")
        try bench.write(try Pictures.png(), to: "b.png")
        let run = try await bench.run("convert", "arrow.CUR", "b.png", "out", "--json")
        #expect(run.code == 0 && run.errors == "")
        #expect(try run.objects.compactMap { $0.text("output") }.sorted() == ["out/arrow.png", "out/b.png"])
        let fetched = try await bench.run("fetch", "arrow.CUR", "-o", "drawn/", "--size", "1x", "--json")
        #expect(try fetched.objects.compactMap { $0.text("output") } == ["drawn/arrow.png"])
        // If the original bytes are written, the name stays, too.
        #expect(try await bench.run("fetch", "arrow.CUR", "-o", "same/").code == 0)
        #expect(bench.read("same/arrow.CUR") == bench.read("arrow.CUR"))
    }

    @Test func aFailedPictureDoesNotStopTheOthers() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "b.png")
        let run = try await bench.run("convert", "gone.png", "b.png", "out", "--format", "jpeg")
        #expect(run.code == 1 && run.errors.contains("gone.png: fileNotFound"))
        #expect(run.lines.count == 1 && bench.read("out/b.jpg") != nil)
    }

    @Test func aListMayNameTheInputs() async throws {
        let bench = try CommandBench()
        for name in ["a.png", "b.png"] { try bench.write(try Pictures.png(), to: name) }
        let list = Array("# two\na.png\n\ngone.png\n".utf8)
        let run = try await bench.run(
            "convert", "b.png", "out", "--input-list", "-", "--format", "jpeg", "--quiet", input: list)
        #expect(run.code == 1 && run.text == "" && run.errors.contains("gone.png"))
        #expect(bench.read("out/a.jpg") != nil && bench.read("out/b.jpg") != nil)
        let empty = try await bench.run("convert", "out", "--input-list", "-")
        #expect(empty.code == 0 && empty.errors == "nothing to convert: the list is empty\n")
    }

    /// Without this check, `convert *.jpg .` would overwrite the originals.
    @Test func noInputIsReplacedByItsOutputInAFolder() async throws {
        let bench = try CommandBench()
        let (first, second) = (try Pictures.png(), try Pictures.png(30, 20))
        try bench.write(first, to: "a.png")
        try bench.write(second, to: "b.png")
        let run = try await bench.run("convert", "a.png", "b.png", ".", "--size", "10x")
        #expect(run.code == 1 && run.errors.contains("is one of the inputs"))
        #expect(bench.read("a.png") == first && bench.read("b.png") == second)
    }

    @Test func severalInputsNeedAFolder() async throws {
        let bench = try CommandBench()
        for name in ["a.png", "b.png", "c.jpg"] { try bench.write(try Pictures.png(), to: name) }
        let run = try await bench.run("convert", "a.png", "b.png", "c.jpg")
        #expect(run.code == 1 && run.errors.contains("'c.jpg' is not a folder; several inputs need a folder as output"))
    }

    @Test(arguments: [
        (["a.png"], "give an input and an output"), (["a.png", "b.png", "-"], "takes one input"),
        (["-", "-", "out"], "read only once"), (["a.png", ""], "not an empty name"),
        (["-", "out", "--input-list", "-"], "both need standard input"),
        (["-", "--input-list", "x"], "takes one input"),
    ])
    func wrongListsAreWrongUsage(arguments: [String], message: String) async throws {
        let run = try await CommandBench().run(["convert"] + arguments)
        #expect(run.code == 2 && run.errors.contains(message))
    }
}
