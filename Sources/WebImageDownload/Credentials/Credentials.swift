import WebImageCore

/// A user's name and password.
public struct BasicCredentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Reveals neither the user nor the password.
    public var description: String { "(credentials)" }
    public var debugDescription: String { description }
    /// Empty, so that `dump` reveals neither.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// How a name and a password are sent to the server.
public enum AuthenticationScheme: String, Hashable, Sendable, Codable {
    /// Basic authentication (RFC 7617), sent with the first request.
    case basic
    /// Digest authentication (RFC 7616): the password itself is not sent. Costs a second round trip.
    case digest
    /// The strongest scheme that the server offers. Costs a second round trip.
    case negotiated
}

/// The answer of a ``CredentialProvider``.
public enum Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// - Parameter scheme: nil: the scheme that the server asks for.
    case password(BasicCredentials, AuthenticationScheme? = nil)
    /// A bearer token (RFC 6750), without the word `Bearer`.
    case bearer(String)

    /// Reveals nothing about the credentials.
    public var description: String { "(credentials)" }
    public var debugDescription: String { description }
}

/// The question that a provider is asked.
public struct CredentialQuestion: Sendable {
    /// Scheme, host and port of the server that demands credentials.
    public var origin: String
    /// The `WWW-Authenticate` header; nil if the server has not demanded credentials yet.
    public var challenge: String?
    /// The credentials that the server has just refused; nil if none were sent.
    public var rejected: Credentials?
}

/// Provides credentials when a server demands them, or before the first request.
///
/// A provider is asked for the origin of the request only, never for an origin that a redirect leads to.
public struct CredentialProvider: Sendable {
    /// Identifies the provider and the user for whom it works: two providers with the same name share answers.
    public var name: String
    /// The fixed user and password, which distinguish providers with the same name.
    var secret: BasicCredentials?
    /// Whether the provider is asked before the first request to an origin, as is usual for bearer tokens. Default
    /// false: it is asked when the origin answers 401.
    public var asksAhead: Bool
    /// Returns credentials for a question. If it returns nil, the download fails with `authenticationFailed`; if it
    /// throws, that error is the cause.
    ///
    /// After a 401 the provider is asked once more. When the same credentials are refused for many downloads, it is
    /// asked once for all of them.
    public var credentials: @Sendable (CredentialQuestion) async throws -> Credentials?

    public init(
        name: String, asksAhead: Bool = false,
        credentials: @escaping @Sendable (CredentialQuestion) async throws -> Credentials?
    ) {
        self.name = name
        self.asksAhead = asksAhead
        self.credentials = credentials
    }

    /// A name and a password for one origin (`https://example.com`), sent when it asks for them.
    public static func password(_ credentials: BasicCredentials, for origin: String) -> CredentialProvider {
        let wanted = (try? WebURL(origin))?.origin
        var provider = CredentialProvider(name: "\(credentials.user)@\(wanted ?? origin)") { question in
            question.origin == wanted && question.rejected == nil ? .password(credentials) : nil
        }
        provider.secret = credentials
        return provider
    }

    /// Provides a bearer token, before the first request and once more when the token is refused.
    ///
    /// - Parameters:
    ///   - name: identifies the provider and the user.
    ///   - token: returns a token; `mustRefresh` is true if the last one was refused.
    public static func bearer(
        name: String, token: @escaping @Sendable (_ origin: String, _ mustRefresh: Bool) async throws -> String?
    ) -> CredentialProvider {
        CredentialProvider(name: name, asksAhead: true) { question in
            try await token(question.origin, question.rejected != nil).map { .bearer($0) }
        }
    }
}

/// How long a provider's answer is kept.
public enum CredentialPersistence: Hashable, Sendable {
    /// Only for the download that asked.
    case none
    /// In memory, for as long as the downloader lives.
    case session
}
