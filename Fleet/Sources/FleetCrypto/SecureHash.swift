import CFleetCrypto

/// SHA-256 (FIPS 180-4), by libcrypto.
public enum SecureHash {
    /// The length of digests and codes in bytes.
    public static let length = 32

    /// - Returns: 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: length)
        _ = SHA256(bytes, bytes.count, &digest)
        return digest
    }

    /// - Returns: 32 bytes.
    public static func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        // An empty buffer may have no address.
        guard let start = bytes.baseAddress else { return sha256([]) }
        var digest = [UInt8](repeating: 0, count: length)
        _ = SHA256(start, bytes.count, &digest)
        return digest
    }
}

/// A secret key for message authentication codes: HMAC-SHA256 (RFC 2104).
public struct SecretKey: Hashable, Sendable {
    private let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// - Returns: 32 bytes.
    public func code(of message: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SecureHash.length)
        var length: UInt32 = 0
        // An empty array has no address, which libcrypto would treat as the key of the previous call.
        let key = bytes.isEmpty ? [0] : bytes
        HMAC(EVP_sha256(), key, Int32(bytes.count), message, message.count, &code, &length)
        return code
    }

    /// Whether `code` is that of `message`. Compares in constant time.
    ///
    /// - Parameter length: the length of codes, 1 to 32 bytes: they are truncated at the end.
    public func accepts(
        _ code: some Collection<UInt8>, of message: [UInt8], length: Int = SecureHash.length
    ) -> Bool {
        let (given, wanted) = (Array(code), self.code(of: message))
        return given.count == length && CRYPTO_memcmp(given, wanted, length) == 0
    }
}

/// Bytes as text of the digits 0 to f, in lower case.
public enum Hexadecimal {
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        for byte in bytes {
            for half in [byte >> 4, byte & 15] { digits.append(half + (half < 10 ? 48 : 87)) }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
