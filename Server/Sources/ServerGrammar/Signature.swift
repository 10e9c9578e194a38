import CServerCrypto

/// A secret and its salt, of which URLs are signed.
public struct SigningKey: Hashable, Sendable {
    private let key: [UInt8]
    private let salt: [UInt8]

    public init(key: [UInt8], salt: [UInt8]) {
        self.key = key
        self.salt = salt
    }

    /// - Parameters:
    ///   - path: begins with a slash: all that stands behind the signature.
    ///   - size: how many bytes of the digest are used, 1 to 32.
    /// - Returns: base64 for URLs of HMAC-SHA256 of salt and path.
    public func signature(of path: String, size: Int = 32) -> String { Base64URL.encode(digest(path).prefix(size)) }

    func digest(_ path: String) -> [UInt8] {
        let message = salt + Array(path.utf8)
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &digest, &length)
        return digest
    }
}

/// Who may ask for what.
public struct SignatureCheck: Sendable {
    /// Any of them will do. Empty: nothing is checked.
    public var keys: [SigningKey] = []
    public var size = 32
    /// Signatures that pass with every path.
    public var trusted: Set<String> = []

    public init() {}

    func check(_ signature: Substring, of path: String) throws(RequestRefusal) {
        guard !keys.isEmpty else {
            if signature.contains(":") { throw .unsignedOptions }
            return
        }
        if trusted.contains(String(signature)) { return }
        guard let given = Base64URL.decode(signature), given.count == size else {
            throw .forbidden("the signature is malformed")
        }
        var isGood = false
        for key in keys where CRYPTO_memcmp(given, key.digest(path), size) == 0 { isGood = true }
        guard isGood else { throw .forbidden("the signature is not that of the path") }
    }
}

/// SHA-256, for keys and entity tags.
public enum Digest {
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        _ = SHA256(bytes, bytes.count, &digest)
        return digest
    }
}
