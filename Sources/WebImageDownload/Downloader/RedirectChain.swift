import HTTPTypes
import WebImageCore

/// The hops of one download: where it is, where it may go, and whether the caller's secrets may come along
/// (RFC 9110 section 15.4, and the Fetch standard for what is dropped on the way to another origin).
struct RedirectChain: Sendable {
    /// A hop as redirects left it, before a request modifier: where each try of it begins.
    private struct Hop {
        var url: WebURL
        var method: HTTPRequest.Method
        var keepsSecrets = true
        var takesModifiersSecrets = true
    }

    /// Where the request goes: the hop's URL, or where a modifier sends it.
    private(set) var current: WebURL
    /// Where the hop before went, which is where a transfer has its slot.
    private(set) var previousHost: String
    /// Of the URL that was asked for.
    let firstCredentials: BasicCredentials?
    private(set) var count = 0
    private(set) var method: HTTPRequest.Method
    /// False from the first hop to another origin on, also after a return.
    private(set) var keepsSecrets = true
    /// Whether the secrets that a modifier sets may go there: to the first origin or to one of the modifier's own
    /// choice, and not from there to another one.
    private(set) var takesModifiersSecrets = true
    /// Whether an answer has made a GET of another method (RFC 9110 section 15.4): it stays one, without a body.
    private(set) var mustGet = false
    private var hop: Hop
    private let limit: Int
    private let allowsHTTP: Bool
    /// Where it was before, none while it has not moved.
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

    /// The `Location` of an answer that redirects, or nil for any other answer.
    static func location(of head: ResponseHead) -> String? {
        switch head.status {
        case 301, 302, 303, 307, 308: head[.location]
        default: nil
        }
    }

    /// - Parameter mayReturn: whether a place where it has been may answer otherwise now: cookies have come.
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

    /// Where a request modifier sends the request of this hop. To another origin the caller's secrets do not come along.
    mutating func replace(by url: WebURL, method: HTTPRequest.Method) {
        visited.insert(current.text)
        if url.origin != current.origin {
            keepsSecrets = false
            takesModifiersSecrets = true
        }
        current = url
        self.method = method
    }

    /// Back to the hop as it was before a modifier: another try begins.
    mutating func beginAgain() {
        current = hop.url
        method = hop.method
        keepsSecrets = hop.keepsSecrets
        takesModifiersSecrets = hop.takesModifiersSecrets
    }
}
