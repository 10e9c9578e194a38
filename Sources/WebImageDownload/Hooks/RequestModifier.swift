public import HTTPTypes
import WebImageCore

/// A request as it is about to be sent, for a ``RequestModifier`` to change.
public struct OutgoingRequest: Sendable {
    /// The absolute URL, without user, password and fragment.
    public var url: String
    /// The method, such as `GET`.
    public var method: HTTPRequest.Method
    /// The headers, including those that the library has added. The transport adds only what HTTP itself needs (`Host`).
    public var headers: HTTPFields
    /// The body; nil: none.
    public var body: [UInt8]?
    /// The number of redirects that were followed so far: 0 for the request itself.
    public let redirects: Int
    /// The number of failed attempts so far.
    public let retries: Int

    init(url: String, method: HTTPRequest.Method, headers: HTTPFields, body: [UInt8]?, redirects: Int, retries: Int) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.redirects = redirects
        self.retries = retries
    }
}

/// Changes requests before they are sent: the first one, and each one after a redirect or a failure. Each request is
/// changed once, starting from the form that the redirects before it produced.
///
/// A modifier cannot undo these rules:
/// - Once a redirect leads to another origin, the ``DownloadConfiguration/secretHeaders`` are removed after the
///   modifier has run, unless the modifier itself has chosen the origin. Even then the caller's secrets are not sent
///   there.
/// - A request that the modifier sends to another host keeps the slot of the requested host. The address policy and
///   blocked hosts are checked again.
/// - A request that a redirect has changed to GET stays a GET, without a body (RFC 9110 section 15.4).
///
/// The headers and URL that a modifier sets decide who may have the answer. A load calls the modifier before it looks
/// in a cache or joins another load, and then sends what the modifier returned. A picture in memory is returned without
/// calling the modifier only if it is for everybody (`public`, without `Vary`), unless the modifier is synchronous
/// (``changing(name:_:)``).
public struct RequestModifier: Sendable {
    /// Identifies the modifier. Two modifiers with the same name are expected to do the same to the same request; their
    /// downloads are shared if they did.
    public var name: String
    /// Returns the request as it should be sent. If it returns nil, the download fails with `requestRefused`; if it
    /// throws, that error is the cause.
    public var modify: @Sendable (OutgoingRequest) async throws -> OutgoingRequest? {
        didSet { change = nil }
    }
    /// Names the user for whom the modifier works. Set it if the modifier's secrets or URLs change from request to
    /// request, as signatures and tokens do. Default nil: each header that the modifier sets, apart from
    /// ``neutralHeaders``, and each changed URL counts as another user. A request's own ``DownloadOptions/credentialScope`` has precedence.
    public var credentialScope: String?
    /// Headers that the modifier sets differently each time and that do not affect the answer: two requests that differ
    /// only in them share a download. Default `traceparent`, `tracestate` and `X-Request-ID`.
    public var neutralHeaders = Set(["traceparent", "tracestate", "x-request-id"].compactMap { HTTPField.Name($0) })
    /// Whether the modifier works for no particular user: it only refuses requests or sets ``neutralHeaders``, and
    /// nothing that would make the answer specific to a user. Default false: answers are not stored in tiers that users
    /// share, unless the origin allows it.
    public var isSameForAllUsers = false
    /// Does the same as ``modify``, if the modifier is synchronous; nil if it is not.
    private(set) var change: (@Sendable (inout OutgoingRequest) throws -> Void)?

    /// The names of the headers that the modifier has changed, without the ``neutralHeaders``, in order.
    func changedHeaders(from given: HTTPFields, to changed: HTTPFields) -> [HTTPField.Name] {
        Set(changed.map(\.name)).union(given.map(\.name)).subtracting(neutralHeaders)
            .filter { changed[$0] != given[$0] }.sorted { $0.canonicalName < $1.canonicalName }
    }

    /// Makes an asynchronous modifier.
    public init(name: String, modify: @escaping @Sendable (OutgoingRequest) async throws -> OutgoingRequest?) {
        self.name = name
        self.modify = modify
    }

    /// Makes a synchronous modifier.
    ///
    /// - Parameters:
    ///   - name: identifies the modifier in comparisons.
    ///   - change: changes the request. It must not block: it is called on the caller's thread, also for a picture in
    ///     memory. If it throws, the request is refused.
    public static func changing(
        name: String, _ change: @escaping @Sendable (inout OutgoingRequest) throws -> Void
    ) -> RequestModifier {
        var modifier = RequestModifier(name: name) { request in
            var request = request
            try change(&request)
            return request
        }
        modifier.change = change
        return modifier
    }

    /// Makes a modifier that sets the method, headers (by name) and body that are given.
    public static func setting(
        method: HTTPRequest.Method? = nil, headers: HTTPFields = [:], body: [UInt8]? = nil
    ) -> RequestModifier {
        let lines = headers.map { "\($0.name.canonicalName):\($0.value)" }.sorted().joined(separator: "\n")
        let text = body.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return changing(name: "set \(method?.rawValue ?? "") \(lines)\n\(text)") { request in
            if let method { request.method = method }
            for header in headers { request.headers[header.name] = nil }
            request.headers.append(contentsOf: headers)
            if let body { request.body = body }
        }
    }

    /// Makes a modifier that filters the headers of each request by its URL, like SDWebImage's `headersFilter`.
    public static func filteringHeaders(
        name: String, _ filter: @escaping @Sendable (_ url: String, HTTPFields) -> HTTPFields
    ) -> RequestModifier {
        changing(name: name) { $0.headers = filter($0.url, $0.headers) }
    }
}

/// Changes or refuses answers before they are processed. It is not called for redirects. For a 206 with the rest of an
/// interrupted body it can change the headers, since these are stored with the picture, but it cannot refuse the answer
/// or change its status.
public struct ResponseModifier: Sendable {
    /// Identifies the modifier: two modifiers with the same name are expected to do the same.
    public var name: String
    /// Returns the changed head. If it returns nil, the download fails with `responseRefused`. Called on the
    /// transport's thread: it must not block.
    public var modify: @Sendable (ResponseHead) -> ResponseHead?

    public init(name: String, modify: @escaping @Sendable (ResponseHead) -> ResponseHead?) {
        self.name = name
        self.modify = modify
    }

    /// Makes a modifier that sets the status and headers (by name) that are given.
    public static func setting(status: Int? = nil, headers: HTTPFields = [:]) -> ResponseModifier {
        let lines = headers.map { "\($0.name.canonicalName):\($0.value)" }.sorted().joined(separator: "\n")
        return ResponseModifier(name: "set \(status ?? 0) \(lines)") { head in
            var all = head.headers
            for header in headers { all[header.name] = nil }
            all.append(contentsOf: headers)
            return ResponseHead(
                status: status ?? head.status, headers: all, version: head.version, remoteAddress: head.remoteAddress)
        }
    }
}
