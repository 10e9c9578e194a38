import WebImageCodecs
public import WebImageCore
import WebImageSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Image {
    /// Decodes a file, or the picture at any other URL that a manager can load. It uses a manager of its own without
    /// caches.
    ///
    /// The decoder runs in this process, with ``/WebImageCore/DecodeLimits/default``; the
    /// ``ImageManager/Configuration/isolation`` of your manager does not apply. For pictures of strangers, use
    /// ``ImageManager/image(for:)``.
    ///
    /// - Throws: `fileNotFound` and other file errors, `badImageData`, and for other URLs what a load throws.
    public init(contentsOf url: URL, size: TargetSize? = nil) async throws(WebImageError) {
        var request = ImageRequest(url, size: size)
        request.options.caching.policy = .noStore
        self = try await StandaloneLoads.manager.image(for: request).image
    }

    /// Decodes encoded bytes of any registered format.
    ///
    /// The decoder runs in this process, with ``/WebImageCore/DecodeLimits/default``; the
    /// ``ImageManager/Configuration/isolation`` of your manager does not apply. For pictures of strangers, give
    /// ``ImageManager/image(for:)`` a request with the bytes (`ImageRequest(data:name:)`).
    ///
    /// - Throws: `badImageData`, whose cause says what is wrong.
    public init(data: [UInt8], size: TargetSize? = nil) async throws(WebImageError) {
        var request = ImageRequest(data: data, name: "\(data.count) bytes")
        request.options.size = size
        self = try await StandaloneLoads.manager.image(for: request).image
    }

    /// Encodes the picture in a format. If the format and its coder support animations, all frames are encoded,
    /// otherwise the first. Blocks the caller while it encodes; ``ImageManager/encode(_:as:_:priority:)`` does not.
    ///
    /// - Throws: `cannotEncode`.
    public func encoded(
        as format: ImageFormat, _ options: EncodeOptions = EncodeOptions(), coders: CoderRegistry = .standard
    ) throws(WebImageError) -> [UInt8] {
        try coders.encode(self, as: format, options)
    }
}

/// The manager for loads without a manager of their own: it has no disk cache, and a memory cache that holds nothing.
enum StandaloneLoads {
    static let manager: ImageManager = {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        configuration.memoryLimits = .init(cost: 0)
        return ImageManager(configuration: configuration)
    }()
}
