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

/// Whether this process may mount files in a namespace of its own.
@Sendable private func mayMount() async throws -> Bool {
    let bench = try CommandBench()
    let run = try await bench.run(["-c", "unshare -m mount -t tmpfs tmpfs ."], program: "/bin/sh")
    return run.code == 0
}

/// Files that no output may replace: inputs, lists and other outputs.
struct KeptFilesTests {
    /// The trace once replaced the picture that had just been written.
    @Test(arguments: [("out.png", "out.png"), ("out.png", "./out.png"), ("out/", "out/a.png")])
    func aTraceReplacesNoOutput(output: String, trace: String) async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.png", try Pictures.png())
        let run = try await bench.run("fetch", url, "-o", output, "--trace-file", trace)
        #expect(run.code == 1 && run.errors.contains("cannotWrite") && run.errors.contains("is one of the outputs"))
        #expect(bench.origin.hits("/a.png") == 0 && bench.read(trace) == nil)
        let apart = try await bench.run("fetch", url, "-o", output, "--trace-file", "trace.json")
        #expect(apart.code == 0 && bench.read("trace.json") != nil)
    }

    @Test func aTraceReplacesNeitherTheListNorAFileBehindALink() async throws {
        let bench = try CommandBench()
        let list = Array(bench.serve("/a.png", try Pictures.png()).utf8)
        try bench.write(list, to: "urls")
        let run = try await bench.run("fetch", "--input-list", "urls", "--trace-file", "urls")
        #expect(run.code == 1 && run.errors.contains("is the list of the inputs") && bench.read("urls") == list)
        try #require(symlink("out.png", bench.path("link.png")) == 0)
        let linked = try await bench.run(
            "fetch", "--input-list", "urls", "-o", "out.png", "--trace-file", "link.png")
        #expect(linked.code == 1 && linked.errors.contains("is one of the outputs"))
        // A device is written to and not replaced.
        let device = try await bench.run(
            "fetch", "--input-list", "urls", "-o", "/dev/null", "--trace-file", "/dev/null")
        #expect(device.code == 0, "\(device.errors)")
    }

    /// The list was once replaced by the picture.
    @Test func noOutputReplacesTheList() async throws {
        let bench = try CommandBench()
        try PosixFolder.make(bench.path("d"))
        let list = Array(bench.serve("/urls", try Pictures.png()).utf8)
        for name in ["urls", "d/urls"] { try bench.write(list, to: name) }
        for arguments in [
            ["fetch", "--input-list", "urls", "-o", "urls"], ["fetch", "--input-list", "d/urls", "-o", "d"],
            ["convert", "--input-list", "urls", "urls", "--format", "png"],
            ["convert", "--input-list", "d/urls", "d"],
        ] {
            let run = try await bench.run(arguments)
            #expect(run.code == 1 && run.errors.contains("is the list of the inputs"), "\(arguments): \(run.errors)")
        }
        #expect(bench.read("urls") == list && bench.read("d/urls") == list && bench.origin.hits("/urls") == 0)
        let empty = try await bench.run("fetch", "--input-list", "/dev/null", "-o", "/dev/null")
        #expect(empty.code == 0)
    }

    /// Only the last of several inputs with the same file was once known, so that all others were refused.
    @Test func anInputThatIsGivenTwiceMayStayInItsFolder() async throws {
        let bench = try CommandBench()
        let png = try Pictures.png()
        try PosixFolder.make(bench.path("d"))
        try bench.write(png, to: "d/a.png")
        try #require(link(bench.path("d/a.png"), bench.path("d/b.png")) == 0)
        let linked = try await bench.run("fetch", "d/a.png", "d/b.png", "-o", "d/")
        #expect(linked.code == 0, "\(linked.errors)")
        let twice = try await bench.run("fetch", "d/a.png", "d/a.png", "-o", "d/")
        #expect(twice.code == 0, "\(twice.errors)")
        #expect(bench.names(in: "d") == ["a-2.png", "a.png", "b.png"])
        for name in bench.names(in: "d") { #expect(bench.read("d/\(name)") == png) }
        // A changed picture still replaces no input.
        #expect(try await bench.run("fetch", "d/a.png", "d/a.png", "-o", "d/", "--size", "10x").code == 1)
    }

    /// A preview once replaced an input with its name.
    @Test func noPreviewReplacesAnInputOrAnOutput() throws {
        let bench = try CommandBench()
        let folder = bench.path("d")
        try PosixFolder.make(folder)
        try bench.write([1], to: "d/a.1.1.png")
        let previews = try PreviewFolder(
            folder, inputs: InputFiles(["\(folder)/a.1.1.png"], list: nil),
            outputs: ["\(folder)/./a-2.1.1.png", "-"])
        let url = "https://example.com/a.jpg"
        #expect(previews.path(ofPreview: 1, of: url, at: 0) == "\(folder)/a-3.1.1.png")
        #expect(previews.path(ofPreview: 2, of: url, at: 0) == "\(folder)/a.1.2.png")
    }

    /// The whole picture was once thrown away with a preview that could not be written.
    @Test func aPreviewThatCannotBeWrittenIsOnlyNoted() async throws {
        let bench = try CommandBench()
        let folder = bench.path("d")
        for path in [folder, "\(folder)/a.1.2.png"] { try PosixFolder.make(path) }
        var writer = PreviewWriter(
            folder: try PreviewFolder(folder, inputs: InputFiles([], list: nil), outputs: []),
            input: "https://example.com/a.jpg", index: 0, manager: ImageManager())
        let picture = try await Image(data: try Pictures.png())
        await writer.write(picture)
        #expect(writer.failure == nil)
        for _ in 0..<2 { await writer.write(picture) }
        #expect(writer.failure?.location?.hasSuffix("a.1.2.png") == true)
        #expect(bench.names(in: "d") == ["a.1.1.png", "a.1.2.png"])
    }
}

/// Outputs that cannot be replaced by another file.
struct OverwrittenFilesTests {
    @Test(.enabled(if: geteuid() != 0, "an administrator may write to every folder"))
    func aWritableFileInAnUnwritableFolderIsOverwritten() async throws {
        let bench = try CommandBench()
        try PosixFolder.make(bench.path("d"))
        try bench.write(try Pictures.png(200, 100), to: "in.png")
        try bench.write([UInt8](repeating: 1, count: 1 << 20), to: "d/out.png")
        try #require(chmod(bench.path("d"), 0o555) == 0)
        defer { chmod(bench.path("d"), 0o755) }
        let run = try await bench.run("fetch", "in.png", "-o", "d/out.png")
        #expect(run.code == 0, "\(run.errors)")
        #expect(bench.read("d/out.png") == bench.read("in.png"))
        let other = try await bench.run("fetch", "in.png", "-o", "d/new.png")
        #expect(other.code == 1 && other.errors.contains("permissionDenied"))
    }

    /// Such a file is what containers get for a single file.
    @Test(.enabled("most containers may not mount anything", mayMount))
    func aMountedFileIsOverwritten() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(200, 100), to: "in.png")
        for name in ["out.png", "behind.png"] { try bench.write([1], to: name) }
        let command = "fetch in.png -o out.png"
        let script = """
            exec unshare -m sh -c 'mount --bind behind.png out.png && "$0" \(command)' '\(try bench.command)'
            """
        let run = try await bench.run(["-c", script], program: "/bin/sh")
        #expect(run.code == 0, "\(run.errors)")
        #expect(bench.read("behind.png") == bench.read("in.png") && bench.read("out.png") == [1])
        #expect(try !PosixFileSystem().names(in: bench.folder).contains { $0.hasSuffix(".part") })
    }

    /// The old content was once gone before the disk was found to be full.
    @Test(.enabled("most containers may not mount anything", mayMount))
    func aMountedFileOnAFullDiskKeepsItsContent() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(400, 300), to: "in.png")
        try bench.write([1], to: "out.png")
        try PosixFolder.make(bench.path("disk"))
        let mount = "mount -t tmpfs -o size=16k tmpfs disk"
        let script = """
            exec unshare -m sh -c '\(mount) && printf old > disk/out && { cat /dev/zero > disk/rest; true; } 2> /dev/null &&
            mount --bind disk/out out.png && { "$0" convert in.png out.png --format bmp; code=$?; cp disk/out left; exit $code; }' \
            '\(try bench.command)'
            """
        let run = try await bench.run(["-c", script], program: "/bin/sh")
        #expect(run.code == 1 && run.errors.contains("noSpace"), "\(run.errors)")
        #expect(bench.read("left") == Array("old".utf8))
    }

    /// Programs that use the library get files that are always replaced as a whole.
    @Test(.enabled(if: geteuid() != 0, "an administrator may write to every folder"))
    func onlyTheCommandOverwritesFiles() throws {
        let bench = try CommandBench()
        try PosixFolder.make(bench.path("d"))
        try bench.write([1], to: "d/out")
        try #require(chmod(bench.path("d"), 0o555) == 0)
        defer { chmod(bench.path("d"), 0o755) }
        #expect(throws: FileFault.self) { try AtomicFile.write([2], to: bench.path("d/out")) }
        #expect(bench.read("d/out") == [1])
        try AtomicFile.write([2, 3], to: bench.path("d/out"), overwrites: true)
        #expect(bench.read("d/out") == [2, 3])
    }
}
