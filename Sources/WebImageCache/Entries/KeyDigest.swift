import WebImageCore

/// The digest that names things which must not be named by their own text.
package enum KeyDigest {
    /// SHA-256 of a text, in 64 hexadecimal digits.
    package static func hex(_ text: String) -> String { EntryID(CacheKey(text)).name }
}
