import HTTPTypes
import Logging
import ServerGrammar
import ServerImages

/// The facts about a request for log and metrics.
struct RequestRecord: Sendable {
    let id: String
    var status = 0
    var seconds = 0.0
    var refusal: RequestRefusal?
    var cache: ImageService.Source?
    var cost: PictureMaker.Cost?
    /// The format of the picture in the answer, as a file extension.
    var format: String?
    var sourceHost: String?
    var client: ClientAddress?
    /// The host that the client requested, as reported by a trusted proxy.
    var forwardedHost: String?
    var span: RequestSpan?
    /// The bytes of the answer's body; 0 if it has none, as that of a 304.
    var bytesOut = 0
    /// The bytes that came from the origin.
    var bytesIn = 0
    /// Whether the origin was asked and has answered.
    var asksOrigin = false

    init(id: String) { self.id = id }

    /// - Parameter host: the host of the source.
    mutating func take(_ found: ImageService.Found, _ host: String?) {
        cache = found.source
        cost = found.cost
        format = found.result.fileExtension
        bytesIn = found.cost?.sourceBytes ?? 0
        sourceHost = host
    }

    /// Whether the body ended early; ``refusal`` has the reason.
    var isCut = false

    var level: Logger.Level {
        if isCut { return refusal?.status == 499 ? .info : .warning }
        return status >= 500 ? .error : status >= 400 && status != 499 ? .warning : .info
    }

    func write(to logger: Logger, _ request: HTTPRequest, _ grammar: URLGrammar) {
        func milliseconds(_ seconds: Double?) -> String? { seconds.map { "\(Int(($0 * 1000).rounded()))" } }
        let all: [(String, String?)] = [
            ("request_id", id), ("trace_id", span?.traceID), ("method", request.method.rawValue),
            ("path", grammar.logged(request.path ?? "")), ("status", "\(status)"),
            ("client_ip", client?.text), ("duration_ms", milliseconds(seconds)),
            ("queue_ms", milliseconds(cost?.queue)), ("fetch_ms", milliseconds(cost?.fetch)),
            ("decode_ms", milliseconds(cost?.decode)), ("encode_ms", milliseconds(cost?.encode)),
            ("cache", cache?.rawValue), ("bytes_in", bytesIn > 0 ? "\(bytesIn)" : nil), ("bytes_out", "\(bytesOut)"),
            ("source_host", sourceHost), ("error", refusal?.detail),
        ]
        var metadata: Logger.Metadata = [:]
        for case (let name, let value?) in all { metadata[name] = .string(value) }
        logger.log(level: level, "request", metadata: metadata)
    }
}
