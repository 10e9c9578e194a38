public import HTTPTypes
import WebImageCore

/// A request as it is about to be sent, for a ``RequestModifier`` to change.
public struct OutgoingRequest: Sendable {
    /// Absolute, without user, password and fragment.
    public var url: String
    public var method: HTTPRequest.Method
    public var headers: HTTPFields
    public var body: [UInt8]?
    /// Redirects that were followed so far: 0 for the request itself.
    public let redirects: Int
    /// Tries that failed so far.
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

/// Changes requests before they are sent: the first one, and each that follows a redirect or a failure. Each request is
/// changed once, in the form in which the redirects before it left it.
///
/// A modifier cannot undo these rules:
/// - Once a redirect leads to another origin, the ``DownloadConfiguration/secretHeaders`` are taken out after the modifier,
///   unless the modifier sends the request to an origin of its own choice. The caller's secrets do not go there either.
/// - A request that is sent to another host keeps the slot of the host that was asked for. Address policy and failing hosts
///   are checked anew.
/// - A request that a redirect has made a GET stays one, without a body (RFC 9110 section 15.4).
///
/// What a modifier sets decides who may have the answer. A load asks it before it looks into a cache or joins another
/// load, and sends what it said then. A picture in memory is answered without asking only where it is for everybody
/// (`public`, without `Vary`), unless the modifier works at once (``changing(name:_:)``).
public struct RequestModifier: Sendable {
    /// Stands for the modifier: two of one name are taken to do the same to the same request, so that their downloads may be
    /// shared where they did.
    public var name: String
    /// Gets a request and gives it back as it is to be sent. Nil refuses: the download fails with `requestRefused`. An
    /// error refuses, too, and is the cause.
    public var modify: @Sendable (OutgoingRequest) async throws -> OutgoingRequest? {
        didSet { change = nil }
    }
    /// Names the user for whom the modifier speaks. Set it where the secrets or the URL that it sets change from
    /// request to request, as signatures and tokens do. Default nil: each secret
    /// (``DownloadConfiguration/secretHeaders``) and each changed URL stands for another user. A request's own
    /// ``DownloadOptions/credentialScope`` counts more.
    public var credentialScope: String?
    /// Headers that it sets anew each time and that change no answer: two requests that differ only in them share a download.
    /// Default `traceparent`, `tracestate` and `X-Request-ID`.
    public var neutralHeaders = Set(["traceparent", "tracestate", "x-request-id"].compactMap { HTTPField.Name($0) })
    /// Whether it speaks for nobody: it refuses requests, or sets ``neutralHeaders``, and nothing by which the answer would be for one
    /// user alone. Default false: what comes is kept from tiers that users share, unless the origin says that it is for all.
    public var speaksForNobody = false
    /// The same as ``modify``, for one that need not be waited for.
    private(set) var change: (@Sendable (inout OutgoingRequest) throws -> Void)?

    /// One that may take time.
    public init(name: String, modify: @escaping @Sendable (OutgoingRequest) async throws -> OutgoingRequest?) {
        self.name = name
        self.modify = modify
    }

    /// One that works at once.
    ///
    /// - Parameters:
    ///   - name: stands for the modifier in comparisons.
    ///   - change: must not block: it is called on the thread that asks, also for a picture in memory. An error refuses.
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

    /// Sets method, headers (by name) and body where they are given.
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

    /// Filters the headers of each request by its URL, as SDWebImage's `headersFilter` did.
    public static func filteringHeaders(
        name: String, _ filter: @escaping @Sendable (_ url: String, HTTPFields) -> HTTPFields
    ) -> RequestModifier {
        changing(name: name) { $0.headers = filter($0.url, $0.headers) }
    }
}

/// Changes or refuses answers before anything is made of them. Not asked about redirects. The 206 that brings the rest of a body
/// which broke off can be changed in its fields, since they are kept with the picture; it is not refused, and stays a 206.
public struct ResponseModifier: Sendable {
    /// Stands for the modifier: two of one name are taken to do the same.
    public var name: String
    /// Gets a head and gives it back as it is to be taken. Nil refuses: the download fails with `responseRefused`.
    /// Called on the transport's thread: it must not block.
    public var modify: @Sendable (ResponseHead) -> ResponseHead?

    public init(name: String, modify: @escaping @Sendable (ResponseHead) -> ResponseHead?) {
        self.name = name
        self.modify = modify
    }

    /// Sets status and headers (by name) where they are given.
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
