import ServerGrammar
import ServerImages
import ServiceLifecycle
import Synchronization
import WebImage

/// Counts what the server does, for Prometheus. Any thread may use it.
public final class ServerMetrics: Sendable {
    private static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private struct Histogram {
        var counts = [Int](repeating: 0, count: bounds.count + 1)
        var sum = 0.0

        mutating func add(_ value: Double) {
            counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
            sum += value
        }
    }

    private struct Counts {
        var requests = 0
        var inProgress = 0
        var statuses: [Int: Int] = [:]
        var errors: [String: Int] = [:]
        var caches: [String: Int] = [:]
        var bytes: [String: Int] = [:]
        var sourceBytes = 0
        var sources: [String: Int] = [:]
        var refusedAddresses = 0
        var shed = 0
        var overRate = 0
        var slowReaders = 0
        var duration = Histogram()
        var spans: [String: Histogram] = [:]
        var decoding = Histogram()
        /// By the format that was encoded.
        var encoding: [String: Histogram] = [:]
        /// How many connections clients have.
        var connections: @Sendable () -> Int = { 0 }
        /// The bytes of running transfers.
        var transfers: [Int: Int] = [:]

        mutating func add(_ cost: PictureMaker.Cost, _ format: String) {
            if let decode = cost.decode { decoding.add(decode) }
            if let encode = cost.encode { encoding[format, default: Histogram()].add(encode) }
        }
    }

    /// The most running transfers whose bytes are counted before they end.
    private static let mostTransfers = 10_000

    private let counts = Mutex(Counts())

    public init() {}

    func begin() { counts.withLock { $0.inProgress += 1 } }

    /// Sets the function that returns the number of connections.
    func tell(connections: @escaping @Sendable () -> Int) { counts.withLock { $0.connections = connections } }

    var connectionCount: Int { counts.withLock { $0.connections }() }

    func countSlowReader() { counts.withLock { $0.slowReaders += 1 } }

    /// Counts a result that was made anew in the background.
    func add(renewed found: ImageService.Found) {
        guard let cost = found.cost else { return }
        counts.withLock { $0.add(cost, found.result.fileExtension) }
    }

    /// Counts what origins were asked for and have sent: transfers, so that requests with a common one count once, and
    /// renewals count, too.
    func count(_ event: DownloadEvent) {
        func end(_ counts: inout Counts, _ outcome: String, bytes: Int? = nil) {
            let known = counts.transfers.removeValue(forKey: event.transfer) ?? 0
            counts.sources[outcome, default: 0] += 1
            counts.sourceBytes += max(bytes ?? 0, known)
        }
        counts.withLock { counts in
            switch event.kind {
            case .bytes(let received, _):
                // The end of a transfer is lost if the server is too busy to count.
                if counts.transfers.count >= Self.mostTransfers { counts.transfers = [:] }
                counts.transfers[event.transfer] = received
            case .finished(let metrics):
                end(&counts, metrics.status == 304 ? "confirmed" : "fetched", bytes: metrics.receivedBytes)
            case .failed: end(&counts, "failed")
            case .cancelled: end(&counts, "cancelled")
            case .started, .redirected, .response, .retrying: break
            }
        }
    }

    func end(_ record: RequestRecord) {
        counts.withLock { counts in
            counts.inProgress -= 1
            counts.requests += 1
            counts.statuses[record.status, default: 0] += 1
            counts.duration.add(record.seconds)
            if let refusal = record.refusal {
                counts.errors[refusal.kind.rawValue, default: 0] += 1
                if refusal.kind == .queue { counts.shed += 1 }
                if refusal.detail.hasPrefix("addressRefused") { counts.refusedAddresses += 1 }
            }
            if let cache = record.cache { counts.caches[cache.rawValue, default: 0] += 1 }
            if let format = record.format {
                counts.bytes[format, default: 0] += record.bytesOut
                if let cost = record.cost { counts.add(cost, format) }
            }
            if record.refusal?.status == 429, record.refusal?.kind == .security { counts.overRate += 1 }
            let spans = [
                ("queue", record.cost?.queue),
                ("downloading_source_image", record.cost?.fetch),
                ("processing_image", record.cost?.processing),
            ]
            for case (let name, let seconds?) in spans { counts.spans[name, default: Histogram()].add(seconds) }
        }
    }

    /// Returns the metrics in Prometheus' text format.
    ///
    /// - Parameters:
    ///   - namespace: the prefix of imgproxy's names, followed by an underscore.
    ///   - compatible: gauges with imgproxy's names.
    ///   - gauges: further gauges by name, with their labels if they have some.
    ///   - counters: further counters.
    func text(
        namespace: String, compatible: [(name: String, value: Int)] = [], gauges: [(name: String, value: Int)],
        counters: [(name: String, value: Int)] = []
    ) -> String {
        let counts = counts.withLock { $0 }
        let prefix = namespace.isEmpty ? "" : namespace + "_"
        var lines: [String] = []
        var typed: Set<String> = []
        func add(_ name: String, _ type: String, _ values: [(labels: String, value: String)]) {
            // Several values share a name if it includes labels.
            let bare = String(name.prefix { $0 != "{" })
            if typed.insert(bare).inserted { lines.append("# TYPE \(bare) \(type)") }
            lines += values.map { "\(name)\($0.labels) \($0.value)" }
        }
        func add(_ name: String, _ histogram: Histogram, _ label: String = "") {
            var sum = 0
            for (index, count) in histogram.counts.enumerated() {
                sum += count
                let bound = index < Self.bounds.count ? "\(Self.bounds[index])" : "+Inf"
                lines.append("\(name)_bucket{\(label.isEmpty ? "" : label + ",")le=\"\(bound)\"} \(sum)")
            }
            let labels = label.isEmpty ? "" : "{\(label)}"
            lines += ["\(name)_sum\(labels) \(histogram.sum)", "\(name)_count\(labels) \(sum)"]
        }
        func labelled(_ values: [String: Int], _ label: String) -> [(String, String)] {
            values.sorted { $0.key < $1.key }.map { ("{\(label)=\"\($0.key)\"}", "\($0.value)") }
        }
        add(prefix + "requests_total", "counter", [("", "\(counts.requests)")])
        let statuses = Dictionary(uniqueKeysWithValues: counts.statuses.map { ("\($0.key)", $0.value) })
        add(prefix + "status_codes_total", "counter", labelled(statuses, "status"))
        add(prefix + "errors_total", "counter", labelled(counts.errors, "type"))
        lines.append("# TYPE \(prefix)request_duration_seconds histogram")
        add(prefix + "request_duration_seconds", counts.duration)
        lines.append("# TYPE \(prefix)request_span_duration_seconds histogram")
        for (name, histogram) in counts.spans.sorted(by: { $0.key < $1.key }) {
            add(prefix + "request_span_duration_seconds", histogram, "span=\"\(name)\"")
        }
        for gauge in compatible { add(prefix + gauge.name, "gauge", [("", "\(gauge.value)")]) }
        add(prefix + "requests_in_progress", "gauge", [("", "\(counts.inProgress)")])
        add("webimage_cache_requests_total", "counter", labelled(counts.caches, "result"))
        add("webimage_result_bytes_total", "counter", labelled(counts.bytes, "format"))
        lines.append("# TYPE webimage_decode_seconds histogram")
        add("webimage_decode_seconds", counts.decoding)
        lines.append("# TYPE webimage_encode_seconds histogram")
        for (format, histogram) in counts.encoding.sorted(by: { $0.key < $1.key }) {
            add("webimage_encode_seconds", histogram, "format=\"\(format)\"")
        }
        add("webimage_source_requests_total", "counter", labelled(counts.sources, "outcome"))
        add("webimage_source_bytes_total", "counter", [("", "\(counts.sourceBytes)")])
        add("webimage_address_refused_total", "counter", [("", "\(counts.refusedAddresses)")])
        add("webimage_shed_total", "counter", [("", "\(counts.shed)")])
        add("webimage_rate_limited_total", "counter", [("", "\(counts.overRate)")])
        add("webimage_slow_readers_total", "counter", [("", "\(counts.slowReaders)")])
        for counter in counters { add(counter.name, "counter", [("", "\(counter.value)")]) }
        for gauge in gauges { add(gauge.name, "gauge", [("", "\(gauge.value)")]) }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Counts transfers while the server runs.
struct TransferCounting: Service {
    let metrics: ServerMetrics
    let events: DownloadEvents

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await event in events { metrics.count(event) }
        }
    }
}
