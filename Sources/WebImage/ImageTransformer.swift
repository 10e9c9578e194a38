public import WebImageCore

/// Changes a decoded picture: rounds its corners, tints it, draws a mark on it.
///
/// Runs on the decode executor, never on the caller's thread. The result is cached under a key that holds ``key``.
public protocol ImageTransformer: Sendable {
    /// Says all that the result depends on, every parameter included: two transformers with the same key must give
    /// the same pixels.
    var key: String { get }

    /// - Throws: any ``/WebImageCore/WebImageError``; the load then fails with `transformFailed`, and nothing is cached.
    func transform(_ image: Image) throws(WebImageError) -> Image
}
