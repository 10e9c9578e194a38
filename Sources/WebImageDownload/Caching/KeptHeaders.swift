public import HTTPTypes

/// Which headers of an answer are stored with its picture, in memory and on disk (RFC 9111 section 3.1).
///
/// The headers that caching needs are always stored: `Age`, `Cache-Control`, `Content-Type`, `Date`, `ETag`, `Expires`,
/// `Last-Modified` and `Vary`. Headers for one connection or one user, or for the body during the transfer, are never
/// stored: `Connection` and the headers that it names, `Transfer-Encoding`, `Set-Cookie`, `Content-Length`,
/// `Content-Encoding` and similar ones.
public struct KeptHeaders: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// Only the headers that caching needs.
    public static let standard: KeptHeaders = []
    /// Every header that may be stored, 64 at most.
    public static let all: KeptHeaders = {
        var all = KeptHeaders([])
        all.keepsAll = true
        return all
    }()

    /// The headers that are stored in addition to those that caching needs.
    public private(set) var names: Set<HTTPField.Name>
    private var keepsAll = false

    /// - Parameter names: the headers to store in addition to those that caching needs. A value of more than 8 KiB is
    ///   left out.
    public init(_ names: some Sequence<HTTPField.Name>) { self.names = Set(names) }

    public init(arrayLiteral names: HTTPField.Name...) { self.init(names) }

    /// The fields that caching needs.
    static let needed: [HTTPField.Name] = [
        .age, .cacheControl, .contentType, .date, .eTag, .expires, .lastModified, .vary,
    ]

    /// A longer field is not stored, nor is an answer that needs such a field.
    static let longestValue = 8 << 10
    private static let maxFurtherFields = 64

    private static let never: Set<String> = [
        "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection",
        "proxy-authenticate", "proxy-authorization", "proxy-authentication-info", "www-authenticate",
        "authentication-info", "set-cookie", "set-cookie2", "content-length", "content-encoding", "content-range",
    ]

    /// The fields that are stored, with names in lower case.
    func fields(of head: ResponseHead) -> [StoredResponse.Field] {
        let needed = Self.needed.compactMap { name in
            head[name].map { StoredResponse.Field(name: name.canonicalName, value: $0) }
        }
        return needed + further(of: head)
    }

    private func further(of head: ResponseHead) -> [StoredResponse.Field] {
        if names.isEmpty, !keepsAll { return [] }
        let wanted = keepsAll ? Set(head.headers.map(\.name)).union(names) : names
        let ofConnection = FieldScanner.elements(of: head[.connection] ?? "").map { $0.lowercased() }
        return wanted.sorted { $0.canonicalName < $1.canonicalName }.compactMap { name in
            guard !Self.needed.contains(name), !Self.never.contains(name.canonicalName),
                !ofConnection.contains(name.canonicalName), let value = head[name],
                value.utf8.count <= Self.longestValue
            else { return nil }
            return StoredResponse.Field(name: name.canonicalName, value: value)
        }.prefix(Self.maxFurtherFields).map { $0 }
    }
}
