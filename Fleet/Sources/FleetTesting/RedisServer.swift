import Foundation
import Synchronization

/// A redis-server for one test, on a unix socket and, on request, on a port. It is ended with the test, and with the
/// process that runs the test, however that ends.
public final class RedisServer: Sendable {
    public struct CannotStart: Error, CustomStringConvertible {
        public let description: String
    }

    private struct State {
        var pid: Int32 = 0
        /// Closing it ends the server.
        var input: FileHandle?
        var ended: EventLog<Bool>?
    }

    /// A shell script that starts redis-server with its arguments, and ends it when the script's standard input is
    /// closed.
    ///
    /// The script does not wait for the server's end: a shell that inherits blocked signals would wait for ever.
    private static let keeper = #"redis-server "$@" & echo "pid $!"; read -r line; kill -9 $!"#

    public let folder: String
    private let arguments: [String]
    private let state = Mutex(State())

    /// Whether redis-server is installed.
    public static let isInstalled = find("redis-server") != nil

    /// - Parameter arguments: options of redis-server, in addition to the socket.
    public init(_ arguments: [String] = []) async throws {
        // The path must be short: that of a unix socket has 107 bytes at most.
        folder = FileManager.default.temporaryDirectory.path + "/redis-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        self.arguments =
            [
                "--unixsocket", folder + "/socket", "--dir", folder, "--save", "",
                "--appendonly", "no",
            ] + (arguments.contains("--port") ? [] : ["--port", "0"]) + arguments
        try await start()
    }

    deinit {
        try? state.withLock { $0.input }?.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The URL for clients.
    public var url: String { "unix://\(folder)/socket" }

    /// A port that was free a moment ago.
    ///
    /// It lies below the range from which kernels choose local ports of connections (32768 and up). Otherwise a client
    /// that keeps trying to connect to the port while nobody listens could eventually be given it for its own end.
    public static func freePort() -> Int {
        for _ in 0..<1000 {
            let port = UInt16.random(in: 10_000..<32_768)
            if isFree(port) { return Int(port) }
        }
        // No port was found, for example because no file descriptors are left. The program that uses the port reports
        // that.
        return 0
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let listener = socket(AF_INET, streamSocket, 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// Starts the server again after ``kill()``. Returns when it accepts connections.
    public func start() async throws {
        let ended = EventLog<Bool>()
        // A separate thread reads the server's output until its end, so that no thread of the tests is blocked.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread { [weak self, arguments] in
                do {
                    let (shell, pid) = try Self.launch(arguments)
                    self?.state.withLock { $0 = State(pid: pid, input: shell.input, ended: ended) }
                    continuation.resume()
                    while !shell.output.availableData.isEmpty {}
                    shell.waitForEnd()
                    // A process that is killed closes its output before its port.
                    while Self.isRunning(pid) { sched_yield() }
                } catch {
                    continuation.resume(throwing: error)
                }
                ended.append(true)
            }
        }
    }

    private static func launch(_ arguments: [String]) throws -> (KeptShell, pid: Int32) {
        let shell = try KeptShell(keeper, arguments)
        var (text, pid) = ("", Int32(0))
        while !text.contains("eady to accept connections at") {
            let piece = shell.output.availableData
            guard !piece.isEmpty else { throw CannotStart(description: text) }
            text += String(decoding: piece, as: UTF8.self)
        }
        for line in text.split(separator: "\n") where line.hasPrefix("pid ") { pid = Int32(line.dropFirst(4)) ?? 0 }
        return (shell, pid)
    }

    /// Whether a process still has open files. False for a process that has ended and that its parent has not noticed
    /// yet ("Z", zombie), and on systems without `/proc`.
    private static func isRunning(_ pid: Int32) -> Bool {
        // For example "4711 (redis-server) S 1 ...". Another name means that another process has the number now.
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            stat.contains("(redis-server)"),
            let state = stat.split(separator: ")").last?.split(separator: " ").first
        else { return false }
        return state != "Z" && state != "X"
    }

    /// Ends the server at once, and returns when it has ended and its port is free. Its data is lost.
    public func kill() async {
        let state = state.withLock { state in
            defer { state = State() }
            return state
        }
        if state.pid > 1 { _ = Foundation.kill(state.pid, SIGKILL) }
        try? state.input?.close()
        await state.ended?.wait { !$0.isEmpty }
    }

    /// Stops the server from answering until ``resume()``. The system still accepts connections.
    public func pause() { signal(SIGSTOP) }

    public func resume() { signal(SIGCONT) }

    private func signal(_ signal: Int32) {
        state.withLock { state in
            // Process 0 would mean this process group.
            if state.pid > 1 { _ = Foundation.kill(state.pid, signal) }
        }
    }

    /// Returns the path of a program in `PATH`; nil if there is none.
    public static func find(_ program: String) -> String? {
        if program.hasPrefix("/") { return program }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
        return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

#if os(Linux)
    private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
    private let streamSocket = SOCK_STREAM
#endif
