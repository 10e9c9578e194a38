/// Options that belong together, under a name of the program's.
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

    /// - Parameter change: sets what the preset is about. Called once for each request.
    public init(_ change: @escaping @Sendable (inout ImageRequest.Options) -> Void) { self.change = change }
}

extension ImageRequest {
    /// - Parameters:
    ///   - url: text of an absolute URL.
    ///   - presets: in this order; what a later one says counts.
    public init(_ url: String, _ presets: RequestPreset...) {
        self.init(url) { options in
            for preset in presets { preset.change(&options) }
        }
    }

    /// The same request with what the preset says.
    public func applying(_ preset: RequestPreset) -> ImageRequest {
        var options = options
        preset.change(&options)
        var request = self
        request.options = options
        return request
    }
}
