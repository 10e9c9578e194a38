/// The median and the 99th percentile of some times.
struct TimeReport {
    let count: Int
    let median: Duration
    let slowest: Duration
    /// The duration that one of a hundred exceeds.
    let percentile99: Duration

    init(_ times: [Duration]) {
        let sorted = times.sorted()
        count = sorted.count
        func at(_ part: Double) -> Duration {
            sorted.isEmpty ? .zero : sorted[min(Int(Double(sorted.count) * part), sorted.count - 1)]
        }
        (median, percentile99, slowest) = (at(0.5), at(0.99), sorted.last ?? .zero)
    }

    /// `1200 times, median 12 us, p99 340 us, slowest 1800 us`.
    var text: String {
        func micros(_ time: Duration) -> String { "\(Int((time / .microseconds(1)).rounded())) us" }
        return "\(count) times, median \(micros(median)), p99 \(micros(percentile99)), slowest \(micros(slowest))"
    }
}
