import ServerGrammar
import Tracing

/// Spans as OTLP's JSON (opentelemetry-proto, `ExportTraceServiceRequest`).
struct OTLPMessage {
    let spans: [FinishedSpan]
    let resource: [String: String]

    var bytes: [UInt8] { Array(JSONValue.object([("resourceSpans", .list([resourceSpans]))]).text.utf8) }

    private var resourceSpans: JSONValue {
        let attributes = resource.sorted { $0.key < $1.key }.map {
            Self.attribute($0.key, .text($0.value), "stringValue")
        }
        return .object([
            ("resource", .object([("attributes", .list(attributes))])),
            (
                "scopeSpans",
                .list([
                    .object([
                        ("scope", .object([("name", .text("webimage"))])), ("spans", .list(spans.map(Self.span))),
                    ])
                ])
            ),
        ])
    }

    private static func span(_ span: FinishedSpan) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("traceId", .text(span.identity.traceText)), ("spanId", .text(span.identity.spanText)),
            ("name", .text(span.name)), ("kind", .whole(kind(span.kind))),
            // The JSON encoding of protobuf writes 64-bit numbers as strings.
            ("startTimeUnixNano", .text("\(span.start)")), ("endTimeUnixNano", .text("\(span.end)")),
            ("attributes", .list(attributes(span.attributes))),
        ]
        if let parent = span.parent {
            var identity = span.identity
            identity.span = parent
            members.append(("parentSpanId", .text(identity.spanText)))
        }
        if !span.events.isEmpty {
            members.append(
                (
                    "events",
                    .list(
                        span.events.map { event in
                            .object([
                                ("timeUnixNano", .text("\(event.nanosecondsSinceEpoch)")), ("name", .text(event.name)),
                                ("attributes", .list(attributes(event.attributes))),
                            ])
                        })
                ))
        }
        if let status = span.status {
            var parts: [(String, JSONValue)] = [("code", .whole(status.code == .ok ? 1 : 2))]
            if let message = status.message { parts.append(("message", .text(message))) }
            members.append(("status", .object(parts)))
        }
        return .object(members)
    }

    private static func kind(_ kind: SpanKind) -> Int {
        switch kind {
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        default: 1
        }
    }

    private static func attributes(_ attributes: SpanAttributes) -> [JSONValue] {
        var members: [JSONValue] = []
        attributes.forEach { name, value in
            switch value {
            case .int32(let number): members.append(attribute(name, .text("\(number)"), "intValue"))
            case .int64(let number): members.append(attribute(name, .text("\(number)"), "intValue"))
            case .double(let number) where number.isFinite:
                members.append(attribute(name, .number(number), "doubleValue"))
            case .bool(let flag): members.append(attribute(name, .flag(flag), "boolValue"))
            case .string(let text): members.append(attribute(name, .text(text), "stringValue"))
            case .stringConvertible(let value): members.append(attribute(name, .text("\(value)"), "stringValue"))
            // The server sets no attributes that are lists.
            default: break
            }
        }
        return members
    }

    private static func attribute(_ name: String, _ value: JSONValue, _ kind: String) -> JSONValue {
        .object([("key", .text(name)), ("value", .object([(kind, value)]))])
    }
}
