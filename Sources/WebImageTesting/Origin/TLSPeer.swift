import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The peer of one TLS connection, byte by byte, for protocols other than HTTP/1. `openssl s_server` does the TLS; a
/// test reads and writes the data inside. It serves one connection, and stops when it is released.
package final class TLSPeer: Sendable {
    package let port: Int
    private let process: PeerProcess
    private let input: Int32
    private let output: Int32

    /// - Parameters:
    ///   - server: the server whose certificate is used.
    ///   - protocolName: the protocol that is negotiated by ALPN, for example `h2`.
    package init(as server: NginxServer, protocolName: String) throws {
        port = try OriginServer.closedPort()
        guard let toPeer = PipeEnds(), let fromPeer = PipeEnds() else { throw FailedToStart() }
        defer { for end in [toPeer.reading, fromPeer.writing] { close(end) } }
        (input, output) = (toPeer.writing, fromPeer.reading)
        process = try PeerProcess(
            [
                server.openssl, "s_server", "-quiet", "-accept", "127.0.0.1:\(port)", "-naccept", "1", "-alpn",
                protocolName, "-cert", server.path(of: "server.pem"), "-key", server.path(of: "server.key"),
            ], input: toPeer.reading, output: fromPeer.writing)
        try PeerProcess.waitForListener(on: port)
    }

    private struct FailedToStart: Error {}

    deinit {
        process.end()
        close(input)
        close(output)
    }

    package func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

    /// Returns bytes that the client sent; empty at the end. Blocks.
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

    /// Closes the connection without a message.
    package func hangUp() { process.end() }
}
