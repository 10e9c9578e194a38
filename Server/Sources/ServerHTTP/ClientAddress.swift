import HTTPTypes
import NIOCore
import ServerConfiguration
import WebImage

/// The network address of a client.
struct ClientAddress: Hashable, Sendable {
    /// The numeric address.
    let text: String
    /// The key for rate limits: the address, or the first 64 bits of an IPv6 address, which one customer typically has.
    let key: String

    /// - Returns: nil if the text is not an address.
    init?(_ text: some StringProtocol) {
        var text = String(text)
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            text = String(text[text.index(after: text.startIndex)..<end])
        } else if text.filter({ $0 == ":" }).count == 1, text.contains(".") {
            text = String(text.prefix { $0 != ":" })
        }
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        self.init(address)
    }

    init?(_ address: SocketAddress?) {
        guard let address, var text = address.ipAddress else { return nil }
        if text.lowercased().hasPrefix("::ffff:"), text.contains(".") { text = String(text.dropFirst(7)) }
        self.text = text
        guard case .v6(let full) = address, text.contains(":") else {
            key = text
            return
        }
        // The address follows family, port and flow information: RFC 3493, section 3.3.
        key = withUnsafeBytes(of: full.address) { bytes in
            bytes[8..<16].map { String($0, radix: 16) }.joined(separator: ":")
        }
    }

    /// Returns the client behind trusted proxies: the last address of `X-Forwarded-For` that does not belong to such a
    /// proxy. If the peer is not a trusted proxy, the peer is the client.
    ///
    /// - Parameter peer: the other end of the connection; nil for a unix socket, whose other end is trusted.
    static func behindProxies(
        _ peer: ClientAddress?, _ fields: HTTPFields, trusted: [AddressRange]
    ) -> ClientAddress? {
        guard !trusted.isEmpty else { return peer }
        func isTrusted(_ address: ClientAddress) -> Bool { trusted.contains { $0.contains(address.text) } }
        if let peer, !isTrusted(peer) { return peer }
        var last = peer
        for text in (fields[.xForwardedFor] ?? "").split(separator: ",").reversed() {
            let trimmed = text.filter { !$0.isWhitespace }
            guard let address = ClientAddress(trimmed) else { break }
            last = address
            if !isTrusted(address) { break }
        }
        return last
    }
}

extension HTTPField.Name {
    static let xForwardedFor = named("X-Forwarded-For")
}
