import WebImageCore

/// Restricts the servers to which requests may go, for programs that take URLs from strangers.
///
/// Scheme, host and port are checked before each request, also after a redirect. The *resolved* address is checked
/// before each connection, and again before a kept connection is used. So a host name that resolves to 127.0.0.1 is
/// refused, and so are `http://2130706433` and `[::ffff:10.0.0.1]`. A request that is not allowed fails with
/// `addressRefused`. With a policy no proxy is used, since a proxy would hide the address.
public struct AddressPolicy: Sendable {
    /// The schemes that are allowed, in lower case. Default `http` and `https`; files and `data:` URLs need `file` and
    /// `data` here.
    public var schemes: Set<String> = ["http", "https"]
    /// The only hosts that are allowed: `example.com`, or `*.example.com` for all hosts below it. An internationalised
    /// name and its `xn--` form are the same. Default nil: any host.
    public var allowedHosts: [String]?
    /// The hosts that are never allowed. Default none.
    public var deniedHosts: [String] = []
    /// The only ports that are allowed. Default nil: any.
    public var allowedPorts: Set<Int>?
    /// The ports that are never allowed. Default none.
    public var deniedPorts: Set<Int> = []
    /// The addresses that are allowed even if ``deniedAddresses`` contains them. Default none.
    public var allowedAddresses: [AddressRange] = []
    /// The addresses that are not allowed. An IPv6 address that embeds a denied IPv4 address is denied, too. Default
    /// none.
    public var deniedAddresses: [AddressRange] = []
    /// The caller's own rule, which applies in addition to the others.
    private var rule: Rule?
    /// Whether there is a caller's rule.
    var hasOwnRule: Bool { rule != nil }

    private final class Rule: Sendable {
        let name: String
        let allows: @Sendable (String) -> Bool

        init(name: String, allows: @escaping @Sendable (String) -> Bool) {
            self.name = name
            self.allows = allows
        }
    }

    /// Makes a policy that allows every `http` and `https` server.
    public init() {}

    /// Makes a policy with a rule of your own for numeric addresses. The rule is called on a thread of the transport
    /// and must not block.
    ///
    /// - Parameters:
    ///   - name: identifies the rule in comparisons: two rules with the same name are considered equal.
    ///   - allows: returns whether requests may go to a server with that address.
    public init(name: String, allows: @escaping @Sendable (String) -> Bool) {
        rule = Rule(name: name, allows: allows)
    }

    /// Allows only the public Internet: neither this machine nor its network, nor any address that IANA has reserved.
    public static let publicOnly: AddressPolicy = {
        var policy = AddressPolicy()
        policy.deniedAddresses = AddressRange.notPublic
        return policy
    }()

    /// Whether the policy allows connecting to a numeric address. False for a string that is not an address.
    public func allows(address text: String) -> Bool {
        guard let address = IPAddress(text) else { return false }
        let all = [address] + address.embedded
        if !allowedAddresses.contains(where: { $0.contains(address) }) {
            if deniedAddresses.contains(where: { $0.containsAny(of: all) }) { return false }
        }
        return rule?.allows(text) ?? true
    }

    /// Why the policy refuses a request because of its URL; nil if it does not.
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

    /// The pattern as hosts of URLs are spelled: in lower case, other scripts in their `xn--` form.
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
