import HTTPTypes
import Synchronization
import WebImage
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

/// An origin with one picture that a test may change. It answers conditional requests as RFC 9110 says.
final class ChangingOrigin: Sendable {
    struct State {
        var body: [UInt8]
        var tag: String?
        var fields: HTTPFields
        /// If set, the answer to every request.
        var outage: FakeAnswer?
        var full = 0
        var unchanged = 0
        var lastFields: HTTPFields = [:]
    }

    private let state: Guarded<State>

    init(_ transport: FakeTransport, body: [UInt8], tag: String? = "\"1\"", fields: HTTPFields = [:]) {
        state = Guarded(State(body: body, tag: tag, fields: fields))
        transport.answerAll { self.answer(to: $0) }
    }

    /// The number of whole answers and the number of 304 answers.
    var counts: [Int] { state.withLock { [$0.full, $0.unchanged] } }
    var lastFields: HTTPFields { state.withLock { $0.lastFields } }

    func change(_ change: @Sendable (inout State) -> Void) { state.withLock { change(&$0) } }

    private func answer(to request: TransportRequest) -> FakeAnswer {
        state.withLock { state in
            state.lastFields = request.headers
            if let outage = state.outage { return outage }
            var fields = state.fields
            if let tag = state.tag { fields[.eTag] = tag }
            if let tag = state.tag, request.headers[.ifNoneMatch] == tag {
                state.unchanged += 1
                return .status(304, headers: fields)
            }
            state.full += 1
            return .bytes(state.body, contentType: "image/png", headers: fields)
        }
    }
}
