import WebImageCore

/// Which servers may be talked to. For programs that take URLs from strangers.
///
/// Scheme, host and port are checked before each request, also after a redirect. The *resolved* address is checked
/// before each connection, and again before a kept connection is used. So a name that resolves to 127.0.0.1 is found
/// out, and so are `http://2130706433` and `[::ffff:10.0.0.1]`. What is not allowed fails with `addressRefused`. No
/// proxy is used with a policy, since a proxy would hide the address.
public struct AddressPolicy: Sendable {
    /// The schemes that are allowed, in lower case. Default `http` and `https`; files and `data:` URLs need `file` and
    /// `data` here.
    public var schemes: Set<String> = ["http", "https"]
    /// Only these hosts are allowed: `example.com`, or `*.example.com` for all hosts below it. A name in another script
    /// and its `xn--` form are the same. Default nil: any host.
    public var allowedHosts: [String]?
    /// Never these hosts. Default none.
    public var deniedHosts: [String] = []
    /// When given, only these ports. Default nil: any.
    public var allowedPorts: Set<Int>?
    /// Never these ports. Default none.
    public var deniedPorts: Set<Int> = []
    /// These addresses are allowed, whatever ``deniedAddresses`` says. Default none.
    public var allowedAddresses: [AddressRange] = []
    /// These addresses are never allowed. An IPv6 address that stands for a denied IPv4 address is denied, too. Default
    /// none.
    public var deniedAddresses: [AddressRange] = []
    /// A rule of your own, beside the others.
    private var rule: Rule?
    /// Whether it has one.
    var hasOwnRule: Bool { rule != nil }

    private final class Rule: Sendable {
        let name: String
        let allows: @Sendable (String) -> Bool

        init(name: String, allows: @escaping @Sendable (String) -> Bool) {
            self.name = name
            self.allows = allows
        }
    }

    /// Every `http` and `https` server.
    public init() {}

    /// A rule of your own about numeric addresses, called on a thread of the transport: it must not block.
    ///
    /// - Parameters:
    ///   - name: stands for the rule in comparisons: two rules of one name are taken to be the same.
    ///   - allows: whether a server with that address may be talked to.
    public init(name: String, allows: @escaping @Sendable (String) -> Bool) {
        rule = Rule(name: name, allows: allows)
    }

    /// Only the public Internet: neither this machine nor its network, and nothing that IANA set aside.
    public static let publicOnly: AddressPolicy = {
        var policy = AddressPolicy()
        policy.deniedAddresses = AddressRange.notPublic
        return policy
    }()

    /// Whether a numeric address may be connected to. False for a text that is no address.
    public func allows(address text: String) -> Bool {
        guard let address = IPAddress(text) else { return false }
        let all = [address] + address.embedded
        if !allowedAddresses.contains(where: { $0.contains(address) }) {
            if deniedAddresses.contains(where: { $0.containsAny(of: all) }) { return false }
        }
        return rule?.allows(text) ?? true
    }

    /// Why a request may not be made, by what its URL says; nil when it may.
    func refusal(scheme: String, host: String = "", port: Int = 0) -> WebImageError? {
        func refused(_ what: String) -> WebImageError {
            WebImageError(.addressRefused, "the address policy does not allow \(what)")
        }
        guard schemes.contains(scheme) else { return refused("\(scheme): URLs") }
        if host.isEmpty { return nil }
        let host = host.last == "." ? host.dropLast() : host[...]
        if let allowedHosts, !allowedHosts.contains(where: { Self.matches(host, $0) }) {
            return refused("the host \(host)")
        }
        if deniedHosts.contains(where: { Self.matches(host, $0) }) { return refused("the host \(host)") }
        if allowedPorts?.contains(port) == false || deniedPorts.contains(port) { return refused("port \(port)") }
        return nil
    }

    /// Spelled as the hosts of URLs are.
    private static func normal(_ pattern: String) -> String {
        if pattern.utf8.allSatisfy({ $0 < 0x80 }) { return pattern.lowercased() }
        let isWild = pattern.hasPrefix("*.")
        guard let host = Authority.asciiHost(pattern.dropFirst(isWild ? 2 : 0)) else { return pattern }
        return isWild ? "*." + host : host
    }

    private static func matches(_ host: Substring, _ pattern: String) -> Bool {
        let pattern = normal(pattern)
        guard pattern.hasPrefix("*.") else { return host == pattern }
        return host.hasSuffix(pattern.dropFirst()) && host.utf8.count > pattern.utf8.count - 1
    }
}

extension AddressPolicy: Hashable {
    public static func == (left: AddressPolicy, right: AddressPolicy) -> Bool {
        left.schemes == right.schemes && left.allowedHosts == right.allowedHosts
            && left.deniedHosts == right.deniedHosts
            && left.allowedPorts == right.allowedPorts && left.deniedPorts == right.deniedPorts
            && left.allowedAddresses == right.allowedAddresses && left.deniedAddresses == right.deniedAddresses
            && left.rule?.name == right.rule?.name
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(schemes)
        hasher.combine(allowedHosts)
        hasher.combine(deniedAddresses.count)
        hasher.combine(rule?.name)
    }
}
