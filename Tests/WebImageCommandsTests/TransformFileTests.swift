import Testing
import WebImageCore
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The files that `--transform` names.
struct TransformFileTests {
    /// A cube that gives every pixel the same colour.
    private func cube(_ color: String) -> [UInt8] {
        Array(("LUT_3D_SIZE 2\n" + String(repeating: "\(color)\n", count: 8)).utf8)
    }

    /// The command once waited for a pipe without end, and took a folder for an empty file.
    @Test(arguments: [("pipe", "notAFile"), (".", "notAFile"), ("/dev/zero", "notAFile"), ("none", "fileNotFound")])
    func aCubeIsReadOnlyFromAFile(name: String, code: String) async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        try #require(mkfifo(bench.path("pipe"), 0o600) == 0)
        let run = try await bench.run("convert", "a.png", "b.png", "--transform", "lut:\(name)", "--timeout", "5")
        #expect(run.code == 1 && run.errors.contains("\(code): --transform: \(name): "), "\(run.errors)")
        #expect(bench.read("b.png") == nil)
    }

    @Test func aCubeChangesTheColors() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        try bench.write(cube("1 0 0"), to: "red.cube")
        #expect(try await bench.run("convert", "a.png", "b.png", "--transform", "lut:red.cube").code == 0)
        let pixels = try await Pictures.stored(try #require(bench.read("b.png"))).pixels
        #expect(pixels.prefix(3) == [255, 0, 0])
    }

    /// One of these files was once used for both.
    @Test func namesThatDifferInNormalisationAreDifferentFiles() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "a.png")
        try bench.write(cube("1 0 0"), to: "\u{FC}.cube")
        try bench.write(cube("0 0 1"), to: "u\u{308}.cube")
        let chains: [(String, [UInt8])] = [
            ("lut:\u{FC}.cube|lut:u\u{308}.cube", [0, 0, 255]), ("lut:u\u{308}.cube|lut:\u{FC}.cube", [255, 0, 0]),
        ]
        // The last cube determines the colour.
        for (chain, color) in chains {
            let run = try await bench.run("convert", "a.png", "b.png", "--transform", chain)
            #expect(run.code == 0, "\(run.errors)")
            let pixels = try await Pictures.stored(try #require(bench.read("b.png"))).pixels
            #expect(pixels.prefix(3).elementsEqual(color))
        }
    }
}
