public import WebImageCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Overloads that take Foundation's types. For the other direction, `Data(bytes)` turns returned bytes into a `Data`.

extension Image {
    /// Decodes encoded bytes of any registered format.
    ///
    /// - Throws: `badImageData`, whose cause says what is wrong.
    public init(data: Data, size: TargetSize? = nil) async throws(WebImageError) {
        try await self.init(data: [UInt8](data), size: size)
    }
}

extension ImageRequest {
    /// Makes a request for bytes in memory, which are decoded as if they had been loaded. The memory cache and the disk
    /// cache are not used.
    ///
    /// - Parameters:
    ///   - data: the bytes of a file.
    ///   - name: identifies the bytes in errors.
    public init(data: Data, name: String) { self.init(data: [UInt8](data), name: name) }
}

extension ImageManager {
    /// Loads a picture by its URL. To set further options, call `image(for:)` with an ``ImageRequest``.
    ///
    /// - Parameters:
    ///   - url: the URL of the picture.
    ///   - size: the size to decode to; nil: the picture's own size.
    /// - Throws: any code of ``/WebImageCore/WebImageError``.
    public nonisolated(nonsending) func image(
        for url: URL, size: TargetSize? = nil
    ) async throws(WebImageError) -> ImageResponse {
        try await image(for: ImageRequest(url, size: size))
    }
}
