import FleetCrypto

/// A secret and its salt, with which URLs are signed.
public struct SigningKey: Hashable, Sendable {
    private let key: SecretKey
    private let salt: [UInt8]

    public init(key: [UInt8], salt: [UInt8]) {
        self.key = SecretKey(key)
        self.salt = salt
    }

    /// - Parameters:
    ///   - path: everything after the signature, with the leading slash.
    ///   - size: how many bytes of the digest are used, 1 to 32.
    /// - Returns: base64 for URLs of HMAC-SHA256 of salt and path.
    public func signature(of path: String, size: Int = 32) -> String {
        Base64URL.encode(key.code(of: message(path)).prefix(size))
    }

    /// Compares in constant time.
    func accepts(_ signature: [UInt8], of path: String, size: Int) -> Bool {
        key.accepts(signature, of: message(path), length: size)
    }

    private func message(_ path: String) -> [UInt8] { salt + Array(path.utf8) }
}

/// Decides which signatures are accepted.
public struct SignatureCheck: Sendable {
    /// A signature by any of them is accepted. Empty: signatures are not checked.
    public var keys: [SigningKey] = []
    public var size = 32
    /// Signatures that are accepted with every path.
    public var trusted: Set<String> = []

    public init() {}

    /// - Returns: the place of the key in ``keys``; nil for a signature that is not checked, or trusted with every path.
    func check(_ signature: Substring, of path: String) throws(RequestRefusal) -> Int? {
        guard !keys.isEmpty else {
            if signature.contains(":") { throw .unsignedOptions }
            return nil
        }
        if trusted.contains(String(signature)) { return nil }
        guard let given = Base64URL.decode(signature), given.count == size, !signature.hasSuffix("=") else {
            throw .forbidden("the signature is malformed")
        }
        var signer: Int?
        for (place, key) in keys.enumerated() where key.accepts(given, of: path, size: size) { signer = place }
        guard signer != nil else { throw .forbidden("the signature does not match the path") }
        return signer
    }
}

/// SHA-256, for keys and entity tags.
public enum Digest {
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        SecureHash.sha256(bytes)
    }
}
