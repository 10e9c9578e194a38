import Testing
import WebImage
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The completions that shells offer when a user presses Tab.
struct CompletionTests {
    static let hasBash = access("/bin/bash", X_OK) == 0

    /// The completions that bash offers for the last of the words.
    private func offers(_ bench: CommandBench, _ words: [String]) async throws -> [String] {
        let script = try await bench.run("--generate-completion-script", "bash")
        try bench.write(script.output, to: "completions")
        let all = ["webimage"] + words
        let program = """
            source completions
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            _webimage webimage "${@: -1}" "${@: -2:1}" 2>/dev/null
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let run = try await bench.run(["-c", program, "bash"] + all, program: "/bin/bash")
        return run.lines.map { $0.hasSuffix(" ") ? String($0.dropLast()) : $0 }.sorted()
    }

    /// Files and values of options were once not offered.
    @Test(
        .enabled(if: CompletionTests.hasBash),
        arguments: [
            (["fet"], ["fetch"]), (["convert", "sa"], ["sample.png"]),
            (["convert", "sample.png", "sa"], ["sample.png"]),
            (["info", "sa"], ["sample.png"]), (["info", "x.png", "sa"], ["sample.png"]),
            (["show", "sa"], ["sample.png"]),
            (["fetch", "-o", "sa"], ["sample.png"]), (["fetch", "--input-list", "sa"], ["sample.png"]),
            (["fetch", "--policy", "no"], ["no-store"]), (["convert", "--fit", "co"], ["contain", "cover"]),
            (["fetch", "--priority", ""], ["high", "low", "normal"]), (["convert", "--chroma", "42"], ["420", "422"]),
            (["convert", "--orientation", ""], ["apply", "ignore", "keep"]), (["fetch", "--format", "jp"], ["jpeg"]),
            (["cache", "stats", "--cache-dir", "fo"], ["folder"]), (["show", "--protocol", "k"], ["kitty"]),
        ])
    func bashOffersFilesAndValues(words: [String], offered: [String]) async throws {
        let bench = try CommandBench()
        try bench.write([1], to: "sample.png")
        try PosixFolder.make(bench.path("folder"))
        #expect(try await offers(bench, words) == offered)
    }

    /// The command contains the list of formats, because asking the coders at each start would load their libraries.
    @Test(.enabled(if: hasBash, "needs bash"))
    func theFormatsThatAreOfferedAreThoseThatCanBeWritten() async throws {
        let offered = try await offers(try CommandBench(), ["fetch", "--format", ""])
        let (writable, readable) = (CoderRegistry.standard.encodableFormats, CoderRegistry.standard.decodableFormats)
        #expect(offered.filter { writable.map(\.rawValue).contains($0) } == writable.map(\.rawValue))
        // libavif and libheif may be installed without an encoder.
        #expect(Set(offered).subtracting(writable.map(\.rawValue)).isSubset(of: ["avif", "heic", "heic-sequence"]))
        #expect(Set(offered).isSubset(of: readable.map(\.rawValue)))
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func everyShellKnowsTheValues(shell: String) async throws {
        let bench = try CommandBench()
        let script = try await bench.run("--generate-completion-script", shell).text
        for value in ["reload-from-origin", "contain", "keep", "kitty", "420"] {
            #expect(script.contains(value), "\(value)")
        }
    }
}
