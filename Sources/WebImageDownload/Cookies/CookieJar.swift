/// A store for cookies. It must be safe to use from any thread. Its methods are called on the transport's threads and
/// must not block.
public protocol CookieJar: Sendable {
    /// Returns the value of the `Cookie` header for a request; nil if there are no cookies.
    func cookies(for url: String) -> String?
    /// Stores the values of an answer's `Set-Cookie` headers.
    func store(_ fields: [String], from url: String)
    /// A counter of changes, so that loads from before and after a change share nothing while they run. Nil (the
    /// default): the jar does not count. Running loads are then told apart only by the cookies for the requested URL,
    /// not by those for the targets of redirects. In caches all cookies count in any case.
    var changes: Int? { get }
}

extension CookieJar {
    public var changes: Int? { nil }
}
