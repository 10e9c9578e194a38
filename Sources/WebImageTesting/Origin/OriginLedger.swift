/// What happened at an origin server, for tests to count and to wait for.
struct OriginLedger: Sendable {
    /// How far responses of one path, or one path with its query, came.
    struct Tally: Sendable {
        var hits = 0
        /// Came to a gate or a stall.
        var held = 0
        /// Were sent to their end, or to the cut or reset that they were made for.
        var finished = 0
        /// Ended because the client went away.
        var abandoned = 0
        var bodyBytes = 0
    }

    private(set) var requests: [RecordedRequest] = []
    /// Connections so far.
    var accepted = 0
    /// Connections now.
    var open = 0
    private var tallies: [String: Tally] = [:]

    func tally(_ name: String) -> Tally { tallies[name] ?? Tally() }

    /// Counts for a request's path, and for its whole target when that says more.
    mutating func note(_ request: RecordedRequest, _ change: (inout Tally) -> Void) {
        change(&tallies[request.path, default: Tally()])
        if request.target != request.path { change(&tallies[request.target, default: Tally()]) }
    }

    /// Writes a request down, and returns it with how many there were for its path before.
    mutating func noteArrival(of request: RecordedRequest) -> RecordedRequest {
        var request = request
        request.earlierHits = tally(request.path).hits
        requests.append(request)
        note(request) { $0.hits += 1 }
        return request
    }
}
