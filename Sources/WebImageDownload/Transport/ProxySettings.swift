/// The proxy through which servers are reached. With an ``AddressPolicy`` no proxy is used, since a proxy would hide
/// the address.
///
/// An answer of the proxy counts as if the server had answered: 407 and 401 are `authenticationFailed` when there are
/// credentials for the proxy, other statuses are `badStatus`, also for a tunnel that the proxy refuses to open. If the
/// proxy is down, the request fails with `connectionRefused`; it is not sent without the proxy.
public enum ProxySettings: Hashable, Sendable {
    /// The proxy of the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, which libcurl reads. Whether
    /// one of them is set is checked when the transport is made.
    case environment
    /// No proxy.
    case direct
    /// The proxy at a URL (`http://`, `https://`, `socks5h://` and others that libcurl supports), but not for the hosts
    /// in `except`, which are names, domains with a dot in front, or addresses.
    case server(String, credentials: BasicCredentials? = nil, except: [String] = [])

    var hasCredentials: Bool {
        if case .server(_, _?, _) = self { true } else { false }
    }
}
