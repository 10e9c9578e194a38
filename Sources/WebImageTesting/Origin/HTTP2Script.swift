import WebImageSystem

/// A server with just enough HTTP/2 (RFC 9113) to misbehave: it reads the client's preface, waits for a request, and
/// sends the given frames. It stops when it is released.
package final class HTTP2Script: Sendable {
    package enum Frame: Sendable {
        /// The head of a response with status 200 on the stream of the request, with or without a `Content-Length`.
        case head(length: Int? = nil)
        case data([UInt8], ends: Bool = false)
        /// RST_STREAM (RFC 9113 section 6.4), with an error code of section 7.
        case reset(code: UInt32)
        /// GOAWAY (RFC 9113 section 6.8).
        case goAway(lastStream: UInt32, code: UInt32)
        /// Closes the connection without a frame.
        case hangUp
    }

    private let peer: TLSPeer

    package init(as server: NginxServer, _ frames: [Frame]) throws {
        let peer = try TLSPeer(as: server, protocolName: "h2")
        self.peer = peer
        startThread(named: "wi-h2-script") { Self.play(frames, on: peer) }
    }

    /// Ends the thread, also if no client has connected.
    deinit { peer.hangUp() }

    package func url(_ path: String = "/") -> String { peer.url(path) }

    private static func play(_ frames: [Frame], on peer: TLSPeer) {
        peer.send(frame(type: 4, stream: 0, []))  // SETTINGS
        guard let stream = requestStream(from: peer) else { return }
        peer.send(frame(type: 4, flags: 1, stream: 0, []))  // acknowledges the client's SETTINGS
        for one in frames { send(one, stream, peer) }
        // Further bytes from the client are read until it closes the connection.
        while !peer.receive().isEmpty {}
    }

    private static func send(_ one: Frame, _ stream: UInt32, _ peer: TLSPeer) {
        switch one {
        case .head(let length):
            // HPACK (RFC 7541): `:status: 200` is entry 8 of the static table, `content-length` is 28.
            var block: [UInt8] = [0x88]
            if let length {
                let digits = Array(String(length).utf8)
                block += [0x0F, 0x0D, UInt8(digits.count)] + digits
            }
            peer.send(frame(type: 1, flags: 4, stream: stream, block))
        case .data(let bytes, let ends): peer.send(frame(type: 0, flags: ends ? 1 : 0, stream: stream, bytes))
        case .reset(let code): peer.send(frame(type: 3, stream: stream, big(code)))
        case .goAway(let last, let code): peer.send(frame(type: 7, stream: 0, big(last) + big(code)))
        case .hangUp: peer.hangUp()
        }
    }

    /// The stream of the first HEADERS frame; nil if the client closes the connection before.
    private static func requestStream(from peer: TLSPeer) -> UInt32? {
        var bytes: [UInt8] = []
        var start = 24  // the preface
        while true {
            while bytes.count >= start + 9 {
                let length = bytes[start..<start + 3].reduce(0) { $0 << 8 | Int($1) }
                let stream = bytes[start + 5..<start + 9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                if bytes[start + 3] == 1 { return stream }
                start += 9 + length
            }
            let more = peer.receive()
            if more.isEmpty { return nil }
            bytes += more
        }
    }

    private static func frame(type: UInt8, flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        Array(big(UInt32(payload.count))[1...]) + [type, flags] + big(stream) + payload
    }

    private static func big(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }
}
