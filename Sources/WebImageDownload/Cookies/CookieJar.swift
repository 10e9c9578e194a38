/// Where cookies are kept (SDWebImage row O-05). Safe to use from any thread; called on the transport's threads, so that
/// neither method may block.
public protocol CookieJar: Sendable {
    /// The value of the `Cookie` field for a request, or nil for none.
    func cookies(for url: String) -> String?
    /// Takes the values of an answer's `Set-Cookie` fields.
    func store(_ fields: [String], from url: String)
}
