#if !os(Linux) || WI_PORTABLE
    import WebImageCore

    /// The ports of this machine with a listener: those on which listening fails. A trial connection could be the only
    /// one that a program accepts.
    enum Listeners {
        static func isOne(on port: Int) -> Bool {
            guard let socket = try? LoopbackSocket.listening(port: UInt16(port)) else { return true }
            socket.close()
            return false
        }
    }
#endif
