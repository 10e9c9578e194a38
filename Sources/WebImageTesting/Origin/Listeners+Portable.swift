#if !os(Linux) || WI_PORTABLE
    import WebImageCore

    /// Who waits for connections on this machine: a port that cannot be had has a listener. A connection, to try it, could
    /// be the only one that a program takes.
    enum Listeners {
        static func isOne(on port: Int) -> Bool {
            guard let socket = try? LoopbackSocket.listening(port: UInt16(port)) else { return true }
            socket.close()
            return false
        }
    }
#endif
