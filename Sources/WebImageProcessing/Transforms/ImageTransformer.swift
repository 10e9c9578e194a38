public import WebImageCore

/// Changes a decoded picture, for example rounds its corners, tints it or draws a watermark.
///
/// ``ImageTransform`` has the transformers of WebImage; your own types can conform to this protocol. A transformer runs
/// on the decode executor, never on the caller's thread. The result is cached under a key that contains ``key``.
public protocol ImageTransformer: Sendable {
    /// A key that contains everything that the result depends on, including every parameter: two transformers with the
    /// same key must make the same pixels.
    var key: String { get }

    /// - Throws: any ``/WebImageCore/WebImageError``; the load then fails with `transformFailed`, and nothing is
    ///   cached.
    func transform(_ image: Image) throws(WebImageError) -> Image
}
