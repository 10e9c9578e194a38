public import WebImageCore

/// Changes a decoded picture: rounds its corners, tints it, draws a mark on it.
///
/// ``ImageTransform`` has those that come with WebImage; a type of one's own conforms to this protocol. It runs on the decode
/// executor, never on the caller's thread. The result is cached under a key that holds ``key``.
public protocol ImageTransformer: Sendable {
    /// Says all that the result depends on, every parameter included: two transformers with the same key must give
    /// the same pixels.
    var key: String { get }

    /// - Throws: any ``/WebImageCore/WebImageError``; the load then fails with `transformFailed`, and nothing is cached.
    func transform(_ image: Image) throws(WebImageError) -> Image
}
