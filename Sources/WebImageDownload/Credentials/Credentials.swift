import WebImageCore

/// A user's name and password.
public struct BasicCredentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Tells neither.
    public var description: String { "(credentials)" }
    public var debugDescription: String { description }
}

/// How a name and a password are told to the server.
public enum AuthenticationScheme: String, Hashable, Sendable, Codable {
    /// RFC 7617, with the first request.
    case basic
    /// RFC 7616: the password itself is not sent. Costs a second round trip.
    case digest
    /// As the server asks, the strongest that it takes. Costs a second round trip.
    case negotiated
}

/// What a ``CredentialProvider`` answers.
public enum Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// - Parameter scheme: nil takes what the server asks for.
    case password(BasicCredentials, AuthenticationScheme? = nil)
    /// RFC 6750: a token without the word `Bearer`.
    case bearer(String)

    /// Tells nothing of it.
    public var description: String { "(credentials)" }
    public var debugDescription: String { description }
}

/// What a provider is asked.
public struct CredentialQuestion: Sendable {
    /// Scheme, host and port of the server that asks.
    public var origin: String
    /// `WWW-Authenticate` as it came; nil when nobody has asked yet.
    public var challenge: String?
    /// What the server has just refused; nil when nothing was sent.
    public var rejected: Credentials?
}

/// Finds credentials: when a server asks for them, or before the first request.
///
/// A provider is asked for the origin of the request only, never for an origin that a redirect leads to.
public struct CredentialProvider: Sendable {
    /// Stands for the provider and for whom it speaks: two of one name share answers.
    public var name: String
    /// What tells apart two of one name that speak for one user: the password that each of them knows.
    var secret: BasicCredentials?
    /// Whether the provider is asked before the first request to an origin, as bearer tokens need it. Default false: it
    /// is asked when the origin answers 401.
    public var asksAhead: Bool
    /// Answers a question with credentials. Nil gives up, and the download fails with `authenticationFailed`; an error
    /// does the same, and is its cause.
    ///
    /// After a 401 it is asked once more. Where many downloads have the same credentials refused, it is asked once for
    /// all of them.
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

    /// A bearer token, asked for ahead and once more when it is refused.
    ///
    /// - Parameters:
    ///   - name: stands for the provider in comparisons, and for who asks.
    ///   - token: called with true when the last one was refused.
    public static func bearer(
        name: String, token: @escaping @Sendable (_ origin: String, _ mustRefresh: Bool) async throws -> String?
    ) -> CredentialProvider {
        CredentialProvider(name: name, asksAhead: true) { question in
            try await token(question.origin, question.rejected != nil).map { .bearer($0) }
        }
    }
}

/// How long what a provider answered is kept.
public enum CredentialPersistence: Hashable, Sendable {
    /// For the download that asked.
    case none
    /// In memory, for as long as the downloader lives.
    case session
}
