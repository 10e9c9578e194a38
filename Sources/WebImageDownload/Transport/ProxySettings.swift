/// The proxy by which servers are reached. None is used with an ``AddressPolicy``, since a proxy would hide the
/// address.
///
/// What a proxy answers counts as if the server had answered: 407 and 401 are `authenticationFailed` when there are
/// credentials for the proxy, other statuses are `badStatus`, also for a tunnel that the proxy refuses to open. A proxy
/// that is down is `connectionRefused`; the server is not asked without it then.
public enum ProxySettings: Hashable, Sendable {
    /// As `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say, read by libcurl. Whether there is one of them is
    /// looked up when the transport is made.
    case environment
    /// None.
    case direct
    /// The proxy at a URL (`http://`, `https://`, `socks5h://` and what else libcurl knows), but not for the hosts of
    /// `except`, which are names, domains with a dot in front, or addresses.
    case server(String, credentials: BasicCredentials? = nil, except: [String] = [])

    var hasCredentials: Bool {
        if case .server(_, _?, _) = self { true } else { false }
    }
}
