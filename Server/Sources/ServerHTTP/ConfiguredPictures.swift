import ServerConfiguration
import ServerGrammar
import ServerImages
import WebImage

/// The watermark and the fallback of the configuration, loaded once when the server starts.
struct ConfiguredPictures {
    let manager: ImageManager
    let settings: ServerSettings

    /// Checks what can be checked without decoding or loading anything.
    ///
    /// - Throws: if a file cannot be read, or a text is not base64.
    static func check(_ settings: ServerSettings) throws(SettingsError) {
        let problems = [("IMGPROXY_WATERMARK", settings.watermark), ("IMGPROXY_FALLBACK_IMAGE", settings.fallback)]
            .compactMap { name, source -> String? in
                switch source {
                case .path(let path):
                    (ManagerMaking.isFolder(path) ? "\(path) is a folder" : ManagerMaking.fileProblem(path))
                        .map { "\(name)_PATH cannot be read (\($0))" }
                case .url(let url) where !["http://", "https://", "data:"].contains(where: url.lowercased().hasPrefix):
                    "\(name)_URL must begin with http:// or https://"
                case .data(let text) where ServerSettings.bytes(base64: text) == nil: "\(name)_DATA is not base64"
                default: nil
                }
            }
        if !problems.isEmpty { throw SettingsError(problems: problems) }
    }

    func watermark() async throws -> Image? {
        guard let source = settings.watermark else { return nil }
        let name = "IMGPROXY_WATERMARK"
        var request = try request(source, name)
        request.options.decoding.firstFrameOnly = true
        do throws(WebImageError) { return try await manager.image(for: request).image } catch {
            throw Self.unusable(error, name)
        }
    }

    func fallback() async throws -> PictureMaker.Fallback? {
        guard let source = settings.fallback else { return nil }
        let name = "IMGPROXY_FALLBACK_IMAGE"
        var request = try request(source, name)
        request.options.includesData = true
        do throws(WebImageError) {
            let original = try await manager.keepOriginal(for: request)
            return original.data.map { .init(bytes: $0, cacheControl: original.head?[.cacheControl]) }
        } catch {
            throw Self.unusable(error, name)
        }
    }

    private static func unusable(_ error: WebImageError, _ name: String) -> WebImageError {
        WebImageError(
            error.code, "the picture of \(name)_* cannot be used", cause: LimitNames().renamed(error),
            location: error.location)
    }

    private func request(_ source: ServerSettings.PictureSource, _ name: String) throws -> ImageRequest {
        var request: ImageRequest
        switch source {
        case .data(let base64):
            guard let bytes = ServerSettings.bytes(base64: base64) else {
                throw WebImageError(.badImageData, "\(name)_DATA is not base64")
            }
            request = ImageRequest(data: bytes, name: name + "_DATA")
        case .path(let path):
            request = ImageRequest(path: path)
            // The operator's own URL may lead to any address.
            request.options.http.addressPolicy = AddressPolicy()
            request.options.http.addressPolicy?.schemes = ["file"]
        case .url(let url): request = ImageRequest(url)
        }
        request.options.caching.store = []
        return request
    }
}
