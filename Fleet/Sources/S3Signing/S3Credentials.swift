/// The credentials for S3. Their description shows no secret.
public struct S3Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    public var accessKey: String
    public var secretKey: String
    /// The session token of temporary credentials.
    public var sessionToken: String?

    public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }

    public var description: String { "S3Credentials(\(accessKey))" }
    public var debugDescription: String { description }
    // `dump` and the descriptions of enclosing types use the mirror, which must show no secret.
    public var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }
}
