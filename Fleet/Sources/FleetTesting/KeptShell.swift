import Foundation
import Synchronization

/// A shell that a test runs, with its input and output connected to this process.
///
/// It replaces Foundation's `Process`, which lists the open files of this process and has crashed when other threads
/// opened files meanwhile.
struct KeptShell {
    struct CannotStart: Error, CustomStringConvertible {
        let description: String
    }

    /// The shell's standard input. Closing it ends the input.
    let input: FileHandle
    /// The standard output and error of the shell and its children.
    let output: FileHandle
    private let process: pid_t

    /// - Parameters:
    ///   - script: the shell script.
    ///   - arguments: the script's arguments, from `$1` on.
    ///   - environment: variables that are added to those of this process.
    init(_ script: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        guard let shell = RedisServer.find("sh") else { throw CannotStart(description: "there is no sh") }
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        let words = [shell, "-c", script, "keeper"] + arguments
        let (input, output, number, process) = try Self.oneAtATime.withLock { _ in
            let (input, output) = (try Self.makePipe(), try Self.makePipe())
            let (number, process) = Self.spawn(words, variables, input: input.reader, output: output.writer)
            return (input, output, number, process)
        }
        self.process = process
        close(input.reader)
        close(output.writer)
        self.input = FileHandle(fileDescriptor: input.writer, closeOnDealloc: true)
        self.output = FileHandle(fileDescriptor: output.reader, closeOnDealloc: true)
        guard number == 0 else { throw CannotStart(description: "\(shell): \(String(cString: strerror(number)))") }
    }

    /// Waits until the shell has ended. Blocks the thread.
    func waitForEnd() {
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1, errno == EINTR {}
    }

    /// Shells are started one at a time, so that none inherits an end of another's pipes.
    private static let oneAtATime = Mutex(())

    private static func makePipe() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CannotStart(description: "no pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    #if canImport(Glibc)
        /// Closes the open files and sockets of this process in the new process. Swift does not import the function, so
        /// it is looked up.
        private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) {
            typealias Adding = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
            guard let add = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
            _ = unsafeBitCast(add, to: Adding.self)(&actions, 3)
        }
    #else
        private static func closeOthers(_ actions: inout some Any) {}
    #endif

    private static func spawn(
        _ words: [String], _ variables: [String], input: Int32, output: Int32
    ) -> (number: Int32, process: pid_t) {
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        let environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        #if canImport(Darwin)
            var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
            var flags = POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
            var flags: Int32 = 0
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        for descriptor in [1, 2] as [Int32] { posix_spawn_file_actions_adddup2(&actions, output, descriptor) }
        closeOthers(&actions)
        // The shell does not inherit the signals that the tests' threads block, and is not in their process group, so
        // that Ctrl-C in the terminal reaches only the tests.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        flags |= Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETPGROUP)
        posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
        var process: pid_t = 0
        let number = posix_spawn(&process, words[0], &actions, &attributes, arguments, environment)
        return (number, process)
    }
}
