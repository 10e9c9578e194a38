public import HTTPTypes
import WebImageCore

/// A request as it is about to be sent, for a ``RequestModifier`` to change.
public struct OutgoingRequest: Sendable {
    /// Absolute, without user, password and fragment.
    public var url: String
    public var method: HTTPRequest.Method
    public var fields: HTTPFields
    public var body: [UInt8]?
    /// Redirects that were followed so far: 0 for the request itself.
    public let redirects: Int
    /// Tries that failed so far.
    public let retries: Int

    init(url: String, method: HTTPRequest.Method, fields: HTTPFields, body: [UInt8]?, redirects: Int, retries: Int) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
        self.redirects = redirects
        self.retries = retries
    }
}

/// Changes requests before they are sent: the first one, and each that follows a redirect or a failure (SDWebImage rows
/// D-03, D-10, A-03). Each is changed once, as the redirects before it left it.
///
/// What it cannot undo: once a redirect leads to another origin, ``DownloadConfiguration/secretFields`` are taken out
/// behind it, unless it sends the request to an origin of its own choice; the caller's secrets do not go there either.
/// A request that it sends to another host keeps the slot of the host that was asked for; addresses and failing hosts are
/// looked at anew.
///
/// A request that a redirect has made a GET stays one, without a body (RFC 9110 section 15.4).
public struct RequestModifier: Sendable {
    /// Stands for the modifier: two of one name are taken to do the same, so that their downloads may be shared.
    public var name: String
    /// nil refuses: the download fails with `requestRefused`. So does an error, which is its cause.
    public var modify: @Sendable (OutgoingRequest) async throws -> OutgoingRequest?

    public init(name: String, modify: @escaping @Sendable (OutgoingRequest) async throws -> OutgoingRequest?) {
        self.name = name
        self.modify = modify
    }

    /// Sets method, fields (by name) and body where they are given.
    public static func setting(
        method: HTTPRequest.Method? = nil, fields: HTTPFields = [:], body: [UInt8]? = nil
    ) -> RequestModifier {
        let lines = fields.map { "\($0.name.canonicalName):\($0.value)" }.sorted().joined(separator: "\n")
        let text = body.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return RequestModifier(name: "set \(method?.rawValue ?? "") \(lines)\n\(text)") { request in
            var request = request
            if let method { request.method = method }
            for field in fields { request.fields[field.name] = nil }
            request.fields.append(contentsOf: fields)
            if let body { request.body = body }
            return request
        }
    }

    /// Filters the fields of each request by its URL, as SDWebImage's `headersFilter` did.
    public static func filteringFields(
        name: String, _ filter: @escaping @Sendable (_ url: String, HTTPFields) -> HTTPFields
    ) -> RequestModifier {
        RequestModifier(name: name) { request in
            var request = request
            request.fields = filter(request.url, request.fields)
            return request
        }
    }
}

/// Changes or refuses answers before anything is made of them (SDWebImage rows DO-10, A-04). Not asked about redirects.
public struct ResponseModifier: Sendable {
    /// Stands for the modifier: two of one name are taken to do the same.
    public var name: String
    /// nil refuses: the download fails with `responseRefused`. Called on the transport's thread: it must not block.
    public var modify: @Sendable (ResponseHead) -> ResponseHead?

    public init(name: String, modify: @escaping @Sendable (ResponseHead) -> ResponseHead?) {
        self.name = name
        self.modify = modify
    }

    /// Sets status and fields (by name) where they are given.
    public static func setting(status: Int? = nil, fields: HTTPFields = [:]) -> ResponseModifier {
        let lines = fields.map { "\($0.name.canonicalName):\($0.value)" }.sorted().joined(separator: "\n")
        return ResponseModifier(name: "set \(status ?? 0) \(lines)") { head in
            var all = head.fields
            for field in fields { all[field.name] = nil }
            all.append(contentsOf: fields)
            return ResponseHead(
                status: status ?? head.status, fields: all, version: head.version, remoteAddress: head.remoteAddress)
        }
    }
}
