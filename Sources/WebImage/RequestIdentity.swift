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

    /// The URL without fragment and userinfo, or the request's own name; then who asks; then the header fields of the
    /// request's own, in the order of their names. Values stand as digests: any of them may be a secret, and the key is
    /// written to disk.
    static func originalKey(of request: ResolvedRequest, named name: String?) -> CacheKey {
        var text = name ?? request.originalURL
        if let scope = request.credentialScope { text += "\(separator)who#\(KeyDigest.hex(scope).prefix(32))" }
        let fields = request.request.fields.sorted {
            ($0.name.canonicalName, $0.value) < ($1.name.canonicalName, $1.value)
        }
        for field in fields {
            text += "\(separator)\(field.name.canonicalName)#\(KeyDigest.hex(field.value).prefix(32))"
        }
        // What a hook makes of the same URL is another original.
        let hooks = [
            ("ask", request.request.requestModifier?.name), ("answer", request.request.responseModifier?.name),
            ("decrypt", request.request.decryptor?.name),
        ]
        for case (let kind, let name?) in hooks { text += "\(separator)\(kind)#\(KeyDigest.hex(name).prefix(32))" }
        return CacheKey(text)
    }
}
