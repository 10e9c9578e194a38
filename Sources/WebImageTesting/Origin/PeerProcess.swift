import Glibc

/// A program of the system that tests talk to. It is killed when it goes out of memory.
final class PeerProcess: Sendable {
    private let process: pid_t

    /// - Parameters:
    ///   - words: the program's path and its arguments.
    ///   - input: descriptor of its standard input; nil for nothing.
    ///   - output: descriptor of its standard output; nil to drop it.
    init(_ words: [String], input: Int32? = nil, output: Int32? = nil) throws {
        process = try Self.spawn(words) { actions in
            if let input {
                posix_spawn_file_actions_adddup2(&actions, input, 0)
            } else {
                posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            }
            if let output {
                posix_spawn_file_actions_adddup2(&actions, output, 1)
            } else {
                posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            }
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
    }

    deinit {
        kill()
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    func kill() { _ = Glibc.kill(process, SIGKILL) }

    /// Waits until somebody listens on `port` of 127.0.0.1: a program takes a moment to start.
    ///
    /// - Throws: when nobody ever does.
    static func waitForListener(on port: Int) throws {
        for _ in 0..<5000 {
            if isListening(on: port) { return }
            usleep(2000)
        }
        throw FailedToStart(what: "the listener on port \(port)", error: 0)
    }

    private static func isListening(on port: Int) -> Bool {
        guard let table = fopen("/proc/net/tcp", "r") else { return false }
        defer { fclose(table) }
        var line = [CChar](repeating: 0, count: 256)
        let digits = String(port, radix: 16, uppercase: true)
        let wanted = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits + " 00000000:0000 0A"
        while fgets(&line, Int32(line.count), table) != nil {
            if String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).contains(wanted) {
                return true
            }
        }
        return false
    }

    /// Runs a program to its end; what it says goes to the file `log`.
    static func run(_ words: [String], log: String) throws {
        let process = try spawn(words) { actions in
            posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        if status != 0 { throw FailedToStart(what: words[0], error: status) }
    }

    /// Where a program is; nil when it is not installed.
    static func find(_ name: String) -> String? {
        ["/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/"].map { $0 + name }.first {
            access($0, X_OK) == 0
        }
    }

    private static func spawn(
        _ words: [String], _ prepare: (inout posix_spawn_file_actions_t) -> Void
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        prepare(&actions)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let result = posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
        if result != 0 { throw FailedToStart(what: words[0], error: result) }
        return process
    }

    private struct FailedToStart: Error {
        let what: String
        let error: Int32
    }
}
