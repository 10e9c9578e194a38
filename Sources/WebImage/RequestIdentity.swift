import HTTPTypes
import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload

/// Computes the key of a request's original: requests with the same key have the same original (contracts, "Identity").
enum RequestIdentity {
    /// Precedes each part that is added to the URL. No URL and no header field can contain it.
    private static let separator = CacheKey.partSeparator
    private static let counter = Atomic(0)

    /// Returns a number that distinguishes requests without a URL.
    static func nextNumber() -> Int { counter.add(1, ordering: .relaxed).newValue }

    private static let secret = {
        var source = SystemRandomNumberGenerator()
        return "\(source.next() as UInt64)-\(source.next() as UInt64)"
    }()

    /// Stands in for the URL of bytes in memory. It cannot be guessed: a request for this URL would get their picture.
    static func url(ofBytes number: Int) -> String { "data:,\(secret)-\(number)" }

    /// The names of parts that are not header fields. A header field with such a name gets a prefix, so that the two
    /// cannot be confused.
    private static let ownParts: Set<String> = ["who", "ask", "answer", "decrypt", "load"]

    /// The key consists of the URL without fragment and userinfo, or the request's cache key; then the user's scope;
    /// then the request's own header fields in the order of their names, except those that only instruct caches; then
    /// the names of its hooks. Values are included as digests, since any of them may be a secret, and the key is
    /// written to disk.
    static func originalKey(of request: ResolvedRequest, named name: String?) -> CacheKey {
        var text = name ?? request.originalURL
        func add(_ part: String, _ value: String) { text += "\(separator)\(part)#\(KeyDigest.hex(value).prefix(32))" }
        if let scope = request.credentialScope { add("who", scope) }
        if let options = request.request.changedOptions {
            for (field, value) in FieldIdentity.all(options.value.headers) where !FieldIdentity.isDirective(field) {
                let name = field.canonicalName
                add(ownParts.contains(name) ? ":" + name : name, value)
            }
            // A hook may turn the same URL into another original.
            if let modifier = options.value.requestModifier { add("ask", modifier.name) }
            if let modifier = options.value.responseModifier { add("answer", modifier.name) }
            if let decryptor = options.value.decryptor { add("decrypt", decryptor.name) }
            if let loader = options.value.loader, !request.request.hasUsualLoader { add("load", loader.name) }
        }
        // If nothing was added, the downloader's hashed name is used, so that the text is not hashed again.
        return name == nil && text.utf8.count == request.originalURL.utf8.count ? request.originalName : CacheKey(text)
    }
}
