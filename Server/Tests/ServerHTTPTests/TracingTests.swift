import HTTPTypes
import ServerConfiguration
import ServerTracing
import Synchronization
import Testing
import Tracing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct TracingTests {
    private final class Kept: Sendable {
        private let state = Mutex<[FinishedSpan]>([])
        func take(_ span: FinishedSpan) { state.withLock { $0.append(span) } }
        func spans(of trace: String) -> [FinishedSpan] {
            state.withLock { spans in spans.filter { $0.identity.traceText == trace } }
        }
    }

    /// The process has one tracer for all tests. Each test here finds its own spans by the trace that it starts.
    private static let kept: Kept = {
        let kept = Kept()
        var settings = ServerSettings.Tracing()
        settings.isPropagated = true
        InstrumentationSystem.bootstrap(OTLPTracer(settings) { kept.take($0) })
        return kept
    }()

    private func server() throws -> TestServer {
        let server = try TestServer([
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "IMGPROXY_OPEN_TELEMETRY_PROPAGATE_EXTERNAL": "true",
        ])
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        return server
    }

    private func parent(_ digit: Character) -> (trace: String, field: HTTPFields) {
        let trace = String(repeating: digit, count: 32)
        return (trace, [HTTPField.Name.named("traceparent"): "00-\(trace)-00000000000000aa-01"])
    }

    @Test func aPictureIsTracedStageByStage() async throws {
        let (kept, server, parent) = (Self.kept, try server(), parent("1"))
        #expect(await server.picture("w:10", "/a.png", parent.field).status == 200)
        let spans = kept.spans(of: parent.trace)
        let names = spans.map(\.name)
        for name in ["http", "queue", "load", "fetch", "process", "encode"] {
            #expect(names.filter { $0 == "webimage.\(name)" }.count == 1, "\(name) in \(names)")
        }
        let http = try #require(spans.first { $0.name == "webimage.http" })
        #expect(http.identity.traceText == parent.trace && http.parent == 0xAA)
        for span in spans where span.name != "webimage.http" {
            #expect(span.start >= http.start && span.end <= http.end, "\(span.name)")
            #expect(spans.contains { $0.identity.spanText == TracingTests.text(span.parent) })
        }
        #expect(http.attributes["http.response.status_code"]?.toSpanAttribute() == .int64(200))
        #expect(http.attributes["webimage.cache"]?.toSpanAttribute() == .string("miss"))
        // The trace is passed on to the origin.
        let told = server.origin.requests("/a.png")[0].headers.first { $0.name.lowercased() == "traceparent" }?.value
        #expect(told?.hasPrefix("00-\(parent.trace)-") == true)
    }

    @Test func aHitAndAFailureAreTracedToo() async throws {
        let (kept, server) = (Self.kept, try server())
        _ = await server.picture("w:10", "/a.png", parent("2").field)
        _ = await server.picture("w:10", "/a.png", parent("3").field)
        #expect(kept.spans(of: parent("3").trace).map(\.name) == ["webimage.http"])
        _ = await server.picture("nope:1", "/a.png", parent("4").field)
        let failed = try #require(kept.spans(of: parent("4").trace).first)
        #expect(failed.attributes["error.type"]?.toSpanAttribute() == .string("path_parsing"))
        // The trace is not a part of the cache key: the second request is answered from the cache.
        #expect(server.origin.hits("/a.png") == 1)
    }

    private static func text(_ span: UInt64?) -> String {
        let digits = String(span ?? 0, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
