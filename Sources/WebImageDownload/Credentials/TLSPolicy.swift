/// Whom a TLS connection trusts.
public enum TLSTrust: Hashable, Sendable, Codable {
    /// The system's certificate authorities.
    case system
    /// The system's, and the certificates in this PEM text.
    case systemAnd(pem: [UInt8])
    /// Anyone: no check of certificate or host name. For tests only; each use is logged as a warning.
    case anyone
}

/// How `https` is spoken: whom to trust, and who we say we are.
public struct TLSPolicy: Hashable, Sendable {
    /// A certificate of ours with its key, both PEM.
    public struct ClientCertificate: Hashable, Sendable, CustomStringConvertible {
        public var certificate: [UInt8]
        public var key: [UInt8]
        /// Opens the key; nil for one that is not locked.
        public var password: String?

        public init(certificate: [UInt8], key: [UInt8], password: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.password = password
        }

        public var description: String { "(client certificate)" }
    }

    /// Default the system's authorities.
    public var trust: TLSTrust
    /// SHA-256 of the public keys that servers may have, in base64 as in `sha256//…` of curl: the certificate must be
    /// trusted *and* its key be one of these. Default none: any key.
    public var pinnedKeys: Set<String>
    /// Shown to the origin that was asked for, not to those that redirects lead to. Default nil.
    public var clientCertificate: ClientCertificate?

    public init(
        trust: TLSTrust = .system, pinnedKeys: Set<String> = [], clientCertificate: ClientCertificate? = nil
    ) {
        self.trust = trust
        self.pinnedKeys = pinnedKeys
        self.clientCertificate = clientCertificate
    }
}
