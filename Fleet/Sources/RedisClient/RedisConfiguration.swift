import FleetConnections
public import NIOCore
public import RESP

/// The address of a Redis server, the user, and the client's limits. Its description does not show the password.
public struct RedisConfiguration: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public enum Address: Hashable, Sendable {
        case tcp(host: String, port: Int)
        case unix(path: String)
    }

    public var address: Address
    public var user: String?
    public var password: String?
    /// The number of a database. Default 0.
    public var database = 0
    public var usesTLS = false
    /// The path of a PEM file with the certificates of the trusted authorities. Default: the system's authorities.
    public var certificateAuthorities: String?
    /// The time for a command, from its start to the answer, where the caller sets no other. Default 50 ms.
    public var deadline = TimeAmount.milliseconds(50)
    /// The time until a new connection can be used. Default 1 s.
    public var connectTimeout = TimeAmount.seconds(1)
    /// The time without an answer after which a connection is closed and opened again. Default 5 s.
    public var stallLimit = TimeAmount.seconds(5)
    /// How many commands of one event loop may wait for answers. Default 1024.
    public var maxInFlight = 1024
    /// How long to wait before a lost connection is opened again, the first time and at most. The pause doubles each
    /// time, until a connection has lasted for a second, and is shortened at random by up to a half. Default 100 ms and
    /// 5 s.
    public var backoff = (first: TimeAmount.milliseconds(100), most: TimeAmount.seconds(5))
    public var limits = RESPLimits()

    public init(address: Address) { self.address = address }

    public var description: String { "RedisConfiguration(\(address))" }
    public var debugDescription: String { description }
    // `dump` and the descriptions of enclosing types use the mirror, which must not show the password.
    public var customMirror: Mirror { Mirror(self, children: ["address": address, "user": user as Any]) }

    /// - Parameter url: `redis://`, `rediss://` (TLS) with `[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]`, or `unix:///PATH`.
    /// - Throws: `configuration`. The error does not repeat the URL, which may hold a password.
    public init(url: String) throws(RedisError) {
        guard let schemeEnd = url.firstRange(of: "://") else { throw .configuration("the URL of Redis has no scheme") }
        var rest = url[schemeEnd.upperBound...]
        switch url[..<schemeEnd.lowerBound].lowercased() {
        case "redis": self.init(address: .tcp(host: "", port: 6379))
        case "rediss":
            self.init(address: .tcp(host: "", port: 6379))
            usesTLS = true
        case "unix":
            guard rest.hasPrefix("/") else { throw .configuration("the URL of Redis names no path") }
            self.init(address: .unix(path: String(rest)))
            return
        default: throw .configuration("the URL of Redis begins with none of redis://, rediss:// and unix://")
        }
        if let path = rest.firstIndex(of: "/") {
            let number = rest[path...].dropFirst()
            guard number.isEmpty || number.allSatisfy(\.isNumber), let database = Int(number.isEmpty ? "0" : number)
            else {
                throw .configuration("the URL of Redis ends with no number of a database")
            }
            self.database = database
            rest = rest[..<path]
        }
        if let end = rest.lastIndex(of: "@") {
            try takeCredentials(rest[..<end])
            rest = rest[rest.index(after: end)...]
        }
        address = try Self.address(rest)
    }

    private mutating func takeCredentials(_ text: Substring) throws(RedisError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts.map { Self.percentDecoded($0) }
        guard decoded.allSatisfy({ $0 != nil }) else {
            throw .configuration("the URL of Redis has a user or a password that is not percent-encoded")
        }
        // A single part is the password, because Redis had only passwords before it had users.
        password = decoded.last ?? nil
        if decoded.count == 2, let name = decoded[0], !name.isEmpty { user = name }
    }

    private static func address(_ text: Substring) throws(RedisError) -> Address {
        var (host, port) = (text, 6379)
        // The colons of an IPv6 address are in brackets.
        if let colon = text.lastIndex(of: ":"), text[colon...].firstIndex(of: "]") == nil {
            guard let number = Int(text[text.index(after: colon)...]), (1...65535).contains(number) else {
                throw .configuration("the URL of Redis has no port after its colon")
            }
            (host, port) = (text[..<colon], number)
        }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw .configuration("the URL of Redis names no host") }
        let isName = host.utf8.allSatisfy { byte in
            byte > 32 && byte != 127 && (isBracketed || byte != UInt8(ascii: ":")) && !"[]?#%\\\"<>".utf8.contains(byte)
        }
        guard isName else { throw .configuration("the URL of Redis names a host with characters that no host has") }
        return .tcp(host: String(host), port: port)
    }

    private static func percentDecoded(_ text: Substring) -> String? {
        var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension RedisConfiguration {
    /// - Returns: nil if the configuration does not use TLS.
    func secureConnections() throws(RedisError) -> SecureConnections? {
        guard usesTLS, case .tcp(let host, _) = address else { return nil }
        do throws(SecureConnectionError) {
            return try SecureConnections(to: host, certificateAuthorities: certificateAuthorities)
        } catch {
            throw .configuration("rediss://: \(error)")
        }
    }
}
