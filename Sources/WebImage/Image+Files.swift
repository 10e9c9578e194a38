import WebImageCodecs
public import WebImageCore
import WebImageSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Image {
    /// Decodes a file, or the picture behind any URL that a manager loads, by a manager of its own without caches.
    ///
    /// - Throws: `fileNotFound` and its kin, `badImageData`, and for other URLs what a load throws.
    public init(contentsOf url: URL, size: TargetSize? = nil) async throws(WebImageError) {
        var request = ImageRequest(url, size: size)
        request.options.caching.policy = .noStore
        self = try await StandaloneLoads.manager.image(for: request).image
    }

    /// Decodes encoded bytes of any registered format.
    ///
    /// - Throws: `badImageData`, whose cause says what is wrong.
    public init(data: [UInt8], size: TargetSize? = nil) async throws(WebImageError) {
        var request = ImageRequest(data: data, name: "\(data.count) bytes")
        request.options.size = size
        self = try await StandaloneLoads.manager.image(for: request).image
    }

    /// The picture's bytes in a format; all frames of an animation where the format and its coder hold such, else the
    /// first. Blocks the caller for as long as encoding takes: see ``ImageManager/encode(_:as:_:priority:)`` for one that does
    /// not.
    ///
    /// - Throws: `cannotEncode`.
    public func encoded(
        as format: ImageFormat, _ options: EncodeOptions = EncodeOptions(), coders: CoderRegistry = .standard
    ) throws(WebImageError) -> [UInt8] {
        try coders.encode(self, as: format, options)
    }
}

/// The manager behind loads that belong to none: no disk cache, and a memory cache that keeps nothing.
enum StandaloneLoads {
    static let manager: ImageManager = {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        configuration.memoryLimits = .init(cost: 0)
        return ImageManager(configuration: configuration)
    }()
}
