import HTTPTypes
import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload

/// What makes two requests' originals the same, as a text (contracts, "Identity").
enum RequestIdentity {
    /// Stands before each part that is added to the URL; no URL and no header field can hold it.
    private static let separator = CacheKey.partSeparator
    private static let counter = Atomic(0)

    /// Tells apart requests that have no URL.
    static func nextNumber() -> Int { counter.add(1, ordering: .relaxed).newValue }

    private static let secret = {
        var source = SystemRandomNumberGenerator()
        return "\(source.next() as UInt64)-\(source.next() as UInt64)"
    }()

    /// What stands for the URL of bytes in memory. Nobody can guess it: whoever asked for the same would get their picture.
    static func url(ofBytes number: Int) -> String { "data:,\(secret)-\(number)" }

    /// The names of parts that are no header fields. A field of such a name is marked, so that neither stands for the other.
    private static let ownParts: Set<String> = ["who", "ask", "answer", "decrypt", "load"]

    /// The URL without fragment and userinfo, or the request's own name; then who asks; then the header fields of the
    /// request's own, in the order of their names, but for those that only tell caches what to do. Values stand as digests:
    /// any of them may be a secret, and the key is written to disk.
    static func originalKey(of request: ResolvedRequest, named name: String?) -> CacheKey {
        var text = name ?? request.originalURL
        func add(_ part: String, _ value: String) { text += "\(separator)\(part)#\(KeyDigest.hex(value).prefix(32))" }
        if let scope = request.credentialScope { add("who", scope) }
        if let options = request.request.changedOptions {
            for (field, value) in FieldIdentity.all(options.value.headers) where !FieldIdentity.isDirective(field) {
                let name = field.canonicalName
                add(ownParts.contains(name) ? ":" + name : name, value)
            }
            // What a hook makes of the same URL is another original.
            if let modifier = options.value.requestModifier { add("ask", modifier.name) }
            if let modifier = options.value.responseModifier { add("answer", modifier.name) }
            if let decryptor = options.value.decryptor { add("decrypt", decryptor.name) }
            if let loader = options.value.loader, !request.request.hasUsualLoader { add("load", loader.name) }
        }
        // The name is hashed already.
        return name == nil && text.utf8.count == request.originalURL.utf8.count ? request.originalName : CacheKey(text)
    }
}
