public import WebImageCore
import WebImageDownload

/// Represents one caller of a load. Releasing the token changes nothing: the load goes on until it ends or is
/// cancelled.
public final class LoadToken: @unchecked Sendable {
    // Sendable: what changes is guarded by the loader's lock; the rest is constant.

    /// Where this caller's events go.
    enum Delivery: Sendable {
        case once(CheckedContinuation<Result<ImageResponse, WebImageError>, Never>)
        case mailbox(EventMailbox)
        case callback(EventCallback)
        /// For the caches' sake.
        case nobody
    }

    let loader: Loader
    let includesData: Bool
    let waitsForStore: Bool
    let finishesWhenDrained: Bool
    /// Whether it looks at the way, not only at the end.
    let isWatching: Bool
    /// Whether it was begun by a task that runs on Swift's own threads, and on no actor's.
    let isOfFreeTask: Bool
    let started: Duration
    /// What the load goes by from its beginning to its end, whatever is changed meanwhile.
    let settings: ConfigurationSnapshot

    // Guarded by the loader's lock:
    var delivery: Delivery?
    var job: PixelJob?
    /// Where it stands in `job.tokens`.
    var index = 0
    var currentPriority: LoadPriority
    var hasEnded = false
    /// Whether it was taken in before the drain, and so may go on to another job.
    var isAdmitted = false
    /// The load that an interceptor has called for it last.
    var inner: LoadToken?
    /// What the caller's own leaving is told with.
    var leftWith: WebImageError?
    var timeout: ScheduledAction?
    /// What must come before it joins a job: its modifier, a look for the finished picture on disk.
    var preliminary: Task<Void, Never>?

    init(loader: Loader, request: ImageRequest, isWatching: Bool, isOfFreeTask: Bool = false) {
        self.isWatching = isWatching
        self.isOfFreeTask = isOfFreeTask
        self.loader = loader
        includesData = request.options.includesData
        waitsForStore = request.options.caching.waitsForStore
        finishesWhenDrained = request.options.http.finishesWhenDrained
        currentPriority = request.options.priority
        started = loader.clock.now
        settings = loader.origin.downloader.snapshot
    }

    /// Cancels the load for this caller, whose last event is `cancelled`, at once. When all callers have cancelled, the
    /// transfer ends.
    public func cancel() { loader.leave(self, with: .cancelled) }

    /// Sets the priority of this caller; a load has the highest priority among its callers.
    public func setPriority(_ priority: LoadPriority) { loader.setPriority(priority, of: self) }
}

extension LoadToken.Delivery {
    /// Whether it runs code of the caller's, which may take its time.
    var isClosure: Bool {
        if case .callback = self { true } else { false }
    }

    /// Hands over an event. Called without any lock; `finished` at most once. What comes after it, from a thread that was
    /// late, is dropped.
    func post(_ event: ImageEvent) {
        switch self {
        case .once(let continuation):
            if case .finished(let result) = event { continuation.resume(returning: result) }
        case .mailbox(let mailbox): mailbox.post(event)
        case .callback(let callback): callback.post(event)
        case .nobody: break
        }
    }
}
