/// The key under which a picture is cached: a string, hashed once when the key is made.
///
/// Two keys are equal when their texts are equal byte for byte. Strings that are only canonically equivalent in Unicode
/// are different keys, because they may name different files.
public struct CacheKey: Hashable, Sendable {
    public let text: String
    /// Differs from process to process.
    package let hashCode: Int

    public init(_ text: String) {
        var text = text
        text.makeContiguousUTF8()
        var hasher = Hasher()
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hashCode = hasher.finalize()
        self.text = text
    }

    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        // Texts that Unicode takes for the same, of other bytes, have another hash: it is of the bytes, with 64 bits and a
        // secret of the process.
        left.hashCode == right.hashCode && left.text == right.text
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(hashCode) }
}

extension CacheKey: CustomStringConvertible {
    public var description: String { text }
}

extension CacheKey {
    /// Stands between original key and variant description; a URL cannot hold it (RFC 3986 has no control characters).
    package static let variantSeparator: Unicode.Scalar = "\u{1F}"

    /// An original's picture in another form.
    ///
    /// - Parameter description: UTF-8.
    package init(original: String, variant description: UnsafeBufferPointer<UInt8>) {
        let length = original.utf8.count
        let text = String(unsafeUninitializedCapacity: length + 1 + description.count) { bytes in
            _ = bytes.initialize(fromContentsOf: original.utf8)
            bytes[length] = UInt8(ascii: Self.variantSeparator)
            _ = bytes[(length + 1)...].initialize(fromContentsOf: description)
            return bytes.count
        }
        self.init(text)
    }

    /// An original's picture in another form.
    package init(original: String, variant description: String) {
        var description = description
        self = description.withUTF8 { CacheKey(original: original, variant: $0) }
    }

    /// This key's picture in another form.
    package func variant(_ description: String) -> CacheKey { CacheKey(original: text, variant: description) }

    /// Stands before each part that is added to the key of an original: who asks, and with which header fields.
    package static let partSeparator: Character = "\u{1E}"

    /// Whether it names what that original is for others, or with other header fields, or is made of that.
    package func isOriginal(of plain: CacheKey) -> Bool {
        text.utf8.starts(with: plain.text.utf8)
            && text.utf8.dropFirst(plain.text.utf8.count).first == Self.partSeparator.utf8.first
    }

    /// Whether it names a picture that was made of that original, or the original itself.
    package func isMade(of original: CacheKey) -> Bool {
        guard text.utf8.starts(with: original.text.utf8) else { return false }
        let rest = text.utf8.dropFirst(original.text.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: Self.variantSeparator)
    }
}
