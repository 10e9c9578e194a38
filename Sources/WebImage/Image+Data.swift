public import WebImageCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Foundation's types where programs have them. Of bytes that are made here, `Data(bytes)` makes a `Data`.

extension Image {
    /// Decodes encoded bytes of any registered format.
    ///
    /// - Throws: `badImageData`, whose cause says what is wrong.
    public init(data: Data, size: TargetSize? = nil) async throws(WebImageError) {
        try await self.init(data: [UInt8](data), size: size)
    }
}

extension ImageRequest {
    /// A request for bytes in memory, which are decoded as if they had been loaded. Memory and disk cache are not
    /// asked.
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
