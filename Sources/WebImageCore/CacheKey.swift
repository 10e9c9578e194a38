/// The name under which a picture is cached: a text, hashed once when it is made.
///
/// Two keys are the same when their texts are; the hash only says quickly when they are not.
public struct CacheKey: Hashable, Sendable {
    public let text: String
    /// Differs from process to process.
    package let hashCode: Int

    public init(_ text: String) {
        self.text = text
        var hasher = Hasher()
        hasher.combine(text)
        hashCode = hasher.finalize()
    }

    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.hashCode == right.hashCode && left.text == right.text
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(hashCode) }
}

extension CacheKey: CustomStringConvertible {
    public var description: String { text }
}

extension CacheKey {
    /// Stands between original key and variant description; a URL cannot hold it (RFC 3986 has no control characters).
    package static let variantSeparator: Character = "\u{1F}"

    /// This key's picture in another form.
    package func variant(_ description: String) -> CacheKey {
        CacheKey("\(text)\(Self.variantSeparator)\(description)")
    }

    /// Whether it names a picture that was made of that original, or the original itself.
    package func isMade(of original: CacheKey) -> Bool {
        guard text.hasPrefix(original.text) else { return false }
        let rest = text.utf8.dropFirst(original.text.utf8.count)
        return rest.isEmpty || rest.first == Self.variantSeparator.utf8.first
    }
}
