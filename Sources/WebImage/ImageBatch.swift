import Synchronization
public import WebImageCore
import WebImageSystem

extension ImageManager {
    /// Loads a list of pictures. Iterate to get each picture when it has loaded, or call ``ImageBatch/all()`` to get
    /// all of them in the list's order. To load several lists in turn, call `all()` for one after another.
    public func images(for requests: [ImageRequest]) -> ImageBatch { ImageBatch(manager: self, requests: requests) }

    /// The same for URLs.
    ///
    /// - Parameters:
    ///   - urls: absolute URLs.
    ///   - size: the size to decode each picture to; nil: its own size.
    public func images(for urls: [String], size: TargetSize? = nil) -> ImageBatch {
        images(for: urls.map { ImageRequest($0, size: size) })
    }
}

/// The pictures of a list, in the order in which they finish loading. Each request is answered once, with a picture or
/// an error; a request that fails does not end the others. Iterating starts the loads. Leaving the loop or cancelling
/// the task cancels the running ones.
///
/// No more than ``window`` pictures are loaded ahead of the reader, however long the list is.
public struct ImageBatch: AsyncSequence, Sendable {
    public struct Element: Sendable {
        /// The index of the request in the list.
        public let index: Int
        public let result: Result<ImageResponse, WebImageError>
    }

    /// How many pictures may be loading or waiting for the reader. Default 64.
    public var window = 64
    private let manager: ImageManager
    private let requests: [ImageRequest]

    init(manager: ImageManager, requests: [ImageRequest]) {
        self.manager = manager
        self.requests = requests
    }

    /// All answers, in the order of the list. If the task is cancelled, requests without an answer yet get `cancelled`.
    public func all() async -> [Result<ImageResponse, WebImageError>] {
        var results = [Result<ImageResponse, WebImageError>](repeating: .failure(.cancelled), count: requests.count)
        for await element in self { results[element.index] = element.result }
        return results
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(run: BatchRun(manager: manager, requests: requests, window: window))
    }

    public struct Iterator: AsyncIteratorProtocol {
        /// Cancels the loads when their results can no longer be read.
        private final class Holder: Sendable {
            let run: BatchRun

            init(_ run: BatchRun) { self.run = run }

            deinit { run.cancel() }
        }

        private let holder: Holder

        init(run: BatchRun) { holder = Holder(run) }

        public mutating func next() async -> Element? {
            let run = holder.run
            return await withTaskCancellationHandler {
                await run.next()
            } onCancel: {
                run.cancel()
            }
        }
    }
}

/// One run through a list.
final class BatchRun: Sendable {
    private struct State {
        /// The index of the next request to begin.
        var begun = 0
        var running: Set<Int> = []
        var tokens: [Int: LoadToken] = [:]
        var ready = FIFO<ImageBatch.Element>()
        var readyCount = 0
        var reader: CheckedContinuation<ImageBatch.Element?, Never>?
        var isCancelled = false
    }

    private let manager: ImageManager
    private let requests: [ImageRequest]
    private let window: Int
    private let state = Guarded(State())

    init(manager: ImageManager, requests: [ImageRequest], window: Int) {
        self.manager = manager
        self.requests = requests
        self.window = Swift.max(window, 1)
    }

    /// One reader at a time.
    func next() async -> ImageBatch.Element? {
        beginMore()
        return await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> ImageBatch.Element?? in
                if let element = state.ready.popFirst() {
                    state.readyCount -= 1
                    return .some(element)
                }
                if !state.running.isEmpty {
                    precondition(state.reader == nil, "a batch has one reader")
                    state.reader = continuation
                    return nil
                }
                // Requests that were not begun are left only after a cancellation.
                guard state.begun < requests.count else { return .some(nil) }
                defer { state.begun += 1 }
                return ImageBatch.Element(index: state.begun, result: .failure(.cancelled))
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }

    private func beginMore() {
        while let index = state.withLock({ state in beginOne(&state) }) {
            let token = manager.load(requests[index]) { event in
                if case .finished(let result) = event { self.finish(index, result) }
            }
            let isCancelled = state.withLock { state in
                if state.running.contains(index) { state.tokens[index] = token }
                return state.isCancelled
            }
            if isCancelled { token.cancel() }
        }
    }

    private func beginOne(_ state: inout State) -> Int? {
        guard !state.isCancelled, state.begun < requests.count, state.running.count + state.readyCount < window else {
            return nil
        }
        state.running.insert(state.begun)
        state.begun += 1
        return state.begun - 1
    }

    private func finish(_ index: Int, _ result: Result<ImageResponse, WebImageError>) {
        let element = ImageBatch.Element(index: index, result: result)
        let reader = state.withLock { state -> CheckedContinuation<ImageBatch.Element?, Never>? in
            state.running.remove(index)
            state.tokens[index] = nil
            guard let reader = state.reader else {
                state.ready.append(element)
                state.readyCount += 1
                return nil
            }
            state.reader = nil
            return reader
        }
        reader?.resume(returning: element)
    }

    /// Cancels the running loads; the other requests never begin.
    func cancel() {
        let tokens = state.withLock { state in
            state.isCancelled = true
            return Array(state.tokens.values)
        }
        for token in tokens { token.cancel() }
    }
}
