public import ServerConfiguration
import Synchronization
public import Tracing

/// Makes spans, and passes sampled spans that have ended to an exporter for OpenTelemetry's protocol (OTLP). Any thread
/// may use it.
public struct OTLPTracer: Tracer {
    private let settings: ServerSettings.Tracing
    private let take: @Sendable (FinishedSpan) -> Void

    /// - Parameter take: called with each sampled span when it ends. It must not block.
    public init(_ settings: ServerSettings.Tracing, take: @escaping @Sendable (FinishedSpan) -> Void) {
        self.settings = settings
        self.take = take
    }

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> OTLPSpan {
        var context = context()
        let parent = context.traceIdentity
        var identity = parent?.child() ?? .fresh()
        // A trace keeps the sampling decision that was made at its beginning. That of a client counts only if the
        // settings follow it.
        let isDecided = parent != nil && (settings.followsParent || !context.beginsElsewhere)
        if !isDecided { identity.isSampled = isKept(identity) }
        context.traceIdentity = identity
        context.beginsElsewhere = false
        return OTLPSpan(
            operationName, identity, parent: parent?.span, kind: kind, context,
            start: instant().nanosecondsSinceEpoch, take: take)
    }

    private func isKept(_ identity: TraceIdentity) -> Bool {
        settings.ratio >= 1 || Double(identity.trace.low >> 11) / Double(1 << 53) < settings.ratio
    }

    public func activeSpan(identifiedBy context: ServiceContext) -> OTLPSpan? { nil }

    public func startAnySpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> any Tracing.Span {
        startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID,
            line: line)
    }

    public func forceFlush() {}

    // MARK: - Traces of other programs

    private static let field = "traceparent"

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard settings.isPropagated,
            let identity = extractor.extract(key: Self.field, from: carrier).flatMap(
                TraceIdentity.init(traceparent:))
        else { return }
        context.traceIdentity = identity
        context.beginsElsewhere = true
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard settings.isPropagated, let identity = context.traceIdentity else { return }
        injector.inject(identity.traceparent, forKey: Self.field, into: &carrier)
    }
}

extension ServiceContext {
    private enum ElsewhereKey: ServiceContextKey {
        typealias Value = Bool
    }

    /// Whether the context's span belongs to another program.
    fileprivate var beginsElsewhere: Bool {
        get { self[ElsewhereKey.self] ?? false }
        set { self[ElsewhereKey.self] = newValue ? true : nil }
    }
}

/// A span that has ended.
public struct FinishedSpan: Sendable {
    public var name: String
    public var identity: TraceIdentity
    public var parent: UInt64?
    public var kind: SpanKind
    /// Nanoseconds since 1970.
    public var start: UInt64
    public var end: UInt64
    public var attributes: SpanAttributes
    public var events: [SpanEvent]
    public var status: SpanStatus?
}

/// A span that has not ended yet. Any thread may use it.
public final class OTLPSpan: Span {
    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var events: [SpanEvent] = []
        var status: SpanStatus?
        var hasEnded = false
    }

    private static let maxEvents = 128

    public let context: ServiceContext
    private let identity: TraceIdentity
    private let parent: UInt64?
    private let kind: SpanKind
    private let start: UInt64
    private let take: @Sendable (FinishedSpan) -> Void
    private let state: Mutex<State>

    init(
        _ name: String, _ identity: TraceIdentity, parent: UInt64?, kind: SpanKind, _ context: ServiceContext,
        start: UInt64, take: @escaping @Sendable (FinishedSpan) -> Void
    ) {
        (self.identity, self.parent, self.kind, self.context) = (identity, parent, kind, context)
        (self.start, self.take) = (start, take)
        state = Mutex(State(name: name))
    }

    public var isRecording: Bool { identity.isSampled && state.withLock { !$0.hasEnded } }

    public var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }

    public func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

    public func addEvent(_ event: SpanEvent) {
        state.withLock { state in
            if state.events.count < Self.maxEvents { state.events.append(event) }
        }
    }

    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        guard isRecording else { return }
        var attributes = attributes
        attributes["exception.message"] = "\(error)"
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
        setStatus(SpanStatus(code: .error, message: "\(error)"))
    }

    /// Does nothing: links are not exported.
    public func addLink(_ link: SpanLink) {}

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let end = instant().nanosecondsSinceEpoch
        let finished = state.withLock { state -> FinishedSpan? in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return FinishedSpan(
                name: state.name, identity: identity, parent: parent, kind: kind, start: start, end: max(end, start),
                attributes: state.attributes, events: state.events, status: state.status)
        }
        if let finished, identity.isSampled { take(finished) }
    }
}
