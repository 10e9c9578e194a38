import Synchronization
import WebImage
import WebImageSystem
import WebImageTesting

/// Records the events that a load's callback gets, and lets a test wait for them.
final class Ledger: Sendable {
    private struct State {
        var results: [Result<ImageResponse, WebImageError>] = []
        var previews: [Image] = []
        var cached: [ImageResponse] = []
        var waiting: [(count: Int, gate: Gate)] = []
        var waitingForPreviews: [(count: Int, gate: Gate)] = []
    }

    private let state = Guarded(State())

    /// Records an event of a load; made to be called from the load's closure.
    func take(_ event: ImageEvent) {
        let gates = state.withLock { state -> [Gate] in
            switch event {
            case .finished(let result): state.results.append(result)
            case .preview(let image): state.previews.append(image)
            case .cached(let response): state.cached.append(response)
            case .progress: break
            }
            let ready = state.waiting.filter { $0.count <= state.results.count }.map(\.gate)
            state.waiting.removeAll { $0.count <= state.results.count }
            let shown = state.waitingForPreviews.filter { $0.count <= state.previews.count }.map(\.gate)
            state.waitingForPreviews.removeAll { $0.count <= state.previews.count }
            return ready + shown
        }
        for gate in gates { gate.open() }
    }

    var finishedCount: Int { state.withLock { $0.results.count } }
    /// The result of the load that finished first, or nil if none has finished.
    var result: Result<ImageResponse, WebImageError>? { state.withLock { $0.results.first } }
    /// The successful responses, in order of delivery.
    var responses: [ImageResponse] { state.withLock { $0.results.compactMap { try? $0.get() } } }
    /// The responses that were delivered from the caches before the end of a load.
    var cached: [ImageResponse] { state.withLock { $0.cached } }
    var previews: [Image] { state.withLock { $0.previews } }

    /// The number of failures by error code.
    var failures: [WebImageError.Code: Int] {
        state.withLock { state in
            var counts: [WebImageError.Code: Int] = [:]
            for case .failure(let error) in state.results { counts[error.code, default: 0] += 1 }
            return counts
        }
    }

    /// Waits until at least `count` previews have been delivered.
    func previewed(_ count: Int) async {
        let gate = state.withLock { state -> Gate? in
            if state.previews.count >= count { return nil }
            let gate = Gate()
            state.waitingForPreviews.append((count, gate))
            return gate
        }
        await gate?.opened()
    }

    /// Waits until at least `count` loads have finished, and returns the result of the first.
    func finished(_ count: Int = 1) async -> Result<ImageResponse, WebImageError> {
        let gate = state.withLock { state -> Gate? in
            if state.results.count >= count { return nil }
            let gate = Gate()
            state.waiting.append((count, gate))
            return gate
        }
        await gate?.opened()
        guard let result else { preconditionFailure("a load that ended has a result") }
        return result
    }
}

/// A transformer that changes nothing and counts its calls.
final class CountingTransformer: ImageTransformer {
    private let counted = Guarded(0)

    let key = "counting"

    var count: Int { counted.withLock { $0 } }

    func transform(_ image: Image) throws(WebImageError) -> Image {
        counted.withLock { $0 += 1 }
        return image
    }
}

/// A callback executor that keeps closures until a test runs them, like a main queue that is blocked.
final class HeldCallbacks: Sendable {
    private let waiting = Guarded<[@Sendable () -> Void]>([])

    var executor: CallbackExecutor { CallbackExecutor { [self] work in waiting.withLock { $0.append(work) } } }
    var count: Int { waiting.withLock { $0.count } }

    /// Runs the closures that wait now.
    func run() {
        let ready = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for work in ready { work() }
    }
}

enum FaultlessFiles {
    static let posix = PosixFileSystem()
}
