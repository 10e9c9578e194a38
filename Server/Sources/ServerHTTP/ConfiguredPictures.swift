import ServerConfiguration
import ServerGrammar
import ServerImages
import WebImage

/// The watermark and the fallback of the configuration, loaded once when the server starts.
struct ConfiguredPictures {
    let manager: ImageManager
    let settings: ServerSettings

    func watermark() async throws -> Image? {
        guard let source = settings.watermark else { return nil }
        var request = try request(source, "IMGPROXY_WATERMARK_DATA")
        request.options.decoding.firstFrameOnly = true
        return try await manager.image(for: request).image
    }

    func fallback() async throws -> [UInt8]? {
        guard let source = settings.fallback else { return nil }
        var request = try request(source, "IMGPROXY_FALLBACK_IMAGE_DATA")
        request.options.includesData = true
        return try await manager.keepOriginal(for: request).data
    }

    private func request(_ source: ServerSettings.PictureSource, _ name: String) throws -> ImageRequest {
        var request: ImageRequest
        switch source {
        case .data(let base64):
            let letters = base64.filter { !$0.isWhitespace }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
            guard let bytes = Base64URL.decode(String(letters)) else {
                throw WebImageError(.badImageData, "\(name) is not base64")
            }
            request = ImageRequest(data: bytes, name: name)
        case .path(let path):
            request = ImageRequest(path: path)
            // What the configuration names is no stranger's.
            request.options.http.addressPolicy = AddressPolicy()
            request.options.http.addressPolicy?.schemes = ["file"]
        case .url(let url): request = ImageRequest(url)
        }
        request.options.caching.store = []
        return request
    }
}
