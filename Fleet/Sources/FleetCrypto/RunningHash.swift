import CFleetCrypto

/// A digest of bytes that arrive in pieces, by libcrypto. Only one thread may use it at a time.
public final class RunningHash {
    public enum Algorithm: String, CaseIterable, Hashable, Sendable {
        case md5, sha1, sha256, sha512
    }

    private let context: OpaquePointer?
    private var isGood: Bool

    /// MD5 and SHA-1 only identify files here; they do not protect against forgery.
    public init(_ algorithm: Algorithm) {
        context = EVP_MD_CTX_new()
        let method: OpaquePointer? =
            switch algorithm {
            case .md5: EVP_md5()
            case .sha1: EVP_sha1()
            case .sha256: EVP_sha256()
            case .sha512: EVP_sha512()
            }
        isGood = EVP_DigestInit_ex(context, method, nil) == 1
    }

    deinit { EVP_MD_CTX_free(context) }

    public func update(_ bytes: [UInt8]) {
        guard isGood, !bytes.isEmpty else { return }
        isGood = EVP_DigestUpdate(context, bytes, bytes.count) == 1
    }

    /// The digest of all bytes; nil if libcrypto lacks the algorithm (FIPS mode disables MD5). No bytes may be added
    /// afterwards.
    public func finish() -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard isGood, EVP_DigestFinal_ex(context, &digest, &length) == 1 else { return nil }
        isGood = false
        return Array(digest.prefix(Int(length)))
    }
}
