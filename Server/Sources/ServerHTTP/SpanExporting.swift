import HTTPTypes
import Logging
import ServerConfiguration
import ServerTracing
import WebImage

/// Sends spans to a collector.
enum SpanExporting {
    static func exporter(_ settings: ServerSettings.Tracing, _ logger: Logger) -> SpanExporter {
        var configuration = DownloadConfiguration()
        configuration.deadlines.total = settings.timeout
        configuration.bodyLimit = .mebibytes(1)
        let downloader = ImageDownloader(configuration: configuration)
        return SpanExporter(
            settings,
            send: { message in
                var request = DownloadRequest(url: settings.endpoint)
                request.method = .post
                request.body = message
                request.headers[.contentType] = "application/json"
                for (name, value) in settings.headers {
                    guard let name = HTTPField.Name(name) else { continue }
                    request.headers[name] = value
                }
                _ = try await downloader.data(for: request)
            }, logger: logger)
    }
}
