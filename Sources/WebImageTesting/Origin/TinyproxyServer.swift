/// tinyproxy on loopback: an HTTP proxy that is not ours. Tests that need it are skipped if it is not installed.
package final class TinyproxyServer: Sendable {
    package static let isAvailable = PeerProcess.find("tinyproxy") != nil

    package let port: Int
    private let folder: ScratchFolder
    private let process: PeerProcess

    /// - Parameters:
    ///   - tunnelPorts: the ports to which the proxy opens tunnels (`CONNECT`); it refuses all others.
    ///   - user: the user whom the proxy serves, and the password; nil serves everyone.
    ///   - port: the port on which it listens; nil takes a free one.
    package init(tunnelPorts: [Int] = [], user: (name: String, password: String)? = nil, port: Int? = nil) throws {
        folder = try ScratchFolder()
        self.port = try port ?? OriginServer.closedPort()
        var settings = """
            Port \(self.port)
            Listen 127.0.0.1
            Allow 127.0.0.1
            Timeout 30
            MaxClients 50
            LogFile "\(folder.path)/log"
            LogLevel Connect

            """
        // Without any port, tinyproxy would open tunnels to all ports. Nothing listens on port 1.
        for port in tunnelPorts + [1] { settings += "ConnectPort \(port)\n" }
        if let user { settings += "BasicAuth \(user.name) \(user.password)\n" }
        folder.write("tinyproxy.conf", settings)
        let program = PeerProcess.find("tinyproxy") ?? "tinyproxy"
        process = try PeerProcess([program, "-d", "-c", "\(folder.path)/tinyproxy.conf"])
        try PeerProcess.waitForListener(on: self.port)
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// The first lines of all requests that the proxy received, such as `CONNECT 127.0.0.1:443 HTTP/1.1`.
    package var requestLines: [String] {
        String(decoding: folder.contents("log"), as: UTF8.self).split(separator: "\n").compactMap { line in
            line.contains("Request (") ? line.split(separator: ": ").last.map(String.init) : nil
        }
    }
}
