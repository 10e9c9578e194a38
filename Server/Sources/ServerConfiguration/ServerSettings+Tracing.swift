import ServerGrammar
import WebImage

extension ServerSettings {
    /// Where spans are sent and which, by OpenTelemetry's variables.
    public struct Tracing: Hashable, Sendable {
        /// The URL that receives spans as JSON (OTLP/HTTP).
        public var endpoint = "http://localhost:4318/v1/traces"
        /// The endpoint without user and password.
        public var shownEndpoint: String { ImageRequest(endpoint).redactedURL }
        /// Header fields of the requests to it.
        public var headers: [String: String] = [:]
        /// The attributes of the resource that all spans belong to.
        public var resource = ["service.name": "webimage-server"]
        /// The share of the traces begun here that is sampled, 0 to 1.
        public var ratio = 1.0
        /// Whether a client's trace is sampled if the client samples it.
        public var followsParent = true
        /// Whether clients' traces are continued here and passed on to the origins of sources.
        public var isPropagated = false
        /// How many spans may wait to be sent; more are dropped.
        public var queueSize = 2048
        /// How many spans one export request holds at most.
        public var batchSize = 512
        /// How long spans wait for others before they are sent.
        public var delay = Duration.seconds(5)
        public var timeout = Duration.seconds(10)

        public init() {}
    }

    mutating func readTracing(_ reader: inout EnvironmentReader) {
        let base = reader.text("OTEL_EXPORTER_OTLP_ENDPOINT")
        let own = reader.text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        let exporter = reader.text("OTEL_TRACES_EXPORTER") ?? "otlp"
        var isOn = reader.flag("IMGPROXY_OPEN_TELEMETRY_ENABLE", base != nil || own != nil)
        if reader.flag("OTEL_SDK_DISABLED", false) || exporter == "none" { isOn = false }
        if reader.flag("IMGPROXY_OPEN_TELEMETRY_ENABLE_METRICS", false) {
            reader.fail(
                "IMGPROXY_OPEN_TELEMETRY_ENABLE_METRICS is not available: metrics are only exported to Prometheus")
        }
        if let generator = reader.text("IMGPROXY_OPEN_TELEMETRY_TRACE_ID_GENERATOR"), generator != "random" {
            reader.fail("IMGPROXY_OPEN_TELEMETRY_TRACE_ID_GENERATOR must be random, not \(generator)")
        }
        var tracing = Tracing()
        tracing.isPropagated = reader.flag("IMGPROXY_OPEN_TELEMETRY_PROPAGATE_EXTERNAL", false)
        guard isOn else { return }
        if exporter != "otlp" { reader.fail("OTEL_TRACES_EXPORTER must be otlp or none, not \(exporter)") }
        if let own {
            tracing.endpoint = own
        } else if let base {
            tracing.endpoint = base + (base.hasSuffix("/") ? "" : "/") + "v1/traces"
        }
        if !["http://", "https://"].contains(where: tracing.endpoint.hasPrefix) {
            let name = own == nil ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
            reader.fail("\(name) must be an http or https URL, not \(own ?? base ?? "")")
        }
        let name = own == nil ? "OTEL_EXPORTER_OTLP_PROTOCOL" : "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
        switch reader.text("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") ?? reader.text("OTEL_EXPORTER_OTLP_PROTOCOL") {
        case nil, "http/json": break
        case "http/protobuf":
            warnings.append("\(name) is http/protobuf, but JSON is sent; collectors accept it at the same address")
        case let other?: reader.fail("\(name) must be http/json, not \(other)")
        }
        tracing.headers = pairs("OTEL_EXPORTER_OTLP_HEADERS", &reader)
        tracing.headers.merge(pairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS", &reader)) { $1 }
        tracing.resource.merge(pairs("OTEL_RESOURCE_ATTRIBUTES", &reader)) { $1 }
        if let name = reader.text("OTEL_SERVICE_NAME") { tracing.resource["service.name"] = name }
        tracing.queueSize = reader.whole("OTEL_BSP_MAX_QUEUE_SIZE", 2048, in: 1...1_000_000)
        tracing.batchSize = min(
            reader.whole("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512, in: 1...10_000), tracing.queueSize)
        tracing.delay = .milliseconds(reader.whole("OTEL_BSP_SCHEDULE_DELAY", 5000, in: 10...600_000))
        tracing.timeout = .milliseconds(reader.whole("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000, in: 1...600_000))
        readSampler(&tracing, &reader)
        self.tracing = tracing
    }

    private func readSampler(_ tracing: inout Tracing, _ reader: inout EnvironmentReader) {
        let name = reader.text("OTEL_TRACES_SAMPLER") ?? "parentbased_always_on"
        let parts = name.split(separator: "_", maxSplits: 1)
        tracing.followsParent = parts.first == "parentbased"
        switch tracing.followsParent ? String(parts.dropFirst().first ?? "") : name {
        case "always_on": tracing.ratio = 1
        case "always_off": tracing.ratio = 0
        case "traceidratio": tracing.ratio = reader.number("OTEL_TRACES_SAMPLER_ARG", 1, in: 0...1)
        default:
            reader.fail(
                "OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, optionally with parentbased_ before it, not \(name)"
            )
        }
    }

    /// `name=value,name=value`, percent-encoded.
    private func pairs(_ name: String, _ reader: inout EnvironmentReader) -> [String: String] {
        var pairs: [String: String] = [:]
        for (number, text) in reader.list(name).enumerated() {
            let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, !halves[0].isEmpty, let value = PercentEncoding.decode(halves[1]) else {
                // The text may be a secret.
                reader.fail("\(name) must be NAME=VALUE,..., and entry \(number + 1) is not NAME=VALUE")
                continue
            }
            pairs[String(halves[0])] = value
        }
        return pairs
    }
}
