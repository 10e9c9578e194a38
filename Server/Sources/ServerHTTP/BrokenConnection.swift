#if TLS
    import NIOHTTP2

    /// Closes connections whose client violates the protocol. NIO tells the client so, but leaves the connection open.
    /// Errors that concern only one stream, which NIO resets, leave the others alone.
    struct BrokenConnection: NIOHTTP2FrameDelegate {
        let connectionGuard: ConnectionGuard

        func wroteFrame(_ frame: HTTP2Frame) {
            if case .goAway(_, let code, _) = frame.payload, code != .noError { connectionGuard.breaks() }
        }
    }
#endif
