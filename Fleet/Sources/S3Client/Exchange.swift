import NIOCore
import NIOHTTP1
import Synchronization

/// A request as it is sent.
struct WireRequest: Sendable {
    var head: HTTPRequestHead
    var body: ByteBuffer?
}

/// An answer as it was received.
struct Answer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: ByteBuffer
}

/// A request and its answer. Any thread may end it; only the first end counts.
final class Exchange: Sendable {
    private struct State {
        var result: Result<Answer, S3Error>?
        var continuation: CheckedContinuation<Result<Answer, S3Error>, Never>?
        /// The connection that carries the request now.
        var connection: S3Connection?
        var timer: Scheduled<Void>?
    }

    let request: WireRequest
    private let state = Mutex(State())

    init(_ request: WireRequest) { self.request = request }

    var isOver: Bool { state.withLock { $0.result != nil } }

    /// Waits for the answer or an error. Only one task may wait.
    func result() async -> Result<Answer, S3Error> {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    /// - Parameter timer: cancelled when the exchange ends.
    func setTimer(_ timer: Scheduled<Void>) {
        let isOver = state.withLock { state in
            state.timer = timer
            return state.result != nil
        }
        if isOver { timer.cancel() }
    }

    /// - Returns: whether the connection must send the request; false if the exchange has already ended.
    func begin(on connection: S3Connection) -> Bool {
        state.withLock { state in
            guard state.result == nil else { return false }
            state.connection = connection
            return true
        }
    }

    /// Called when the connection is lost and the request waits for another.
    func leaveConnection() { state.withLock { $0.connection = nil } }

    /// - Returns: the connection that carried the request; nil if there was none, or the exchange had already ended.
    @discardableResult
    func end(_ result: Result<Answer, S3Error>) -> S3Connection? {
        let before = state.withLock { state -> State? in
            guard state.result == nil else { return nil }
            defer { state = State(result: result) }
            return state
        }
        before?.timer?.cancel()
        before?.continuation?.resume(returning: result)
        return before?.connection
    }
}

extension Exchange: Equatable {
    static func == (left: Exchange, right: Exchange) -> Bool { left === right }
}
