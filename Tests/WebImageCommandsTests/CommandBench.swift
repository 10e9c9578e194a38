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

/// Runs the built command as a user would, in another process, with a folder, a cache and an origin of its own.
final class CommandBench: Sendable {
    /// The folder that the command runs in.
    let folder: String
    let origin: OriginServer
    private let waiting = ThreadPool(name: "command", width: 1)

    init() throws {
        folder = try ScratchFolder.make()
        origin = try OriginServer()
    }

    deinit { ScratchFolder.remove(folder) }

    /// The path of a name in the folder.
    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Serves a picture and returns its URL.
    func serve(_ path: String, _ bytes: [UInt8]) -> String {
        origin.serve(path, .bytes(bytes))
        return origin.url(path)
    }

    /// Runs the command to its end.
    ///
    /// - Parameter input: the bytes on standard input.
    func run(_ arguments: String..., input: [UInt8] = []) async throws -> CommandRun {
        try await run(arguments, input: input)
    }

    /// - Parameters:
    ///   - environment: further variables, such as `A=b`, which replace the bench's own.
    ///   - program: the program that is run instead of the command.
    func run(
        _ arguments: [String], input: [UInt8] = [], environment: [String] = [], program: String? = nil
    ) async throws -> CommandRun {
        try write(input, to: ".stdin")
        let code = await end(of: try start(arguments, environment: environment, program: program))
        let (output, errors) = (read(".stdout") ?? [], String(decoding: read(".stderr") ?? [], as: UTF8.self))
        return CommandRun(code: code, output: output, errors: errors)
    }

    /// The path of the command.
    var command: String {
        get throws {
            guard let tests = realpath("/proc/self/exe", nil) else {
                throw WebImageError(.fileNotFound, "no executable")
            }
            defer { free(tests) }
            return String(cString: tests).split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/webimage"
        }
    }

    /// Waits for a process.
    ///
    /// - Returns: the exit code, or the negative number of the signal that ended the process.
    func end(of process: pid_t) async -> Int32 {
        let status = await withCheckedContinuation { (continuation: CheckedContinuation<Int32, Never>) in
            waiting.run(.normal) {
                var status: Int32 = 0
                while waitpid(process, &status, 0) == -1 && errno == EINTR {}
                continuation.resume(returning: status)
            }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// - Parameters:
    ///   - terminal: the path of the terminal for standard input, output and error, or nil for files.
    ///   - output: the descriptor of standard output, if it is neither a terminal nor a file.
    func start(
        _ arguments: [String], environment more: [String] = [], terminal: String? = nil, output: Int32? = nil,
        program: String? = nil
    ) throws -> pid_t {
        func isReplaced(_ variable: String) -> Bool {
            more.contains { $0.prefix { $0 != "=" } == variable.prefix { $0 != "=" } }
        }
        let own = ["HOME=\(folder)", "XDG_CACHE_HOME=\(folder)/.cache", "SWIFT_BACKTRACE=enable=no"]
        var environment = own.filter { !isReplaced($0) } + more
        // These variables tell the loader where libraries are, and configure sanitizers.
        for name in ["LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"] {
            if let value = getenv(name) { environment.append("\(name)=\(String(cString: value))") }
        }
        let writing = O_WRONLY | O_CREAT | O_TRUNC
        let files = try [(".stdin", O_RDONLY), (".stdout", writing), (".stderr", writing)].map { file, mode in
            let number = open(terminal ?? path(file), (terminal == nil ? mode : O_RDWR | O_NOCTTY) | O_CLOEXEC, 0o600)
            guard number >= 0 else { throw WebImageError(.fileNotFound, "\(terminal ?? file): error \(errno)") }
            return number
        }
        defer { for file in files { close(file) } }
        // POSIX cannot spawn a process in another directory, so `env -C` does.
        return try PeerProcess.spawn(
            ["/usr/bin/env", "-i", "-C", folder] + environment + [program ?? command] + arguments,
            input: files[0], output: output ?? files[1], errors: files[2])
    }
}

/// The result of a run of the command.
struct CommandRun {
    /// The exit code, or the negative number of the signal that ended the process.
    let code: Int32
    let output: [UInt8]
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }
    /// Standard output as JSON, with one object a line.
    var objects: [JSONObject] { get throws { try lines.map { try JSONObject($0) } } }
}

extension CommandBench {
    func write(_ bytes: [UInt8], to name: String) throws {
        let files = PosixFileSystem()
        let file = try files.open(path(name), .readWrite)
        defer { files.close(file) }
        try files.truncate(file, to: 0)
        try bytes.withUnsafeBytes { try files.writeAll(file, $0, at: 0) }
    }

    /// The bytes of a file in the folder, or nil if there is none.
    func read(_ name: String) -> [UInt8]? {
        let files = PosixFileSystem()
        guard let file = try? files.open(path(name), .read), let status = try? files.status(of: file) else {
            return nil
        }
        defer { files.close(file) }
        var bytes = [UInt8](repeating: 0, count: Int(status.size))
        let count = bytes.withUnsafeMutableBytes { try? files.readAll(file, into: $0, at: 0) }
        return count == bytes.count ? bytes : nil
    }

    /// The sorted names in a folder, without hidden ones.
    func names(in name: String = "") -> [String] {
        ((try? PosixFileSystem().names(in: path(name))) ?? []).filter { !$0.hasPrefix(".") }.sorted()
    }
}
