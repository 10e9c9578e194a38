public import HTTPTypes

/// Recognises requests that this server has sent itself, because a source leads back to it, directly or through proxies.
/// Such a source may be a result of this server; but one that leads back to itself would begin a request in each request.
public enum SourceLoop {
    /// RFC 9110, 7.6.3.
    public static let field = HTTPField.Name("Via") ?? .userAgent
    /// What requests for sources carry. It differs in every process: a server may well ask another one.
    public static let mark = "1.1 webimage-" + String(UInt64.random(in: .min ... .max), radix: 36)
    /// How many requests within each other are answered.
    public static let most = 3

    /// How many requests of this server the current one is within.
    @TaskLocal public static var depth = 0

    /// How often a request has come from this server.
    public static func depth(of request: HTTPFields) -> Int {
        guard let via = request[field], via.contains(mark) else { return 0 }
        return via.split(separator: ",").count { $0.contains(mark) }
    }

    /// What a request for a source carries; nil if that is ``mark`` alone, which every request has.
    static var marks: String? {
        depth == 0 ? nil : Array(repeating: mark, count: depth + 1).joined(separator: ", ")
    }
}
