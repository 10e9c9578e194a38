import Glibc
import WebImageSystem

/// The other end of one TLS connection, byte by byte, for peers that speak another protocol than HTTP/1: `openssl
/// s_server` does the TLS, a test reads and writes what is inside. It serves one connection and stops when it goes out
/// of memory.
package final class TLSPeer: Sendable {
    package let port: Int
    private let process: pid_t
    private let input: Int32
    private let output: Int32

    /// - Parameters:
    ///   - server: whose certificate is shown.
    ///   - protocolName: what is agreed on by ALPN: `h2`.
    package init(as server: NginxServer, protocolName: String) throws {
        port = try OriginServer.closedPort()
        var (toPeer, fromPeer) = ([Int32](repeating: -1, count: 2), [Int32](repeating: -1, count: 2))
        guard pipe(&toPeer) == 0, pipe(&fromPeer) == 0 else { throw FailedToStart() }
        for end in toPeer + fromPeer { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toPeer[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromPeer[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let words = [
            server.openssl, "s_server", "-quiet", "-accept", "127.0.0.1:\(port)", "-naccept", "1", "-alpn",
            protocolName, "-cert", server.path(of: "server.pem"), "-key", server.path(of: "server.key"),
        ]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let result = posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
        close(toPeer[0])
        close(fromPeer[1])
        self.process = process
        (input, output) = (toPeer[1], fromPeer[0])
        guard result == 0, waitForListener() else { throw FailedToStart() }
    }

    /// The program takes a moment to start. False when it never does.
    private func waitForListener() -> Bool {
        for _ in 0..<5000 {
            if isListening { return true }
            usleep(2000)
        }
        return false
    }

    private struct FailedToStart: Error {}

    deinit {
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        close(input)
        close(output)
    }

    package func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

    private var isListening: Bool {
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

    /// Bytes that the client sent; empty at its end. Blocks.
    package func receive() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 14)
        let count = bytes.withUnsafeMutableBytes { read(output, $0.baseAddress, $0.count) }
        return Array(bytes.prefix(max(count, 0)))
    }

    /// Sends bytes to the client.
    package func send(_ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            done += count
        }
    }

    /// Closes the connection without a word.
    package func hangUp() { kill(process, SIGKILL) }
}
