import HTTPTypes
import WebImageCore

/// The hops of one download: where it is, where it may go, and whether the caller's secrets may come along
/// (RFC 9110 section 15.4, and the Fetch standard for what is dropped on the way to another origin).
struct RedirectChain: Sendable {
    private(set) var current: WebURL
    /// Where the hop before went, which is where a transfer has its slot.
    private(set) var previousHost: String
    /// Of the URL that was asked for.
    let firstCredentials: BasicCredentials?
    private(set) var count = 0
    private(set) var method: HTTPRequest.Method
    /// False from the first hop to another origin on, also after a return.
    private(set) var keepsSecrets = true
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
    }

    /// The `Location` of an answer that redirects, or nil for any other answer.
    static func location(of head: ResponseHead) -> String? {
        switch head.status {
        case 301, 302, 303, 307, 308: head[.location]
        default: nil
        }
    }

    /// - Throws: `tooManyRedirects`; `redirectRefused` for a step from `https` to `http` or to another kind of URL.
    mutating func follow(_ location: String, status: Int) throws(WebImageError) {
        guard count < limit else {
            throw WebImageError(.tooManyRedirects, "more than \(limit) redirects, the last to \(redactedURL(location))")
        }
        let next: WebURL
        do throws(WebImageError) {
            next = try current.resolving(location)
        } catch {
            throw WebImageError(
                .redirectRefused, "a redirect leads to \(redactedURL(location)), which cannot be loaded", cause: error)
        }
        guard allowsHTTP || current.scheme == .http || next.scheme == .https else {
            throw WebImageError(
                .redirectRefused, "a redirect leads from https to http, to \(redactedURL(next.text))")
        }
        visited.insert(current.text)
        guard visited.insert(next.text).inserted else {
            throw WebImageError(.tooManyRedirects, "redirects go in a circle, back to \(redactedURL(next.text))")
        }
        if next.origin != current.origin { keepsSecrets = false }
        if method != .get, method != .head, status == 301 || status == 302 || status == 303 { method = .get }
        previousHost = current.hostAndPort
        current = next
        count += 1
    }

    /// Where a request modifier sends the request.
    mutating func replace(by url: WebURL, method: HTTPRequest.Method) {
        visited.insert(current.text)
        current = url
        self.method = method
    }
}
