import WebImageCore

/// A decryption that processes a body piece by piece.
public protocol StreamDecryptor: Sendable {
    /// Processes the next piece, and returns the output so far, which may be empty.
    mutating func update(_ bytes: [UInt8]) throws -> [UInt8]
    /// Returns the rest after the last piece. Throws if the body is truncated or was tampered with.
    mutating func finish() throws -> [UInt8]
}

/// Transforms bodies before they are decoded: decrypts, decodes or unwraps them. Runs on the I/O threads, for files and
/// `data:` URLs too. If it throws, the download fails with `badImageData`.
public struct BodyDecryptor: Sendable {
    enum Work: Sendable {
        case whole(@Sendable ([UInt8], ResponseHead?) throws -> [UInt8]?)
        case streaming(@Sendable (ResponseHead?) -> any StreamDecryptor)
    }

    /// Identifies the decryptor: two decryptors with the same name are expected to do the same.
    public var name: String
    let work: Work

    /// Makes a decryptor for whole bodies; the closure returns nil to refuse a body. Decoding begins only after the
    /// last byte has arrived.
    public init(name: String, whole: @escaping @Sendable ([UInt8], ResponseHead?) throws -> [UInt8]?) {
        self.name = name
        work = .whole(whole)
    }

    /// Makes a decryptor that processes bodies as they arrive, so that decoding overlaps the download.
    public init(name: String, streaming: @escaping @Sendable (ResponseHead?) -> any StreamDecryptor) {
        self.name = name
        work = .streaming(streaming)
    }

    /// Base64, RFC 4648 section 4.
    public static let base64 = BodyDecryptor(name: "base64") { bytes, _ in Base64.decoded(bytes) }
}
