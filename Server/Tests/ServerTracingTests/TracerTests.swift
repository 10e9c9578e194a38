import Foundation
import Logging
import ServerConfiguration
import Synchronization
import Testing
import Tracing

@testable import ServerTracing

@Suite struct TracerTests {
    private struct Fields: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    private final class Kept: Sendable {
        private let state = Mutex<[FinishedSpan]>([])
        var spans: [FinishedSpan] { state.withLock { $0 } }
        func take(_ span: FinishedSpan) { state.withLock { $0.append(span) } }
    }

    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func tracer(_ kept: Kept, _ change: (inout ServerSettings.Tracing) -> Void = { _ in }) -> OTLPTracer {
        var settings = ServerSettings.Tracing()
        change(&settings)
        return OTLPTracer(settings) { kept.take($0) }
    }

    private func start(_ tracer: OTLPTracer, _ name: String, _ context: ServiceContext = .topLevel) -> OTLPSpan {
        tracer.startSpan(name, context: context)
    }

    @Test func aSpanWithinASpanIsItsChild() {
        let kept = Kept()
        let tracer = tracer(kept)
        let outer = start(tracer, "outer")
        let inner = start(tracer, "inner", outer.context)
        inner.attributes["n"] = 3
        inner.end()
        inner.end()
        outer.end()
        #expect(kept.spans.map(\.name) == ["inner", "outer"])
        let (first, second) = (kept.spans[0], kept.spans[1])
        #expect(first.identity.traceText == second.identity.traceText && first.parent == second.identity.span)
        #expect(second.parent == nil && first.start <= first.end && second.start <= first.start)
    }

    @Test(arguments: [
        "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ]) func invalidTraceparentsAreIgnored(_ text: String) {
        #expect(TraceIdentity(traceparent: text) == nil)
    }

    @Test func laterTraceparentVersionsMayHaveMoreFields() {
        #expect(TraceIdentity(traceparent: Self.parent)?.traceparent == Self.parent)
        #expect(TraceIdentity(traceparent: "01" + Self.parent.dropFirst(2) + "-more")?.spanText == "b7ad6b7169203331")
    }

    @Test(arguments: [true, false]) func tracesOfClientsContinueOnlyIfPropagated(_ isPropagated: Bool) {
        let kept = Kept()
        let tracer = tracer(kept) { $0.isPropagated = isPropagated }
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": Self.parent], into: &context, using: Fields())
        let span = start(tracer, "a", context)
        span.end()
        #expect((kept.spans[0].identity.traceText == "0af7651916cd43dd8448eb211c80319c") == isPropagated)
        var told: [String: String] = [:]
        tracer.inject(span.context, into: &told, using: Fields())
        #expect(told["traceparent"] == (isPropagated ? kept.spans[0].identity.traceparent : nil))
    }

    /// Whether the sampler follows the client's decision; the share of traces that it keeps; whether the client keeps
    /// its trace, or nil without one; whether the trace is kept here.
    @Test(arguments: [
        (true, 1.0, nil as Bool?, true), (true, 0, nil, false), (true, 0, true, true), (true, 1, false, false),
        (false, 0, true, false), (false, 1, false, true),
    ]) func theSamplerDecides(_ followsParent: Bool, _ ratio: Double, _ client: Bool?, _ isKept: Bool) {
        let kept = Kept()
        let tracer = tracer(kept) {
            $0.isPropagated = true
            $0.ratio = ratio
            $0.followsParent = followsParent
        }
        var context = ServiceContext.topLevel
        if let client {
            tracer.extract(
                ["traceparent": Self.parent.dropLast(2) + (client ? "01" : "00")], into: &context, using: Fields())
        }
        let span = start(tracer, "a", context)
        start(tracer, "b", span.context).end()
        span.end()
        #expect(span.isRecording == false && kept.spans.count == (isKept ? 2 : 0))
    }

    @Test func aShareOfTracesIsKeptAsAWhole() {
        let kept = Kept()
        let tracer = tracer(kept) { $0.ratio = 0.25 }
        for _ in 0..<2000 {
            let span = start(tracer, "a")
            start(tracer, "b", span.context).end()
            span.end()
        }
        #expect((300...700).contains(kept.spans.count / 2) && kept.spans.count % 2 == 0)
    }

    @Test func aSpanIsWrittenAsTheProtocolHasIt() throws {
        let kept = Kept()
        let span = start(tracer(kept), "a \"name\"")
        span.updateAttributes {
            $0["text"] = "x"
            $0["whole"] = 3
            $0["part"] = 0.5
            $0["flag"] = true
            $0["nothing"] = Double.infinity
        }
        struct Failure: Error {}
        span.recordError(Failure())
        span.end()
        let message = OTLPMessage(spans: kept.spans, resource: ["service.name": "s"]).bytes
        let root = try #require(JSONSerialization.jsonObject(with: Data(message)) as? [String: Any])
        let resource = try #require((root["resourceSpans"] as? [[String: Any]])?.first)
        let scope = try #require((resource["scopeSpans"] as? [[String: Any]])?.first)
        let written = try #require((scope["spans"] as? [[String: Any]])?.first)
        #expect(written["name"] as? String == "a \"name\"" && written["kind"] as? Int == 1)
        #expect((written["traceId"] as? String)?.count == 32 && (written["spanId"] as? String)?.count == 16)
        #expect(UInt64(written["startTimeUnixNano"] as? String ?? "") == kept.spans[0].start)
        let attributes = try #require(written["attributes"] as? [[String: Any]])
        let values = Dictionary(
            uniqueKeysWithValues: attributes.map { ($0["key"] as? String ?? "", $0["value"] as? [String: Any] ?? [:]) })
        #expect(values.count == 4 && values["text"]?["stringValue"] as? String == "x")
        #expect(values["whole"]?["intValue"] as? String == "3" && values["part"]?["doubleValue"] as? Double == 0.5)
        #expect(values["flag"]?["boolValue"] as? Bool == true)
        #expect((written["status"] as? [String: Any])?["code"] as? Int == 2)
        #expect((written["events"] as? [[String: Any]])?.first?["name"] as? String == "exception")
    }

    @Test func spansAreSentInBatchesAndDroppedIfTheQueueIsFull() async {
        let messages = Mutex<[[UInt8]]>([])
        var settings = ServerSettings.Tracing()
        (settings.queueSize, settings.batchSize) = (5, 2)
        let exporter = SpanExporter(
            settings, send: { message in messages.withLock { $0.append(message) } },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let tracer = OTLPTracer(settings) { exporter.take($0) }
        for _ in 0..<7 { start(tracer, "a").end() }
        await exporter.flush()
        #expect(messages.withLock { $0.count } == 3)
        #expect(exporter.counts == (5, 2))
    }

    @Test func spansForACollectorThatIsDownAreDropped() async {
        struct Down: Error {}
        let exporter = SpanExporter(
            ServerSettings.Tracing(), send: { _ in throw Down() },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let tracer = OTLPTracer(ServerSettings.Tracing()) { exporter.take($0) }
        start(tracer, "a").end()
        await exporter.flush()
        #expect(exporter.counts == (0, 1))
    }
}
