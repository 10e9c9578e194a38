import WebImageCore

/// The digest for names that must not show their text.
package enum KeyDigest {
    /// SHA-256 of a text, in 64 hexadecimal digits.
    package static func hex(_ text: String) -> String { EntryID(CacheKey(text)).name }
}
