public import HTTPTypes

/// Recognises requests that this server has sent itself, because a source leads back to it. Each of them would begin
/// another one.
public enum SourceLoop {
    /// RFC 9110, 7.6.3.
    public static let field = HTTPField.Name("Via") ?? .userAgent
    /// What requests for sources carry. It differs in every process: a server may well ask another one.
    public static let mark = "1.1 webimage-" + String(UInt64.random(in: .min ... .max), radix: 36)

    /// Whether the request comes from this server, directly or through others.
    public static func isClosed(by request: HTTPFields) -> Bool { request[field]?.contains(mark) == true }
}
