public import Tracing

/// Identifies a span and its trace (W3C Trace Context).
public struct TraceIdentity: Hashable, Sendable {
    var trace: (high: UInt64, low: UInt64) { (high, low) }
    private var high: UInt64
    private var low: UInt64
    var span: UInt64
    /// Whether the spans of the trace are exported.
    var isSampled: Bool

    /// Returns the identity of the first span of a new trace.
    static func fresh() -> TraceIdentity {
        // The identifiers must not be zero, which stands for none.
        TraceIdentity(
            high: .random(in: 1 ... .max), low: .random(in: 1 ... .max), span: .random(in: 1 ... .max), isSampled: true)
    }

    /// Returns the identity of another span of the same trace.
    func child() -> TraceIdentity {
        var child = self
        child.span = .random(in: 1 ... .max)
        return child
    }

    private init(high: UInt64, low: UInt64, span: UInt64, isSampled: Bool) {
        (self.high, self.low, self.span, self.isSampled) = (high, low, span, isSampled)
    }

    /// - Parameter text: the value of `traceparent`: `00-TRACE-SPAN-FLAGS`. Later versions may append further parts.
    /// - Returns: nil if the text is invalid.
    public init?(traceparent text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].utf8.count == 2, parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            parts[1].utf8.count == 32, parts[2].utf8.count == 16, parts[3].utf8.count == 2,
            parts.prefix(4).joined().utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            let high = UInt64(parts[1].prefix(16), radix: 16), let low = UInt64(parts[1].suffix(16), radix: 16),
            let span = UInt64(parts[2], radix: 16), let flags = UInt8(parts[3], radix: 16), high | low != 0, span != 0
        else { return nil }
        self.init(high: high, low: low, span: span, isSampled: flags & 1 == 1)
    }

    public var traceparent: String { "00-\(traceText)-\(Self.text(span))-\(isSampled ? "01" : "00")" }

    /// 32 hexadecimal digits.
    public var traceText: String { Self.text(high) + Self.text(low) }
    /// 16 hexadecimal digits.
    public var spanText: String { Self.text(span) }

    private static func text(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ServiceContext {
    private enum Key: ServiceContextKey {
        typealias Value = TraceIdentity
    }

    /// The span that the current work belongs to; nil: none.
    public var traceIdentity: TraceIdentity? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }
}
