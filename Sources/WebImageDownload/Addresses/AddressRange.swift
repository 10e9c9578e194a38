/// A block of addresses: `10.0.0.0/8`, `2001:db8::/32`, or one address.
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    private let base: IPAddress
    private let length: Int
    public let description: String

    /// Parses a block; nil for any other string.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let base = parts.first.flatMap({ IPAddress($0) }), parts.count <= 2 else { return nil }
        var length = base.bytes.count * 8
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...length).contains(given) else { return nil }
            length = given
        }
        self.base = base
        self.length = length
        description = text
    }

    /// Whether a numeric address is in the block. An IPv6 address with an embedded IPv4 address is in the blocks of
    /// both.
    public func contains(_ address: String) -> Bool {
        guard let address = IPAddress(address) else { return false }
        return containsAny(of: [address] + address.embedded)
    }

    func containsAny(of addresses: [IPAddress]) -> Bool { addresses.contains(where: contains) }

    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        let whole = length / 8
        guard address.bytes.prefix(whole) == base.bytes.prefix(whole) else { return false }
        let rest = length % 8
        return rest == 0 || (address.bytes[whole] ^ base.bytes[whole]) >> (8 - rest) == 0
    }

    private static func all(_ texts: [String]) -> [AddressRange] { texts.compactMap { AddressRange($0) } }

    /// This machine: 127.0.0.0/8, 0.0.0.0/8 (for which Linux connects to itself), ::1, ::.
    public static let loopback = all(["127.0.0.0/8", "0.0.0.0/8", "::1", "::"])
    /// Private networks: RFC 1918 and RFC 4193, the older site-local block, and carrier-grade NAT (RFC 6598).
    public static let privateUse = all([
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10",
    ])
    /// Link-local addresses, among them the metadata services of clouds (169.254.169.254).
    public static let linkLocal = all(["169.254.0.0/16", "fe80::/10"])
    /// Multicast and broadcast.
    public static let multicast = all(["224.0.0.0/4", "255.255.255.255", "ff00::/8"])
    /// Reserved by IANA: protocol assignments, documentation, benchmarks, future use, the discard block, relays.
    public static let reserved = all([
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "240.0.0.0/4", "100::/64", "2001:2::/48", "2001:10::/28", "2001:20::/28", "2001:db8::/32", "3fff::/20",
        "5f00::/16", "64:ff9b:1::/48",
    ])
    /// All of the above: everything that is not the public Internet.
    public static let notPublic = loopback + privateUse + linkLocal + multicast + reserved
}
