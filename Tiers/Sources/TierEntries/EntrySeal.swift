import FleetCrypto
public import WebImage

/// Converts cache entries into signed bytes for a storage that others can write to, and back.
///
/// Bytes are accepted only if they were signed with the same secret for the same key and have not been changed
/// (HMAC-SHA256). They are not encrypted: everybody who can read the storage sees pictures and their URLs.
public struct EntrySeal: Sendable {
    /// The positions of the parts of a head before the metadata.
    private enum Part {
        static let version: UInt8 = 1
        static let code = 1..<33
        static let digest = 33..<65
    }

    private let names: SecretKey
    private let entries: SecretKey
    private let messages: SecretKey

    /// - Parameter secret: at least 16 bytes, the same in all programs that share the storage.
    /// - Throws: if the secret is shorter.
    public init(secret: [UInt8]) throws(TierSetupError) {
        guard secret.count >= 16 else { throw TierSetupError("the secret of a tier has fewer than 16 bytes") }
        self.init(SecretKey(secret))
    }

    /// A seal for a storage that nobody else can write to. It finds damage, but anybody can make it.
    public static let checksum = EntrySeal(SecretKey(Array("originals of webimage".utf8)))

    private init(_ secret: SecretKey) {
        // Separate keys, so that a code for one purpose is never valid for another.
        names = SecretKey(secret.code(of: Array("names".utf8)))
        entries = SecretKey(secret.code(of: Array("entries".utf8)))
        messages = SecretKey(secret.code(of: Array("messages".utf8)))
    }

    /// The name under which an entry is stored: 64 digits that reveal nothing about the key.
    public func name(of key: CacheKey) -> String { Hexadecimal.text(names.code(of: Array(key.text.utf8))) }

    /// The signed head of an entry, which is stored beside its body.
    public func head(of entry: TierEntry, for key: CacheKey) -> [UInt8] {
        head(entry.metadata, SecureHash.sha256(entry.body), key)
    }

    /// Returns a head with other metadata, for the same body.
    ///
    /// - Returns: nil if `head` was not made with this secret for that key.
    public func head(_ head: [UInt8], with metadata: DiskMetadata, for key: CacheKey) -> [UInt8]? {
        guard self.metadata(of: head, for: key) != nil else { return nil }
        return self.head(metadata, Array(head[Part.digest]), key)
    }

    private func head(_ metadata: DiskMetadata, _ digest: [UInt8], _ key: CacheKey) -> [UInt8] {
        let signed = digest + metadata.serialized(for: key)
        return [Part.version] + entries.code(of: signed) + signed
    }

    /// - Returns: nil if `head` was not made with this secret for that key.
    public func metadata(of head: [UInt8], for key: CacheKey) -> DiskMetadata? {
        guard head.count > Part.digest.upperBound, head[0] == Part.version,
            entries.accepts(head[Part.code], of: Array(head[Part.digest.lowerBound...]))
        else { return nil }
        return DiskMetadata(serialized: Array(head[Part.digest.upperBound...]), for: key)
    }

    /// - Returns: nil if head and body were not made with this secret for that key.
    public func entry(head: [UInt8], body: [UInt8], for key: CacheKey) -> TierEntry? {
        guard let metadata = metadata(of: head, for: key), SecureHash.sha256(body).elementsEqual(head[Part.digest])
        else { return nil }
        return TierEntry(body: body, metadata: metadata)
    }

    /// Signs a message between programs.
    public func code(of message: String) -> [UInt8] { messages.code(of: Array(message.utf8)) }

    public func accepts(_ code: [UInt8], of message: String) -> Bool {
        messages.accepts(code, of: Array(message.utf8))
    }
}
