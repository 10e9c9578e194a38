import CShimCurl
import WebImageCore

/// User, password, host and port of a URL (RFC 3986 section 3.2).
struct Authority {
    let host: String
    let port: Int?
    let credentials: BasicCredentials?

    /// Nil if there is no host, or one that no resolver accepts, or the port is invalid.
    init?(_ text: Substring) {
        var rest = text
        if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
            credentials = Self.credentials(rest[..<at])
            rest = rest[rest.utf8.index(after: at)...]
        } else {
            credentials = nil
        }
        let hostEnd: Substring.Index
        if rest.utf8.first == UInt8(ascii: "[") {
            guard let bracket = rest.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            hostEnd = rest.utf8.index(after: bracket)
            let inside = rest[..<bracket].utf8.dropFirst()
            guard inside.count >= 2, inside.allSatisfy(Self.isAddressByte) else { return nil }
        } else {
            hostEnd = rest.utf8.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            guard hostEnd > rest.startIndex, rest[..<hostEnd].utf8.allSatisfy(Self.isHostByte) else { return nil }
        }
        guard rest[..<hostEnd].utf8.count <= 255 else { return nil }
        guard let host = Self.asciiHost(rest[..<hostEnd]) else { return nil }
        self.host = host
        guard let port = Self.port(rest[hostEnd...]) else { return nil }
        self.port = port.value
    }

    /// The canonical spelling of a host for identity, policies and connections: lower case, other scripts as in DNS
    /// (`xn--…`). Nil if there is none.
    static func asciiHost(_ text: Substring) -> String? {
        let name = String(decoding: text.utf8.map(lowercased), as: UTF8.self)
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
        guard let ascii = wi_curl_ascii_host(name) else { return nil }
        defer { curl_free(ascii) }
        let host = String(cString: ascii).lowercased()
        let isHost = !host.isEmpty && host.utf8.allSatisfy { $0 < 0x80 && isHostByte($0) }
        return isHost ? host : nil
    }

    /// The port after the host: none, an empty one (which means none), or a number. Nil if it is invalid.
    private static func port(_ text: Substring) -> (value: Int?, Void)? {
        if text.isEmpty || text == ":" { return (nil, ()) }
        guard text.utf8.first == UInt8(ascii: ":") else { return nil }
        let digits = text.utf8.dropFirst()
        guard digits.count <= 5, digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
        guard let number = Int(String(text.dropFirst())), (1...65535).contains(number) else { return nil }
        return (number, ())
    }

    private static func credentials(_ text: Substring) -> BasicCredentials? {
        if text.isEmpty { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts.map { String(decoding: PercentEncoding.decoded($0.utf8), as: UTF8.self) }
        return BasicCredentials(user: decoded[0], password: decoded.count > 1 ? decoded[1] : "")
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7F && !"\"#%/:<>?@[\\]^`{|}".utf8.contains(byte)
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") || byte &- UInt8(ascii: "0") < 10
            || lowercased(byte) &- UInt8(ascii: "a") < 6
    }
}
