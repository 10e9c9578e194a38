/// Which certificates a TLS connection trusts.
public enum TLSTrust: Hashable, Sendable, Codable {
    /// The system's certificate authorities.
    case system
    /// The system's, and the certificates in this PEM text.
    case systemAnd(pem: [UInt8])
    /// Every server: neither certificate nor host name is verified. For tests only; each use is logged as a warning.
    case anyone
}

/// The TLS settings for `https`: the trusted authorities, pinned keys, and a client certificate.
public struct TLSPolicy: Hashable, Sendable {
    /// A client certificate with its private key, both in PEM.
    public struct ClientCertificate: Hashable, Sendable, CustomStringConvertible {
        public var certificate: [UInt8]
        public var key: [UInt8]
        /// The password of the key; nil if the key is not encrypted.
        public var password: String?

        public init(certificate: [UInt8], key: [UInt8], password: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.password = password
        }

        public var description: String { "(client certificate)" }
    }

    /// The trusted authorities. Default: the system's.
    public var trust: TLSTrust
    /// SHA-256 of the public keys that servers may have, in base64 as in `sha256//…` of curl: the certificate must be
    /// trusted *and* its key be one of these. Default none: any key.
    public var pinnedKeys: Set<String>
    /// The client certificate. It is sent to the requested origin, but not to origins that redirects lead to. Default
    /// nil.
    public var clientCertificate: ClientCertificate?

    public init(
        trust: TLSTrust = .system, pinnedKeys: Set<String> = [], clientCertificate: ClientCertificate? = nil
    ) {
        self.trust = trust
        self.pinnedKeys = pinnedKeys
        self.clientCertificate = clientCertificate
    }
}
