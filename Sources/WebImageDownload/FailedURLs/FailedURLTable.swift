import WebImageCore
import WebImageSystem

/// The requests that failed, and until when they are not repeated: a value of bounded size.
struct FailedURLTable {
    private struct Entry {
        let url: String
        let error: WebImageError
        let failures: Int
        let end: Duration
        /// The least that could not be decoded, if the body was no picture.
        let demand: DecodeDemand

        func failed(at now: Duration) -> FailedURL {
            FailedURL(url: url, error: error, failures: failures, remaining: end - now)
        }
    }

    private var policy: FailedURLPolicy
    private var entries: [ResolvedRequest.Key: Entry] = [:]
    /// Sorted by their end; may hold requests that are no longer in the table.
    private var ends = TimeHeap<ResolvedRequest.Key>()
    /// The number of the downloader's settings under which the requests failed.
    private var settings = 0

    init(policy: FailedURLPolicy) { self.policy = policy }

    var count: Int { entries.count }

    mutating func setPolicy(_ policy: FailedURLPolicy) {
        self.policy = policy
        while entries.count > max(policy.limit, 0), removeFirstToEnd() {}
    }

    /// Forgets all failures if the downloader's settings have changed since: the same request may be answered otherwise.
    ///
    /// - Returns: false for settings that are older than those of the failures.
    mutating func follow(settings number: Int) -> Bool {
        if number > settings {
            removeAll()
            settings = number
        }
        return number == settings
    }

    /// The failure of a request, if it must not be repeated yet.
    mutating func failure(of request: ResolvedRequest.Key, at now: Duration) -> FailedURL? {
        guard let entry = entries[request] else { return nil }
        guard entry.end > now else {
            // The number of consecutive failures is removed, too.
            entries[request] = nil
            return nil
        }
        return entry.failed(at: now)
    }

    /// The least that could not be decoded; nil: the request did not fail.
    func demand(of request: ResolvedRequest.Key) -> DecodeDemand? { entries[request]?.demand }

    mutating func failed(
        _ request: ResolvedRequest.Key, url: String, _ error: WebImageError, _ demand: DecodeDemand = .whole,
        lifetime: Duration, at now: Duration
    ) {
        guard lifetime > .zero, policy.limit > 0 else {
            entries[request] = nil
            return
        }
        removeEnded(at: now)
        let failures = (entries[request]?.failures ?? 0) + 1
        if entries[request] == nil, entries.count >= policy.limit { _ = removeFirstToEnd() }
        let least = entries[request].map { demand.lower($0.demand) } ?? demand
        entries[request] = Entry(url: url, error: error, failures: failures, end: now + lifetime, demand: least)
        ends.insert(request, at: now + lifetime)
        if ends.count > 2 * entries.count + 64 { rebuildEnds() }
    }

    mutating func remove(_ request: ResolvedRequest.Key) -> Bool { entries.removeValue(forKey: request) != nil }

    /// Removes all requests for a URL.
    mutating func remove(url: String) -> Bool {
        let count = entries.count
        entries = entries.filter { $0.key.fingerprint.name.text != url }
        return entries.count < count
    }

    mutating func removeAll() {
        entries = [:]
        ends = TimeHeap()
    }

    /// The failures; those with the most time left come first.
    mutating func list(at now: Duration) -> [FailedURL] {
        removeEnded(at: now)
        return entries.values.sorted { ($0.end, $0.url) > ($1.end, $1.url) }.map { $0.failed(at: now) }
    }

    private mutating func removeEnded(at now: Duration) {
        while let earliest = ends.earliest, earliest <= now { removeNext() }
    }

    private mutating func removeFirstToEnd() -> Bool {
        let count = entries.count
        while entries.count == count, ends.earliest != nil { removeNext() }
        return entries.count < count
    }

    private mutating func removeNext() {
        let time = ends.earliest
        guard let request = ends.removeEarliest(), entries[request]?.end == time else { return }
        entries[request] = nil
    }

    private mutating func rebuildEnds() {
        ends = TimeHeap()
        for (request, entry) in entries { ends.insert(request, at: entry.end) }
    }
}
