/// The events at an origin server, which tests count and wait for.
struct OriginLedger: Sendable {
    /// The progress of the responses of one path, or one path with its query.
    struct Tally: Sendable {
        var hits = 0
        /// Responses that have reached a gate or a stall.
        var held = 0
        /// Responses that were sent to their end, or to the cut or reset that they are scripted to have.
        var finished = 0
        /// Responses that ended because the client closed the connection.
        var abandoned = 0
        var bodyBytes = 0
    }

    private(set) var requests: [RecordedRequest] = []
    /// The number of connections that were accepted so far.
    var accepted = 0
    /// The number of open connections.
    var open = 0
    private var tallies: [String: Tally] = [:]

    func tally(_ name: String) -> Tally { tallies[name] ?? Tally() }

    /// Counts for a request's path, and for its whole target if that differs.
    mutating func note(_ request: RecordedRequest, _ change: (inout Tally) -> Void) {
        change(&tallies[request.path, default: Tally()])
        if request.target != request.path { change(&tallies[request.target, default: Tally()]) }
    }

    /// Records a request, and returns it with the number of earlier requests for its path.
    mutating func noteArrival(of request: RecordedRequest) -> RecordedRequest {
        var request = request
        request.earlierHits = tally(request.path).hits
        requests.append(request)
        note(request) { $0.hits += 1 }
        return request
    }
}
