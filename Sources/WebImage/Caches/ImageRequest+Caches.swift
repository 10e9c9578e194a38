import WebImageCore
import WebImageCache
import WebImageCodecs

extension ImageRequest {
    /// Makes a request for a picture that exists only in caches, under a key of your own. It cannot be loaded, because
    /// it has no URL.
    ///
    /// The request's ``Caching/policy`` is ``CachePolicy/cacheOnly``. If the text is a URL in normal form, it names
    /// that URL's original.
    public init(cacheKey text: String) {
        // A host that does not exist (RFC 6761, section 6.4).
        self.init("https://no.invalid/") {
            $0.caching.key = text
            $0.caching.policy = .cacheOnly
        }
    }

    /// The key of the finished picture on disk. An unchanged picture has the key of its original, so that no bytes are
    /// stored twice.
    var diskKey: CacheKey { isPlain ? originalKey : variantKey }

    /// A request that makes the same picture from the given bytes of the original.
    package func reading(_ original: [UInt8]) -> ImageRequest {
        var request = ImageRequest(data: original, name: options.caching.key ?? redactedURL)
        var wanted = request.options
        (wanted.size, wanted.transformers, wanted.decoding) = (options.size, options.transformers, options.decoding)
        wanted.priority = options.priority
        request.options = wanted
        return request
    }
}
