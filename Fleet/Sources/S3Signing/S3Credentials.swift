/// Who asks S3. Its description shows no secret.
public struct S3Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    public var accessKey: String
    public var secretKey: String
    /// Of credentials that hold for a while only.
    public var sessionToken: String?

    public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }

    public var description: String { "S3Credentials(\(accessKey))" }
    public var debugDescription: String { description }
    // `dump` and the descriptions of types that hold this one look here.
    public var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }
}
