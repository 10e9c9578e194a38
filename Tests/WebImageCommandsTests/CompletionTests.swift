import Testing
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What shells offer when somebody presses Tab.
struct CompletionTests {
    static let hasBash = access("/bin/bash", X_OK) == 0

    /// What bash offers for the last of some words.
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

    /// Once no file was offered, and no value.
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
            (["convert", "--orientation", ""], ["apply", "keep"]), (["fetch", "--format", "jp"], ["jpeg"]),
            (["cache", "stats", "--cache-dir", "fo"], ["folder"]), (["show", "--protocol", "k"], ["kitty"]),
        ])
    func bashOffersFilesAndValues(words: [String], offered: [String]) async throws {
        let bench = try CommandBench()
        try bench.write([1], to: "sample.png")
        try PosixFolder.make(bench.path("folder"))
        #expect(try await offers(bench, words) == offered)
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
