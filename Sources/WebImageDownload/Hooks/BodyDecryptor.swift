import WebImageCore

/// A decryption that takes a body piece by piece.
public protocol StreamDecryptor: Sendable {
    /// What can be made of the next piece; perhaps nothing yet.
    mutating func update(_ bytes: [UInt8]) throws -> [UInt8]
    /// The rest, after the last piece. Throws for a body that is cut or was tampered with.
    mutating func finish() throws -> [UInt8]
}

/// Turns bodies into what they stand for: decrypts, decodes, unwraps. Runs on the I/O
/// threads, for files and `data:` URLs too. What it throws ends the download with `badImageData`.
public struct BodyDecryptor: Sendable {
    enum Work: Sendable {
        case whole(@Sendable ([UInt8], ResponseHead?) throws -> [UInt8]?)
        case streaming(@Sendable (ResponseHead?) -> any StreamDecryptor)
    }

    /// Stands for the decryptor: two of one name are taken to do the same.
    public var name: String
    let work: Work

    /// Takes bodies whole; nil refuses one. Nothing is decoded before the last byte has come.
    public init(name: String, whole: @escaping @Sendable ([UInt8], ResponseHead?) throws -> [UInt8]?) {
        self.name = name
        work = .whole(whole)
    }

    /// Takes bodies as they come, so that decoding overlaps the download.
    public init(name: String, streaming: @escaping @Sendable (ResponseHead?) -> any StreamDecryptor) {
        self.name = name
        work = .streaming(streaming)
    }

    /// Base64, RFC 4648 section 4.
    public static let base64 = BodyDecryptor(name: "base64") { bytes, _ in Base64.decoded(bytes) }
}
