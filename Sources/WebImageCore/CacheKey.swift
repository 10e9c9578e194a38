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
        // Strings that are only canonically equivalent differ in their bytes, and so in `hashCode`, which is 64 bits
        // long and seeded by the process.
        left.hashCode == right.hashCode && left.text == right.text
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(hashCode) }
}

extension CacheKey: CustomStringConvertible {
    public var description: String { text }
}

extension CacheKey {
    /// Separates the original's key from the description of the variant. A URL cannot contain it (RFC 3986 allows no
    /// control characters).
    package static let variantSeparator: Unicode.Scalar = "\u{1F}"

    /// The key of a variant: the original's picture in another size or form.
    ///
    /// - Parameter description: the variant, in UTF-8.
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

    /// The key of a variant: the original's picture in another size or form.
    package init(original: String, variant description: String) {
        var description = description
        self = description.withUTF8 { CacheKey(original: original, variant: $0) }
    }

    /// The key of a variant of this key's picture.
    package func variant(_ description: String) -> CacheKey { CacheKey(original: text, variant: description) }

    /// Precedes each part that is added to the key of an original: the user's identity, and the header fields of the
    /// request.
    package static let partSeparator: Character = "\u{1E}"

    /// Whether this key adds parts to `plain`: it names the same original for another user or with other header fields,
    /// or a variant of such an original.
    package func addsParts(to plain: CacheKey) -> Bool {
        text.utf8.starts(with: plain.text.utf8)
            && text.utf8.dropFirst(plain.text.utf8.count).first == Self.partSeparator.utf8.first
    }

    /// Whether this key is `original` or names a variant of it.
    package func isSameOrVariant(of original: CacheKey) -> Bool {
        guard text.utf8.starts(with: original.text.utf8) else { return false }
        let rest = text.utf8.dropFirst(original.text.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: Self.variantSeparator)
    }
}
