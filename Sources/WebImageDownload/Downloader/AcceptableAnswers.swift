/// A set of HTTP statuses whose bodies are accepted.
public struct StatusSet: Hashable, Sendable, Codable, ExpressibleByArrayLiteral {
    private let ranges: [Range<Int>]

    public init(_ ranges: Range<Int>...) { self.ranges = ranges }

    public init(arrayLiteral statuses: Int...) { ranges = statuses.map { $0..<$0 + 1 } }

    /// 200 to 299.
    public static let successful = StatusSet(200..<300)
    /// Every status, including 404 and other errors. Redirects are still followed.
    public static let any = StatusSet(100..<1000)

    public func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }
}

/// Media types whose bodies are accepted: `image/png`, `image/*` or `*/*`.
public struct ContentTypes: Hashable, Sendable, Codable, ExpressibleByArrayLiteral {
    private let patterns: [String]

    public init(_ patterns: [String]) { self.patterns = patterns.map { $0.lowercased() } }

    public init(arrayLiteral patterns: String...) { self.init(patterns) }

    /// Whether a `Content-Type` value matches; its parameters are ignored. A missing value counts as
    /// `application/octet-stream`.
    public func contains(_ contentType: String?) -> Bool {
        let type = Self.essence(contentType)
        return patterns.contains { pattern in
            if pattern == "*/*" || pattern == type { return true }
            return pattern.hasSuffix("/*") && type.hasPrefix(pattern.dropLast())
        }
    }

    static func essence(_ contentType: String?) -> String {
        guard let contentType else { return "application/octet-stream" }
        let end = contentType.firstIndex { $0 == ";" || $0 == "," } ?? contentType.endIndex
        return contentType[..<end].lowercased().split(separator: " ").joined()
    }
}
