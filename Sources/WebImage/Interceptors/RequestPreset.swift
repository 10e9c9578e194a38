/// A set of options that a program gives a name.
///
///     extension RequestPreset {
///         static let avatar = RequestPreset {
///             $0.size = TargetSize(width: 96, height: 96, fit: .cover)
///             $0.transformers = [.crop(.circle)]
///         }
///     }
///
///     let request = ImageRequest("https://example.com/me.jpg", .avatar)
public struct RequestPreset: Sendable {
    let change: @Sendable (inout ImageRequest.Options) -> Void

    /// - Parameter change: sets the options of the preset. Called once for each request.
    public init(_ change: @escaping @Sendable (inout ImageRequest.Options) -> Void) { self.change = change }
}

extension ImageRequest {
    /// Makes a request with the options of presets.
    ///
    /// - Parameters:
    ///   - url: an absolute URL.
    ///   - presets: the presets, applied in this order; later ones override earlier ones.
    public init(_ url: String, _ presets: RequestPreset...) {
        self.init(url) { options in
            for preset in presets { preset.change(&options) }
        }
    }

    /// Returns a copy of the request with the options of the preset.
    public func applying(_ preset: RequestPreset) -> ImageRequest {
        var options = options
        preset.change(&options)
        var request = self
        request.options = options
        return request
    }
}
