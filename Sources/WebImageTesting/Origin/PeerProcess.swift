import CShimSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A program of the system with which tests communicate. It is killed when the object is released.
package final class PeerProcess: Sendable {
    private let process: Int32

    /// - Parameters:
    ///   - words: the path of the program and its arguments.
    ///   - input: the descriptor for its standard input; nil for an empty one.
    ///   - output: the descriptor for its standard output; nil discards it.
    init(_ words: [String], input: Int32? = nil, output: Int32? = nil) throws {
        process = try Self.spawn(words, input: input ?? -1, output: output ?? -1, errors: -1)
    }

    deinit {
        end()
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    func end() { kill(process, SIGKILL) }

    /// Waits until a process listens on `port` of 127.0.0.1, since programs take a moment to start.
    ///
    /// - Throws: if no process does within the limit.
    static func waitForListener(on port: Int) throws {
        for _ in 0..<5000 {
            if Listeners.isOne(on: port) { return }
            usleep(2000)
        }
        throw FailedToStart(what: "the listener on port \(port)", error: 0)
    }

    /// Runs a program to its end. Its output goes to the file `log`.
    package static func run(_ words: [String], log: String) throws {
        let file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(file) }
        let process = try spawn(words, input: -1, output: file, errors: file)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        if status != 0 { throw FailedToStart(what: words[0], error: status) }
    }

    private static let folders = [
        "/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/",
    ]

    /// The path of a program; nil if it is not installed.
    package static func find(_ name: String) -> String? {
        folders.map { $0 + name }.first { access($0, X_OK) == 0 }
    }

    /// Starts a program, and returns its process number. The descriptor -1 means an empty input, and discards output.
    package static func spawn(_ words: [String], input: Int32, output: Int32, errors: Int32) throws -> Int32 {
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: Int32 = 0
        let result = wi_spawn(arguments, input, output, errors, &process)
        if result != 0 { throw FailedToStart(what: words[0], error: result) }
        return process
    }

    private struct FailedToStart: Error {
        let what: String
        let error: Int32
    }
}
