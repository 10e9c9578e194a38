import HTTPTypes
import ServerGrammar
import ServerImages
import ServerTracing
import Tracing

/// The span of a request, with OpenTelemetry's names for HTTP servers.
struct RequestSpan: Sendable {
    private struct Fields: Extractor {
        func extract(key: String, from carrier: HTTPFields) -> String? {
            HTTPField.Name(key).flatMap { carrier[$0] }
        }
    }

    private let span: any Span

    init(_ request: HTTPRequest) {
        var context = ServiceContext.topLevel
        InstrumentationSystem.instrument.extract(request.headerFields, into: &context, using: Fields())
        span = startSpan("webimage.http", context: context, ofKind: .server)
    }

    /// For the log.
    var traceID: String? { span.context.traceIdentity?.traceText }

    /// Runs work as a part of the span.
    func run<Value>(_ work: () async -> Value) async -> Value {
        await ServiceContext.withValue(span.context, operation: work)
    }

    func end(_ request: HTTPRequest, _ record: RequestRecord, _ grammar: URLGrammar) {
        if span.isRecording {
            span.updateAttributes { attributes in
                attributes["http.request.method"] = request.method.rawValue
                attributes["url.path"] = grammar.logged(request.path ?? "")
                attributes["http.response.status_code"] = record.status
                attributes["webimage.request_id"] = record.id
                if let client = record.client { attributes["client.address"] = client.text }
                if let cache = record.cache { attributes["webimage.cache"] = cache.rawValue }
                if let host = record.sourceHost { attributes["webimage.source_host"] = host }
                if let refusal = record.refusal { attributes["error.type"] = refusal.kind.rawValue }
            }
            if let refusal = record.refusal, refusal.status >= 500 {
                span.setStatus(SpanStatus(code: .error, message: refusal.detail))
            }
        }
        span.end()
    }
}
