/// A store for cookies. It must be safe to use from any thread. Its methods are called on the transport's threads and
/// must not block.
public protocol CookieJar: Sendable {
    /// The value of the `Cookie` field for a request, or nil for none.
    func cookies(for url: String) -> String?
    /// Takes the values of an answer's `Set-Cookie` fields.
    func store(_ fields: [String], from url: String)
    /// Counts what changed in it, so that loads from before and after a change share nothing while they run. Nil (the default):
    /// it cannot tell; only the cookies for the URL that is asked for tell such loads apart then, not those for places to
    /// which redirects lead. In caches all of them count in any case.
    var changes: Int? { get }
}

extension CookieJar {
    public var changes: Int? { nil }
}
