import HTTPTypes
import WebImageCore

/// The hops of one download: the current URL, the allowed next ones, and whether the caller's secrets may be sent there
/// (RFC 9110 section 15.4, and the Fetch standard for what is dropped on the way to another origin).
struct RedirectChain: Sendable {
    /// A hop as redirects left it, before a request modifier: the start of each attempt.
    private struct Hop {
        var url: WebURL
        var method: HTTPRequest.Method
        var keepsSecrets = true
        var takesModifiersSecrets = true
    }

    /// The URL of the request: the hop's URL, or the one that a modifier has set.
    private(set) var current: WebURL
    /// The host of the previous hop, at which a transfer has its slot.
    private(set) var previousHost: String
    /// The credentials in the requested URL.
    let firstCredentials: BasicCredentials?
    private(set) var count = 0
    private(set) var method: HTTPRequest.Method
    /// False from the first hop to another origin on, also after a return.
    private(set) var keepsSecrets = true
    /// Whether the secrets that a modifier sets may be sent: to the first origin or to one that the modifier has
    /// chosen, but not after a redirect from there to another one.
    private(set) var takesModifiersSecrets = true
    /// Whether a redirect has changed the method to GET (RFC 9110 section 15.4): it stays GET, without a body.
    private(set) var mustGet = false
    private var hop: Hop
    private let limit: Int
    private let allowsHTTP: Bool
    /// The earlier URLs; empty before the first redirect.
    private var visited: Set<String> = []

    /// - Parameter allowsHTTP: whether a step from `https` to `http` is allowed.
    init(_ url: WebURL, method: HTTPRequest.Method, limit: Int, allowsHTTP: Bool = false) {
        self.allowsHTTP = allowsHTTP
        current = url
        previousHost = url.hostAndPort
        firstCredentials = url.credentials
        self.method = method
        self.limit = limit
        hop = Hop(url: url, method: method)
    }

    /// The `Location` of a redirect; nil for any other answer.
    static func location(of head: ResponseHead) -> String? {
        switch head.status {
        case 301, 302, 303, 307, 308: head.location
        default: nil
        }
    }

    /// - Parameter mayReturn: whether a URL that was visited before may answer differently now, because cookies were
    ///   set.
    /// - Throws: `tooManyRedirects`; `redirectRefused` for a step from `https` to `http` or to another kind of URL.
    mutating func follow(_ location: String, status: Int, mayReturn: Bool = false) throws(WebImageError) {
        guard count < limit else {
            throw WebImageError(.tooManyRedirects, "more than \(limit) redirects, the last to \(redactedURL(location))")
        }
        let next: WebURL
        do throws(WebImageError) {
            next = try current.resolving(location)
        } catch {
            let rule =
                error.code == .unsupportedScheme
                ? "redirects are followed to http and https only" : "that is no URL that can be loaded"
            throw WebImageError(
                .redirectRefused, "a redirect leads to \(redactedURL(location)): \(rule)", cause: error)
        }
        guard allowsHTTP || current.scheme == .http || next.scheme == .https else {
            throw WebImageError(
                .redirectRefused, "a redirect leads from https to http, to \(redactedURL(next.text))")
        }
        if mayReturn { visited = [] } else { visited.insert(current.text) }
        guard visited.insert(next.text).inserted else {
            throw WebImageError(.tooManyRedirects, "redirects go in a circle, back to \(redactedURL(next.text))")
        }
        if next.origin != current.origin {
            keepsSecrets = false
            takesModifiersSecrets = false
        }
        if method != .get, method != .head, status == 301 || status == 302 || status == 303 {
            method = .get
            mustGet = true
        }
        previousHost = current.hostAndPort
        current = next
        hop = Hop(
            url: next, method: method, keepsSecrets: keepsSecrets, takesModifiersSecrets: takesModifiersSecrets)
        count += 1
    }

    /// Sends this hop's request to the URL that a request modifier has set. The caller's secrets are not sent to
    /// another origin.
    mutating func replace(by url: WebURL, method: HTTPRequest.Method) {
        visited.insert(current.text)
        if url.origin != current.origin {
            keepsSecrets = false
            takesModifiersSecrets = true
        }
        current = url
        self.method = method
    }

    /// Restores the hop before the modifier, for another attempt.
    mutating func beginAgain() {
        current = hop.url
        method = hop.method
        keepsSecrets = hop.keepsSecrets
        takesModifiersSecrets = hop.takesModifiersSecrets
    }
}
